package lab

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// talk connects a client with a peer that answers each line by a function; empty
// answers are not written.
func talk(t *testing.T, answer func(line string) string) *client {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer outW.Close()
		lines := bufio.NewScanner(inR)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if s := answer(lines.Text()); s != "" {
				if _, err := io.WriteString(outW, s); err != nil {
					return
				}
			}
		}
	}()
	c := newClient(outR, inW)
	t.Cleanup(func() {
		inW.Close()
		outR.Close()
		<-done
		<-c.done
	})
	return c
}

func TestClientCalls(t *testing.T) {
	c := talk(t, func(line string) string {
		switch {
		case strings.Contains(line, "host.cannot"):
			return "" // the client's own answer
		case strings.Contains(line, `"method":"good"`):
			return `{"jsonrpc":"2.0","method":"host/notify","params":{"level":"warning","text":"hm"}}` + "\n\r\n" +
				`{"jsonrpc":"2.0","method":"$/progress","params":{}}` + "\n" +
				`{"jsonrpc":"2.0","id":1,"result":{"x":[1]}}` + "\n"
		case strings.Contains(line, `"method":"bad"`):
			return `{"jsonrpc":"2.0","id":2,"error":{"code":-32001,"message":"no","data":{"code":"resync","keep":3,"check":"c"}}}` + "\n"
		}
		return `{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"unknown"}}` + "\n"
	})
	ctx := context.Background()
	if got, err := c.call(ctx, "good", []byte("{}")); err != nil || string(got) != `{"x":[1]}` {
		t.Errorf("%s, %v", got, err)
	}
	if got := fmt.Sprint(c.heard(), c.heard()); got != "[warning: hm] []" {
		t.Error(got)
	}
	_, err := c.call(ctx, "bad", []byte("{}"))
	var w *wireError
	if !errors.As(err, &w) || w.Data.Keep != 3 || err.Error() != "bad: error resync: no" {
		t.Error(err)
	}
	if _, err := c.call(ctx, "other", []byte("{}")); err == nil || err.Error() != "other: error -32601: unknown" {
		t.Error(err)
	}
}

func TestClientAnswersThatItCannot(t *testing.T) {
	asked := make(chan string, 1)
	c := talk(t, func(line string) string {
		if strings.Contains(line, `"method":"go"`) {
			return `{"jsonrpc":"2.0","id":"h1","method":"host/generate","params":{}}` + "\n"
		}
		asked <- line
		return `{"jsonrpc":"2.0","id":1,"result":null}` + "\n"
	})
	if _, err := c.call(context.Background(), "go", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if got := <-asked; !strings.Contains(got, `"id":"h1","error":{"code":-32601`) {
		t.Error(got)
	}
}

func TestClientNoticesABrokenPeer(t *testing.T) {
	for answer, want := range map[string]string{
		"panic: oops\n":                          "stdout carries something else",
		`{"jsonrpc":"2.0","id":7,"result":1}`:    "a request that was not made",
		`{"jsonrpc":"2.0","id":null,"error":{}}`: "could not read a request",
	} {
		c := talk(t, func(string) string { return answer + "\n" })
		if _, err := c.call(context.Background(), "x", []byte("{}")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", answer, err)
		}
		if _, err := c.start("y", []byte("{}")); err == nil {
			t.Errorf("%s: it goes on", answer)
		}
	}
}

func TestClientStopsWaiting(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	c := talk(t, func(string) string { cancel(); return "" })
	if _, err := c.call(ctx, "x", []byte("{}")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
