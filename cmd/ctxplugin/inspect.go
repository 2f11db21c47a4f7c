package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"ctxplugin/compartments"
	"ctxplugin/session"
	"ctxplugin/sqlite"
)

// database is the flag of the commands that read the database.
type database struct {
	DB filePath `name:"db" placeholder:"FILE" help:"Read this database instead of the one that serve uses."`
}

// inspection is a database that is being looked at.
type inspection struct {
	*service
	config config
	exists bool // nothing is made just by looking
}

func (d *database) open(p *program) (*inspection, error) {
	c, err := p.readConfig()
	if err != nil {
		return nil, err
	}
	c.overrideDatabase(d.DB)
	for _, w := range c.warnings {
		fmt.Fprintf(p.stderr, "ctxplugin: %s\n", w)
	}
	log, closer := openLog(folders{}, "off")
	defer closer.Close()
	in := &inspection{service: newService(c, log, nil), config: c}
	in.options.ReadOnly = true
	switch info, err := os.Stat(c.Database); {
	case err == nil:
		in.exists = !info.Mode().IsRegular() || info.Size() > 0
	case c.Database == "":
		return nil, usage("no home folder is known: set HOME, or name the database with --db")
	case !errors.Is(err, fs.ErrNotExist):
		return nil, usage("%w", err)
	}
	return in, nil
}

// list returns the stored sessions.
func (in *inspection) list(ctx context.Context) ([]sqlite.Listing, error) {
	if !in.exists {
		return nil, nil
	}
	b, err := in.ready()
	if err != nil {
		return nil, err
	}
	return b.store.Sessions(ctx)
}

// name completes the start of a session's name.
func (in *inspection) name(ctx context.Context, start string) (compartments.SessionID, error) {
	list, err := in.list(ctx)
	if err != nil {
		return "", err
	}
	var found []compartments.SessionID
	for _, l := range list {
		if string(l.Session) == start {
			return l.Session, nil
		}
		if strings.HasPrefix(string(l.Session), start) {
			found = append(found, l.Session)
		}
	}
	switch len(found) {
	case 0:
		return "", usage("%s: no session is called %q (see ctxplugin sessions)", in.config.Database, start)
	case 1:
		return found[0], nil
	}
	return "", usage("%s: %d sessions begin with %q", in.config.Database, len(found), start)
}

// listCommand lists the stored sessions.
type listCommand struct {
	database
	JSON bool `help:"Print one JSON document."`
}

// Run implements the command.
func (s *listCommand) Run(p *program) (err error) {
	in, err := s.open(p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close(p.ctx)) }()
	list, err := in.list(p.ctx)
	if err != nil {
		return err
	}
	type line struct {
		Session      string `json:"session"`
		Parent       string `json:"parent,omitempty"`
		Messages     int    `json:"messages"`
		Bytes        int64  `json:"bytes"`
		Compartments int    `json:"compartments"`
		Folds        int    `json:"folds"`
		Changed      int64  `json:"changed"` // Unix ms
	}
	if s.JSON {
		lines := make([]line, 0, len(list))
		for _, l := range list {
			lines = append(lines, line{string(l.Session), string(l.Parent), l.Messages, l.Bytes, l.Compartments, l.Folds, l.Changed})
		}
		return printJSON(p, lines)
	}
	if len(list) == 0 {
		_, err = fmt.Fprintf(p.stdout, "no sessions yet in %s\n", in.config.Database)
		return err
	}
	rows := [][]string{{"session", "messages", "bytes", "compartments", "folds", "changed"}}
	for _, l := range list {
		rows = append(rows, []string{string(l.Session), grouped(l.Messages), grouped(int(l.Bytes)), grouped(l.Compartments), grouped(l.Folds), when(l.Changed)})
	}
	_, err = p.stdout.Write(table(rows))
	return err
}

// statusCommand shows the numbers of one session, or where everything lies.
type statusCommand struct {
	database
	Session string `arg:"" optional:"" help:"A session, or the start of its name."`
	JSON    bool   `help:"Print one JSON document."`
}

// Run implements the command.
func (s *statusCommand) Run(p *program) (err error) {
	in, err := s.open(p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close(p.ctx)) }()
	project := in.config.projectHere()
	for _, w := range project {
		fmt.Fprintf(p.stderr, "ctxplugin: %s\n", w)
	}
	if s.Session == "" {
		return s.overview(p, in, project)
	}
	id, err := in.name(p.ctx, s.Session)
	if err != nil {
		return err
	}
	st, err := in.Status(p.ctx, id)
	if err != nil {
		return err
	}
	if s.JSON {
		return printJSON(p, st)
	}
	_, err = p.stdout.Write(statusText(&st))
	return err
}

