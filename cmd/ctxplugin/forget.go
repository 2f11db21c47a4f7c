package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ctxplugin/sqlite"
)

// sessionsCommand lists the stored sessions, or forgets one.
type sessionsCommand struct {
	List   listCommand   `cmd:"" default:"withargs" help:"List the stored sessions, the last changed first; this is what sessions alone does."`
	Forget forgetCommand `cmd:"" help:"Remove a session with all that was made of it; the bytes are overwritten."`
}

// forgetCommand removes one session.
type forgetCommand struct {
	database
	Session string `arg:"" help:"The session, or the start of its name; with --yes its whole name."`
	Yes     bool   `short:"y" help:"Do not ask."`
}

// Run implements the command.
func (f *forgetCommand) Run(p *program) (err error) {
	in, err := f.open(p)
	if err != nil {
		return err
	}
	in.options.ReadOnly = false
	defer func() { err = errors.Join(err, in.Close(p.ctx)) }()
	id, err := in.name(p.ctx, f.Session)
	if err != nil {
		return err
	}
	list, err := in.list(p.ctx)
	if err != nil {
		return err
	}
	what := string(id)
	for _, l := range list {
		if l.Session == id {
			what = described(&l)
		}
	}
	switch {
	case f.Yes && string(id) != f.Session:
		return usage("with --yes the whole name is needed: %s", id)
	case f.Yes:
	case !isTerminal(p.stdin):
		return usage("nothing was removed: say --yes, since nobody can be asked here")
	default:
		fmt.Fprintf(p.stderr, "This removes %s.\nRemove it for good? [y/N] ", what)
		if !agreed(p) {
			fmt.Fprintln(p.stderr, "nothing was removed")
			return &failure{exitFailed, errSaid}
		}
	}
	if err := in.Forget(p.ctx, id); err != nil {
		return err
	}
	kept, err := f.forgetPlan(p, string(id))
	if err != nil {
		return fmt.Errorf("%s was removed from the database, but not the text kept for OpenCode: %w", id, err)
	}
	if kept {
		what += ", and the text kept for OpenCode"
	}
	_, err = fmt.Fprintf(p.stdout, "removed %s\n", what)
	return err
}

func described(l *sqlite.Listing) string {
	return fmt.Sprintf("%s: messages %s (%s bytes), compartments %s, folds %s, last changed %s", l.Session,
		grouped(l.Messages), grouped(int(l.Bytes)), grouped(l.Compartments), grouped(l.Folds), when(l.Changed))
}

// agreed reports whether the next line of the user says yes.
func agreed(p *program) bool {
	line, _ := bufio.NewReader(p.stdin).ReadString('\n') // without an answer nothing is agreed
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true
	}
	return false
}

// forgetPlan removes the file in which the shim keeps a session's last plan, and
// reports whether there was one. It belongs to the user's own database.
func (f *forgetCommand) forgetPlan(p *program, session string) (bool, error) {
	dir := within(p.env.folders().state, "opencode")
	if dir == "" || f.DB != "" {
		return false, nil
	}
	err := os.Remove(filepath.Join(dir, planFile(session)))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// planFile is how the shim names that file: the session's name as a part of a URL,
// dots escaped too.
func planFile(session string) string {
	var b strings.Builder
	for i := range len(session) {
		switch c := session[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-_!~*'()", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String() + ".json"
}
