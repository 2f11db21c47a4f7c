package rpc

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"ctxplugin/compartments"
	"ctxplugin/session"
)

const protocolDoc = "../docs/protocol.md"

// TestProtocolDoc holds the conversation that docs/protocol.md shows, all of it on
// one connection: lines that begin with > are sent, those with < are expected.
// With -update they are rewritten.
func TestProtocolDoc(t *testing.T) {
	doc, err := os.ReadFile(protocolDoc)
	if err != nil {
		t.Fatal(err)
	}
	f := newFake()
	f.onTransform = func(ctx context.Context, r session.TransformRequest) error {
		if r.Session != "ses_generate" {
			return nil
		}
		reply, err := f.host.Generate(ctx, GenerateRequest{Purpose: "compartments", System: "You are the historian.", Prompt: "[1] U: count the rejected rows", MaxTokens: 4000, Temperature: 25})
		if err != nil {
			return err
		}
		if err := f.host.Notify(ctx, "info", "The history was folded."); err != nil {
			return err
		}
		return compartments.Errorf(compartments.CodeUnknownSession, "no session is called %q; sync it first (the host wrote %d bytes)", r.Session, len(reply.Text))
	}
	p := connect(t, f, Limits{})
	lines := strings.SplitAfter(string(doc), "\n")
	sent := map[string]bool{}
	for i, line := range lines {
		switch text := strings.TrimSuffix(line, "\n"); {
		case strings.HasPrefix(text, "> "):
			p.send(text[2:])
			if f := cut([]byte(text[2:])); f.method != "" {
				sent[f.method] = true
			}
		case strings.HasPrefix(text, "< "):
			got := p.receive()
			if *update {
				lines[i] = "< " + got + "\n"
			} else if text[2:] != got {
				t.Errorf("%s:%d shows\n%s\nthe server says\n%s", protocolDoc, i+1, text[2:], got)
			}
		}
	}
	for name := range methods {
		if !sent[name] {
			t.Errorf("%s has no exchange for %s", protocolDoc, name)
		}
	}
	for name, code := range wireCodes {
		if row := fmt.Sprintf("| %d | %s |", code, name); !strings.Contains(string(doc), row) {
			t.Errorf("%s has no row %q", protocolDoc, row)
		}
	}
	if *update {
		if err := os.WriteFile(protocolDoc, []byte(strings.Join(lines, "")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
