package rpc

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

const protocolDoc = "../docs/protocol.md"

// TestProtocolDoc checks that docs/protocol.md shows an exchange for each method
// and has a row for each error. What it shows is held against the whole program
// by cmd/ctxplugin.
func TestProtocolDoc(t *testing.T) {
	doc, err := os.ReadFile(protocolDoc)
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for line := range strings.Lines(string(doc)) {
		if sent, ok := strings.CutPrefix(line, "> "); ok {
			shown[cut([]byte(sent)).method] = true
		}
	}
	for name := range methods {
		if !shown[name] {
			t.Errorf("%s has no exchange for %s", protocolDoc, name)
		}
	}
	rows := map[string]int{"parse": codeParse, "invalidRequest": codeInvalidRequest, "unknownMethod": codeUnknownMethod, "notInitialized": codeNotInitialized}
	for name, code := range wireCodes {
		rows[string(name)] = code
	}
	for name, code := range rows {
		if row := fmt.Sprintf("| %d | %s |", code, name); !strings.Contains(string(doc), row) {
			t.Errorf("%s has no row %q", protocolDoc, row)
		}
	}
}