func (s *statusCommand) overview(p *program, in *inspection, project []string) error {
	list, err := in.list(p.ctx)
	if err != nil {
		return err
	}
	size := int64(0)
	if info, err := os.Stat(in.config.Database); err == nil {
		size = info.Size()
	}
	f := p.env.folders()
	if s.JSON {
		return printJSON(p, map[string]any{"version": versionName(), "database": in.config.Database, "bytes": size, "sessions": len(list),
			"settings": in.config.path, "log": f.logPath(), "warnings": append(append([]string{}, in.config.warnings...), project...)})
	}
	settings := in.config.path
	if len(in.config.sources) == 0 {
		settings += " (nothing set)"
	}
	_, err = p.stdout.Write(table([][]string{
		{"version", versionName()},
		{"database", fmt.Sprintf("%s (%s bytes, %s sessions)", in.config.Database, grouped(int(size)), grouped(len(list)))},
		{"settings", settings},
		{"log", f.logPath()},
	}))
	return err
}

// statusText is a session's status for people.
func statusText(st *session.Status) []byte {
	n := &st.Stats
	rows := [][]string{
		{"session", string(st.Session)},
		{"messages", fmt.Sprintf("%s (%s withdrawn, %s parts of unknown kind)", grouped(st.Messages), grouped(st.Withdrawn), grouped(st.Unknown))},
		{"pressure", fmt.Sprintf("%d.%d %%: %s of %s usable tokens (window %s, reply %s, system and tools %s)", n.Pressure/10, n.Pressure%10,
			grouped(n.Messages), grouped(n.Usable), grouped(n.Window), grouped(n.Reserve), grouped(n.Fixed))},
		{"history", fmt.Sprintf("%s of %s tokens, fold %d, %s", grouped(n.History), grouped(n.Budget), n.Fold, stubs(n.Stubs))},
		{"compartments", tiersText(st.Tiers)},
		{"historian", st.Historian},
	}
	for _, model := range slices.Sorted(maps.Keys(st.Calibration)) {
		rows = append(rows, []string{"calibration", fmt.Sprintf("%s × %d.%03d", model, st.Calibration[model]/1000, st.Calibration[model]%1000)})
	}
	if n.Irreducible != "" {
		rows = append(rows, []string{"irreducible", n.Irreducible})
	}
	if st.HostIgnoring {
		rows = append(rows, []string{"host", "never names a plan: it seems to ignore them"})
	}
	for _, text := range append(slices.Clone(n.Warnings), st.Notices...) {
		rows = append(rows, []string{"notice", text})
	}
	out := table(rows)
	if len(st.Folds) > 0 {
		folds := [][]string{{"fold", "at", "reason", "kept", "pairs", "through", "before", "after", "tiers"}}
		for _, f := range st.Folds {
			folds = append(folds, []string{strconv.Itoa(f.Number), when(f.At), f.Reason, strconv.Itoa(f.Divergence), strconv.Itoa(f.Pairs),
				strconv.FormatInt(f.Through, 10), grouped(f.Before), grouped(f.After), tiersText(f.Tiers)})
		}
		out = append(append(out, '\n'), table(folds)...)
	}
	return out
}

func stubs(n int) string {
	if n == 1 {
		return "1 stub"
	}
	return grouped(n) + " stubs"
}

