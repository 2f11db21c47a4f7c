package rpc

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"ctxplugin/session"
)

// piece is the line of a sync of about so many bytes, in messages of 2 KB whose
// text looks like code.
func piece(size int) string {
	text, _ := json.Marshal(strings.Repeat("if err != nil {\n\treturn fmt.Errorf(\"row %d: %w\", n, err)\n}\n", 34))
	message := fmt.Sprintf(`{"id":"msg_%%d","role":"assistant","time":1750000000000,"parts":[{"type":"text","text":%s}]}`, bytes.ReplaceAll(text, []byte("%"), []byte("%%")))
	var b strings.Builder
	b.WriteString(`{"jsonrpc":"2.0","id":1,"method":"session/sync","params":{"sessionID":"ses_1","base":"","keep":0,"check":"","messages":[`)
	for i := 0; b.Len() < size; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, message, i)
	}
	b.WriteString("]}}\n")
	return b.String()
}

// quiet answers syncs without looking at them.
type quiet struct{ *fake }

func (quiet) Sync(context.Context, session.SyncRequest) (string, error) { return "0.00", nil }

func benchConnect(b *testing.B) *peer {
	f := newFake()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	p := &peer{t: b, in: inW, done: make(chan error, 1)}
	go func() { p.done <- Serve(context.Background(), Config{In: inR, Out: outW, Sessions: quiet{f}}) }()
	p.out = bufio.NewReaderSize(outR, 1<<20)
	b.Cleanup(func() {
		inW.Close()
		<-p.done
	})
	p.greet()
	return p
}

// BenchmarkTransform is the round trip of a small request with a small plan: what
// every step of a turn pays to the wire.
func BenchmarkTransform(b *testing.B) {
	p := benchConnect(b)
	line := call(1, "session/transform", `{"sessionID":"ses_1","rev":"9600.0123456789abcdef","applied":"","deadlineMs":2000,"agent":"build","model":{"id":"m","provider":"v","context":200000,"output":32000,"prices":{"input":3000000,"output":15000000,"cacheRead":300000,"cacheWrite":3750000,"ttlMs":300000,"kind":"marks"}},"fixedBytes":40000,"now":1750000000000}`) + "\n"
	for b.Loop() {
		roundTrip(b, p, line)
	}
}

// BenchmarkSync is a piece of the largest size that hosts send.
func BenchmarkSync(b *testing.B) {
	p := benchConnect(b)
	line := piece(8 << 20)
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		roundTrip(b, p, line)
	}
}

func BenchmarkCut(b *testing.B) {
	line := []byte(piece(8 << 20))
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if f := cut(line); f.fault != nil {
			b.Fatal(f.fault)
		}
	}
}

// BenchmarkValid is encoding/json over the same line, to compare BenchmarkCut
// with.
func BenchmarkValid(b *testing.B) {
	line := []byte(piece(8 << 20))
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if !json.Valid(line) {
			b.Fatal("not JSON")
		}
	}
}

func roundTrip(b *testing.B, p *peer, line string) {
	if _, err := io.WriteString(p.in, line); err != nil {
		b.Fatal(err)
	}
	got, err := p.out.ReadSlice('\n')
	if err != nil || !bytes.Contains(got, []byte(`"result"`)) {
		b.Fatalf("%.200s, %v", got, err)
	}
}
