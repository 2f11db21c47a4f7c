package main

import (
	"errors"
	"fmt"

	"ctxplugin/compartments"
	"ctxplugin/session"
)

// verifyCommand makes stored folds again and compares.
type verifyCommand struct {
	database
	Sessions []string `arg:"" optional:"" name:"session" help:"Sessions, or the starts of their names; all if none is named."`
	JSON     bool     `help:"Print one JSON document."`
}

// Run implements the command.
func (v *verifyCommand) Run(p *program) (err error) {
	in, err := v.open(p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close(p.ctx)) }()
	if v.DB != "" && !in.exists {
		return usage("there is no database %s: nothing can be said of its folds", in.config.Database)
	}
	var ids []compartments.SessionID
	for _, start := range v.Sessions {
		id, err := in.name(p.ctx, start)
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	if len(v.Sessions) == 0 {
		list, err := in.list(p.ctx)
		if err != nil {
			return err
		}
		for _, l := range list {
			ids = append(ids, l.Session)
		}
	}
	all := session.Verified{Different: []session.Difference{}}
	reports := make([]session.Verified, 0, len(ids))
	for _, id := range ids {
		r, err := in.Verify(p.ctx, id)
		if err != nil {
			return err
		}
		reports = append(reports, r)
		all.Folds, all.Again, all.Undos, all.Older, all.Plans = all.Folds+r.Folds, all.Again+r.Again, all.Undos+r.Undos, all.Older+r.Older, all.Plans+r.Plans
		all.Different = append(all.Different, r.Different...)
		if v.JSON {
			continue
		}
		for _, d := range r.Different {
			if _, err := fmt.Fprintf(p.stdout, "%s, fold %d: %s\n", id, d.Fold, d.What); err != nil {
				return err
			}
		}
	}
	if v.JSON {
		err = printJSON(p, reports)
	} else {
		_, err = fmt.Fprintf(p.stdout, "%s of %s: %s made again and compared, %s that take one back compared, %s of an older version not compared; %s plans compared byte for byte; %s\n",
			counted(all.Folds, "fold"), counted(len(ids), "session"), grouped(all.Again), grouped(all.Undos), grouped(all.Older), grouped(all.Plans), counted(len(all.Different), "difference"))
	}
	if err == nil && len(all.Different) > 0 {
		err = errSaid
	}
	return err
}

// counted is a number of things in words.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return grouped(n) + " " + thing + "s"
}
