package main

import (
	"errors"
	"fmt"
)

// undoCommand takes back the last fold of a session.
type undoCommand struct {
	database
	Session string `arg:"" help:"A session, or the start of its name."`
	JSON    bool   `help:"Print one JSON document."`
}

// Run implements the command.
func (u *undoCommand) Run(p *program) (err error) {
	in, err := u.open(p)
	if err != nil {
		return err
	}
	in.options.ReadOnly = false // nothing is opened yet
	defer func() { err = errors.Join(err, in.Close(p.ctx)) }()
	id, err := in.name(p.ctx, u.Session)
	if err != nil {
		return err
	}
	reply, err := in.Undo(p.ctx, id)
	if err != nil {
		return err
	}
	if u.JSON {
		err = printJSON(p, reply)
	} else {
		_, err = fmt.Fprintln(p.stdout, reply.Reason)
	}
	if err == nil && !reply.Undone {
		err = errSaid
	}
	return err
}