// tiersText counts compartments by tier, from most to least.
func tiersText(tiers map[string]int) string {
	var parts []string
	for t := compartments.TierRaw; t <= compartments.TierArchived; t++ {
		if n := tiers[t.String()]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", t, grouped(n)))
		}
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// expandCommand prints stored messages.
type expandCommand struct {
	database
	Session     string `arg:"" help:"A session, or the start of its name."`
	Range       string `arg:"" optional:"" help:"Ordinals: 12 or 12-18."`
	Message     string `placeholder:"ID" help:"One message by its id."`
	Compartment *int64 `placeholder:"N" help:"The messages of the compartment that message N is in."`
	Part        *int   `placeholder:"N" help:"Only this part of the one message, counted from 0."`
}

// Run implements the command.
func (e *expandCommand) Run(p *program) (err error) {
	q := session.ExpandRequest{Message: compartments.MessageID(e.Message)}
	if q.Part, err = partNamed(e.Part); err != nil {
		return err
	}
	compartment, err := compartmentNamed(e.Compartment)
	if err != nil {
		return err
	}
	if e.Range != "" {
		if q.First, q.Last, err = parseRange(e.Range); err != nil {
			return err
		}
		if q.Part >= 0 && q.First == q.Last {
			q.Message, q.First, q.Last = compartments.MessageID(strconv.FormatInt(int64(q.First), 10)), 0, 0
		}
	}
	named := 0
	for _, given := range []bool{e.Range != "", e.Message != "", e.Compartment != nil} {
		if given {
			named++
		}
	}
	if named != 1 {
		return usage("name one of a message (12), a range (12-18), --message ID and --compartment N")
	}
	in, err := e.open(p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close(p.ctx)) }()
	if q.Session, err = in.name(p.ctx, e.Session); err != nil {
		return err
	}
	if e.Compartment != nil {
		if q.Compartment, err = in.holding(p.ctx, q.Session, int64(compartment)); err != nil {
			return err
		}
	}
	for {
		page, err := in.Expand(p.ctx, q)
		if err != nil {
			return asUsage(err)
		}
		var out bytes.Buffer
		for _, m := range page.Messages {
			out.Write(m.Raw)
			out.WriteByte('\n')
		}
		out.WriteString(page.Text)
		if page.Next == 0 && q.Part >= 0 {
			out.WriteByte('\n')
		}
		if _, err := p.stdout.Write(out.Bytes()); err != nil {
			return err
		}
		if page.Next == 0 {
			return nil
		}
		q.Offset = page.Next
	}
}

// partNamed is the part that --part names, -1 if it is not given; -1 itself would
// else name the whole message.
func partNamed(part *int) (int, error) {
	switch {
	case part == nil:
		return -1, nil
	case *part < 0:
		return -1, usage("--part: parts count from 0")
	}
	return *part, nil
}

// compartmentNamed is the message that --compartment names, 0 if it is not given.
func compartmentNamed(message *int64) (compartments.Ordinal, error) {
	switch {
	case message == nil:
		return 0, nil
	case *message < 1:
		return 0, usage("--compartment: messages count from 1")
	}
	return compartments.Ordinal(*message), nil
}

// holding is the compartment in force that begins with a message, or else the one
// that has it.
func (in *inspection) holding(ctx context.Context, id compartments.SessionID, message int64) (compartments.CompartmentID, error) {
	x, err := in.Explain(ctx, id, 0)
	if err != nil {
		return 0, err
	}
	o, found := compartments.Ordinal(message), compartments.CompartmentID(0)
	for i := range x.Compartments {
		switch c := &x.Compartments[i]; {
		case o == c.First:
			return c.Compartment, nil
		case o > c.First && o <= c.Last:
			found = c.Compartment
		}
	}
	if found == 0 {
		return 0, usage("message %d of session %s is in no compartment; ctxplugin explain lists them", message, id)
	}
	return found, nil
}

// asUsage gives the exit code of wrong input to errors that the input caused.
func asUsage(err error) error {
	switch compartments.CodeOf(err) {
	case compartments.CodeBadInput, compartments.CodeBadRange, compartments.CodeNotFound, compartments.CodeUnknownSession:
		return &failure{exitUsage, err}
	}
	return err
}

func parseRange(text string) (first, last compartments.Ordinal, err error) {
	a, b, two := strings.Cut(text, "-")
	if !two {
		b = a
	}
	from, errA := strconv.ParseInt(a, 10, 64)
	to, errB := strconv.ParseInt(b, 10, 64)
	if errA != nil || errB != nil || from < 1 || to < from {
		return 0, 0, usage("%q is no range of ordinals, such as 12 or 12-18", text)
	}
	return compartments.Ordinal(from), compartments.Ordinal(to), nil
}

func printJSON(p *program, v any) error {
	e := json.NewEncoder(p.stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// when is a time for people, in UTC.
func when(ms int64) string {
	if ms == 0 {
		return "–"
	}
	return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05")
}

// table aligns columns with two blanks between them; all but the last are padded.
func table(rows [][]string) []byte {
	var wide []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(wide) {
				wide = append(wide, 0)
			}
			wide[i] = max(wide[i], len([]rune(cell)))
		}
	}
	var out bytes.Buffer
	for _, row := range rows {
		for i, cell := range row {
			out.WriteString(cell)
			if i < len(row)-1 {
				out.WriteString(strings.Repeat(" ", wide[i]-len([]rune(cell))+2))
			}
		}
		out.WriteByte('\n')
	}
	return out.Bytes()
}
