package decay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"ctxplugin/compartments"
)

// StubPattern is a regular expression, in Go and in JavaScript, that finds the
// text of any stub: what an agent must not pass on as an argument, for it stands
// for something else.
const StubPattern = `\[stored (output|argument|text)\b[^\n]*ctx_expand\(\{"message": [0-9]+, "part": [0-9]+\}\)\]`

// StubRefusal is what an agent is told that passes a stub on.
const StubRefusal = "An argument holds the placeholder of something stored, not the thing itself. " +
	"Read the original with the ctx_expand call that the placeholder names, and make the call again with the real text. Nothing was changed."

// previewFailing is how much of a preview the line that names a failure may
// take, in characters.
const previewFailing = 160

// OutputStub is what a fold puts in the place of an output: size, kind, origin
// and the exact call that returns it, with a preview of at most that many
// characters and a list of identifiers of at most so many. What was superseded has a
// pointer to what replaced it instead of a preview. It is a pure function of the
// stored part and its place.
func OutputStub(p *compartments.Part, ordinal compartments.Ordinal, part, preview, names int, replaced string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[stored output of %s, %s, %d characters in %d lines; %s. The whole: ctx_expand({\"message\": %d, \"part\": %d})]",
		origin(p), outcome(p), utf8.RuneCountInString(p.Output), lines(p.Output), because(replaced), ordinal, part)
	if replaced != "" {
		appendNames(&b, p.Output, names)
		return b.String()
	}
	failing := ""
	if failed(p) {
		failing = failingLine(p.Output)
	}
	appendPreview(&b, p.Output, preview-utf8.RuneCountInString(failing))
	if failing != "" && !strings.Contains(b.String(), failing) {
		b.WriteString("\nIt failed with:\n")
		b.WriteString(failing)
	}
	appendNames(&b, p.Output, names)
	return b.String()
}

// InputStub is what a fold puts in the place of a call's arguments: the same
// object, each string of more than `over` characters in it replaced as a whole
// by a stub, which lists identifiers of it in at most so many characters and is no
// longer than `over` because of them. ok is false where the arguments are no object
// or none is so long.
func InputStub(p *compartments.Part, ordinal compartments.Ordinal, part, over, names int, replaced string) (value string, ok bool) {
	d := json.NewDecoder(strings.NewReader(p.Input))
	d.UseNumber()
	var b bytes.Buffer
	w := inputWriter{d: d, b: &b, over: over, stub: func(argument string, n int) string {
		var s strings.Builder
		fmt.Fprintf(&s, "[stored argument of %d characters; %s. The whole: ctx_expand({\"message\": %d, \"part\": %d})]", n, because(replaced), ordinal, part)
		appendNames(&s, argument, min(names, over-s.Len()))
		return s.String()
	}}
	if err := w.value(true); err != nil || w.stubs == 0 {
		return "", false
	}
	return b.String(), true
}

func because(replaced string) string {
	if replaced != "" {
		return replaced
	}
	return "not shown here"
}

// Replacement says what took the place of a call, in words for its stub.
func Replacement(old, by *Call, ordinal compartments.Ordinal) string {
	what := "done again"
	switch by.Subject.Verb {
	case compartments.VerbRead:
		what = "the file was read again"
	case compartments.VerbWrite:
		what = "the file was written"
	case compartments.VerbEdit:
		what = "the file was edited"
	case compartments.VerbRun:
		what = "the command was run again"
	case compartments.VerbLook:
		what = "searched again"
	case compartments.VerbFetch:
		what = "fetched again"
	case compartments.VerbPlan:
		what = "the list was replaced"
	}
	if old.Failed && by.Subject.Verb != compartments.VerbRun {
		what = "this failed and was done again"
	}
	return fmt.Sprintf("superseded: %s in message %d", what, ordinal)
}

const originMost = 120 // characters of a path or command

// origin is the tool and what it was used on.
func origin(p *compartments.Part) string {
	tool := oneLine(p.Tool, 40)
	s := compartments.SubjectOf(p)
	switch s.Verb {
	case compartments.VerbPlan, compartments.VerbOther, compartments.VerbSkill, compartments.VerbOwn:
		return tool
	case compartments.VerbLook:
		return tool + " " + oneLine(strings.TrimPrefix(s.Target, p.Tool+" "), originMost)
	}
	if s.Target == "" {
		return tool
	}
	target := oneLine(s.Target, originMost)
	if s.Verb == compartments.VerbRead && s.To > 0 {
		target += fmt.Sprintf(" from line %d to %d", s.From, s.To)
	}
	return tool + " " + target
}

func failed(p *compartments.Part) bool {
	return p.Status == compartments.StatusError || p.HasExit && p.ExitCode != 0
}

func outcome(p *compartments.Part) string {
	switch {
	case p.Status == compartments.StatusError:
		return "failed"
	case p.HasExit:
		return fmt.Sprintf("exit %d", p.ExitCode)
	}
	return "completed"
}

func lines(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

var failureWords = [...]string{"error", "fail", "fatal", "panic", "exception", "denied", "not found", "cannot"}

// failingLine is the first line that names a failure, or the last that says
// anything.
func failingLine(output string) string {
	last := ""
	for line := range strings.Lines(output) {
		text := strings.TrimSpace(line)
		if text == "" {
			continue
		}
		last = text
		low := strings.ToLower(text[:min(len(text), 400)])
		for _, word := range failureWords {
			if strings.Contains(low, word) {
				return clipRunes(text, previewFailing)
			}
		}
	}
	return clipRunes(last, previewFailing)
}

// inputWriter copies a JSON text, its keys in their order, with long strings
// replaced.
type inputWriter struct {
	d     *json.Decoder
	b     *bytes.Buffer
	over  int
	stub  func(argument string, characters int) string
	stubs int
}

// value copies the next value; object says that it has to be an object.
func (w *inputWriter) value(object bool) error {
	t, err := w.d.Token()
	if err != nil {
		return err
	}
	switch v := t.(type) {
	case json.Delim:
		if object && v != '{' {
			return fmt.Errorf("the arguments are no object")
		}
		return w.inside(v)
	case string:
		if n := utf8.RuneCountInString(v); n > w.over {
			w.stubs++
			v = w.stub(v, n)
		}
		t = v
	}
	if object {
		return fmt.Errorf("the arguments are no object")
	}
	return w.scalar(t)
}

func (w *inputWriter) scalar(t json.Token) error {
	e := json.NewEncoder(w.b)
	e.SetEscapeHTML(false)
	if err := e.Encode(t); err != nil {
		return err
	}
	w.b.Truncate(w.b.Len() - 1) // the encoder's line end
	return nil
}

// inside copies the rest of an object or list.
func (w *inputWriter) inside(open json.Delim) error {
	w.b.WriteString(open.String())
	for first := true; w.d.More(); first = false {
		if !first {
			w.b.WriteByte(',')
		}
		if open == '{' {
			key, err := w.d.Token()
			if err != nil {
				return err
			}
			if err := w.scalar(key); err != nil {
				return err
			}
			w.b.WriteByte(':')
		}
		if err := w.value(false); err != nil {
			return err
		}
	}
	end, err := w.d.Token()
	if err != nil {
		return err
	}
	w.b.WriteString(end.(json.Delim).String())
	return nil
}
