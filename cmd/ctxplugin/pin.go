package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"ctxplugin/compartments"
	"ctxplugin/session"
)

// Pin implements rpc.Sessions, as do the methods below.
func (s *service) Pin(ctx context.Context, r session.PinRequest) (session.PinReply, error) {
	b, err := s.ready()
	if err != nil {
		return session.PinReply{}, err
	}
	reply, err := b.sessions.Pin(ctx, r)
	return reply, s.failed(b, err)
}

func (s *service) Unpin(ctx context.Context, r session.UnpinRequest) (session.PinReply, error) {
	b, err := s.ready()
	if err != nil {
		return session.PinReply{}, err
	}
	reply, err := b.sessions.Unpin(ctx, r)
	return reply, s.failed(b, err)
}

func (s *service) Pins(ctx context.Context, id compartments.SessionID, ended bool) ([]session.PinLine, error) {
	b, err := s.ready()
	if err != nil {
		return nil, err
	}
	return b.sessions.Pins(ctx, id, ended)
}

// change opens the database to change a session of it, and completes its name.
func (d *database) change(p *program, start string, f func(in *inspection, id compartments.SessionID) error) (err error) {
	in, err := d.open(p)
	if err != nil {
		return err
	}
	in.options.ReadOnly = false
	defer func() { err = errors.Join(err, in.Close(p.ctx)) }()
	id, err := in.name(p.ctx, start)
	if err != nil {
		return err
	}
	return asUsage(f(in, id))
}

// pinCommand pins words, or sets the class of messages.
type pinCommand struct {
	database
	Session     string  `arg:"" help:"A session, or the start of its name."`
	Messages    string  `arg:"" optional:"" help:"A message, such as 12, whose words are to stay; or a range, such as 12-18, that is to stay whole."`
	Part        *int    `placeholder:"N" help:"Only this part of the one message, counted from 0."`
	Field       string  `enum:",text,input,output" default:"" placeholder:"NAME" help:"Only the text, input or output of it."`
	Quote       *string `placeholder:"WORDS" help:"Only these words of it, exactly as they stand there."`
	Compartment *int64  `placeholder:"N" help:"The compartment that message N is in, instead of a range."`
	Class       string  `enum:",pin,compressible,discardable" default:"" placeholder:"CLASS" help:"What may become of the range: pin (it stays whole), compressible (it fades, as without a pin), discardable (it may leave the window)."`
	JSON        bool    `help:"Print one JSON document."`
}

// Run implements the command.
func (c *pinCommand) Run(p *program) error {
	q := session.PinRequest{By: compartments.ByUser, Now: time.Now().UnixMilli(), Field: compartments.Field(c.Field),
		Class: compartments.Pinned}
	const form = "name a message (12, with --part, --field or --quote if need be), a range (12-18), or a compartment (--compartment 12)"
	if c.Quote != nil {
		if q.Quote = *c.Quote; q.Quote == "" {
			return usage("--quote is empty; without it all words of the message are pinned")
		}
	}
	var err error
	if q.Part, err = partNamed(c.Part); err != nil {
		return err
	}
	if q.Compartment, err = compartmentNamed(c.Compartment); err != nil {
		return err
	}
	switch {
	case (c.Messages == "") == (c.Compartment == nil):
		return usage(form)
	case c.Messages != "":
		first, last, err := parseRange(c.Messages)
		if err != nil {
			return err
		}
		if first == last && c.Class == "" && !strings.Contains(c.Messages, "-") {
			q.Message = first
		} else {
			q.First, q.Last = first, last
		}
	}
	if q.Message == 0 && (c.Part != nil || c.Field != "" || c.Quote != nil) {
		return usage("--part, --field and --quote belong to one message: " + form)
	}
	if c.Class != "" {
		if q.Class, err = compartments.ParseRetention(c.Class); err != nil {
			return usage("%w", err)
		}
	}
	return c.change(p, c.Session, func(in *inspection, id compartments.SessionID) error {
		q.Session = id
		reply, err := in.Pin(p.ctx, q)
		if compartments.CodeOf(err) == compartments.CodeNotFound && q.Message > 0 { // the refusal speaks to a model
			err = fmt.Errorf("%w. Here: ctxplugin expand %s %d prints the message, and --part and --quote name its words", err, c.Session, q.Message)
		}
		return printPin(p, c.JSON, reply, err)
	})
}

func printPin(p *program, asJSON bool, reply session.PinReply, err error) error {
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(p, reply)
	}
	_, err = fmt.Fprintln(p.stdout, reply.Note)
	return err
}

// unpinCommand ends a pin.
type unpinCommand struct {
	database
	Session string `arg:"" help:"A session, or the start of its name."`
	Pin     int64  `arg:"" help:"The number of the pin, as ctxplugin pins lists it."`
	JSON    bool   `help:"Print one JSON document."`
}

// Run implements the command.
func (c *unpinCommand) Run(p *program) error {
	return c.change(p, c.Session, func(in *inspection, id compartments.SessionID) error {
		reply, err := in.Unpin(p.ctx, session.UnpinRequest{Session: id, By: compartments.ByUser, Now: time.Now().UnixMilli(), Pin: compartments.PinID(c.Pin)})
		return printPin(p, c.JSON, reply, err)
	})
}

// pinsCommand lists pins.
type pinsCommand struct {
	database
	Session string `arg:"" help:"A session, or the start of its name."`
	All     bool   `help:"Pins that ended too."`
	JSON    bool   `help:"Print one JSON document."`
}

// Run implements the command.
func (c *pinsCommand) Run(p *program) (err error) {
	in, err := c.open(p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close(p.ctx)) }()
	id, err := in.name(p.ctx, c.Session)
	if err != nil {
		return err
	}
	lines, err := in.Pins(p.ctx, id, c.All)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(p, lines)
	}
	if len(lines) == 0 {
		_, err = fmt.Fprintln(p.stdout, "nothing is pinned")
		return err
	}
	rows := [][]string{{"pin", "by", "at", "what", "tokens", "state", "words"}}
	for _, l := range lines {
		what, words := fmt.Sprintf("message %d", l.Message), ""
		if l.Message == 0 {
			what = fmt.Sprintf("messages %d-%d: %s", l.First, l.Last, l.Class)
			if l.First == l.Last {
				what = fmt.Sprintf("message %d: %s", l.First, l.Class)
			}
		} else if len(l.Spans) > 0 {
			words = fmt.Sprintf("%.60q", l.Spans[0].Text)
		}
		rows = append(rows, []string{fmt.Sprint(l.Pin), string(l.By), when(l.At), what, grouped(l.Tokens), strings.Replace(string(l.State), "inView", "in view", 1), words})
	}
	_, err = p.stdout.Write(table(rows))
	return err
}
