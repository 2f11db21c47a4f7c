package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"ctxplugin/compartments"
	"ctxplugin/sqlite"
)

// driven is a real process of the program and the host that drives it.
type driven struct {
	t        *testing.T
	home     string
	cmd      *exec.Cmd
	in       io.WriteCloser
	generate func(params map[string]any) (result, failure any) // what the host's model says

	mu      sync.Mutex
	id      int
	waiting map[string]chan json.RawMessage
	told    []string
	trace   []string // methods in the order in which they were asked, and "METHOD!" when answered
	done    chan struct{}
}

// startProgram starts the program with a home of its own, and more variables.
func startProgram(t *testing.T, home string, env []string) *driven {
	t.Helper()
	self, err := exec.LookPath("ctxplugin")
	if err != nil {
		t.Fatal(err)
	}
	h := &driven{t: t, home: home, cmd: exec.Command(self, "serve"), waiting: map[string]chan json.RawMessage{}, done: make(chan struct{})}
	h.cmd.Env = append([]string{"HOME=" + home}, env...)
	h.cmd.Stderr = os.Stderr
	if h.in, err = h.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go h.read(bufio.NewReader(out))
	t.Cleanup(func() { h.kill() })
	return h
}

// kill ends the process as a crash does.
func (h *driven) kill() {
	_ = h.cmd.Process.Kill()
	<-h.done
	_ = h.cmd.Wait()
}

func (h *driven) read(out *bufio.Reader) {
	defer close(h.done)
	for {
		line, err := out.ReadBytes('\n')
		if err != nil {
			return
		}
		var frame struct {
			ID     json.RawMessage
			Method string
			Params map[string]any
			Result json.RawMessage
			Error  json.RawMessage
		}
		if err := json.Unmarshal(line, &frame); err != nil {
			h.t.Errorf("%s: %v", line, err)
			return
		}
		h.mu.Lock()
		switch {
		case frame.Method == "host/notify":
			h.told = append(h.told, fmt.Sprint(frame.Params["text"]))
		case frame.Method == "host/generate" && h.generate != nil:
			h.trace = append(h.trace, frame.Method)
			go func() {
				result, failure := h.generate(frame.Params)
				answer, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": frame.ID, "result": result})
				if failure != nil {
					answer, err = json.Marshal(map[string]any{"jsonrpc": "2.0", "id": frame.ID, "error": failure})
				}
				if err == nil {
					_, _ = h.in.Write(append(answer, '\n')) // the process may be gone
				}
			}()
		case frame.Method == "":
			if c := h.waiting[string(frame.ID)]; c != nil {
				if frame.Result == nil {
					frame.Result = frame.Error
				}
				c <- frame.Result
			}
		default:
			h.trace = append(h.trace, frame.Method)
		}
		h.mu.Unlock()
	}
}

// call makes a request and returns its result, or its error.
func (h *driven) call(method string, params any) json.RawMessage {
	h.t.Helper()
	text, err := json.Marshal(params)
	if err != nil {
		h.t.Fatal(err)
	}
	c := make(chan json.RawMessage, 1)
	h.mu.Lock()
	h.id++
	id := fmt.Sprint(h.id)
	h.waiting[id] = c
	h.trace = append(h.trace, method)
	h.mu.Unlock()
	if _, err := fmt.Fprintf(h.in, `{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`+"\n", id, method, text); err != nil {
		h.t.Fatal(err)
	}
	select {
	case result := <-c:
		h.mu.Lock()
		h.trace = append(h.trace, method+"!")
		h.mu.Unlock()
		return result
	case <-h.done:
		h.t.Fatalf("%s: the process ended", method)
		return nil
	}
}

func (h *driven) notices() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.told...)
}

func (h *driven) initialize(directory, options string) {
	h.t.Helper()
	h.call("initialize", map[string]any{"protocolVersion": 1, "host": map[string]any{"name": "test", "version": "1"}, "project": map[string]any{"directory": directory},
		"capabilities": map[string]any{"generate": h.generate != nil, "notify": true}, "options": json.RawMessage(options)})
}

const drivenSession = "ses_driven"

// turns are messages of a session: what is asked, and what came of it.
func turns(n int) (list []json.RawMessage, rev string) {
	topics := []string{"parser", "cache", "router", "ledger", "queue", "mailer"}
	r := compartments.EmptyRevision()
	add := func(role, text string) {
		raw, err := json.Marshal(map[string]any{"id": fmt.Sprintf("msg_%03d", len(list)), "role": role, "time": 1750000000000 + len(list)*1000,
			"finish": "stop", "parts": []any{map[string]any{"type": "text", "text": text}}})
		if err != nil {
			panic(err)
		}
		m, err := compartments.DecodeMessage(raw)
		if err != nil {
			panic(err)
		}
		list, r = append(list, raw), r.Add(m.Print())
	}
	for i := range n {
		topic := topics[i%len(topics)]
		add("user", fmt.Sprintf("round %d: look into the %s for me, it fails after a restart. do not touch the tests", i, topic))
		add("assistant", fmt.Sprintf("Found in the %s in round %d: the retry loop never resets its counter. I changed %s_%d.go and left the tests alone. ", topic, i, topic, i)+
			strings.Repeat(fmt.Sprintf("The %s reads its rows one by one and keeps what it has read. ", topic), 20))
	}
	return list, r.String()
}

// request sends the list of some turns and asks for the plan.
func (h *driven) request(n int) {
	h.t.Helper()
	list, rev := turns(n)
	empty := compartments.EmptyRevision().String()
	h.call("session/sync", map[string]any{"sessionID": drivenSession, "base": empty, "keep": 0, "check": empty, "messages": list, "more": false})
	reply := h.call("session/transform", map[string]any{"sessionID": drivenSession, "rev": rev, "applied": "", "deadlineMs": 5000, "agent": "build",
		"model": map[string]any{"id": "m", "provider": "p", "context": 40_000, "output": 2_000}, "fixedBytes": 1000, "now": time.Now().UnixMilli()})
	if !strings.Contains(string(reply), `"planID"`) {
		h.t.Fatalf("transform: %s", reply)
	}
}

type drivenStatus struct {
	Numbers   map[string]int
	Historian string
	Prefer    string
}

func (h *driven) status() (st drivenStatus) {
	h.t.Helper()
	if err := json.Unmarshal(h.call("session/status", map[string]any{"sessionID": drivenSession}), &st); err != nil {
		h.t.Fatal(err)
	}
	return st
}

// settled is the status once a request was answered and the models have done what
// there is to do for it: calls were recorded, nothing waits, and nobody has a lease.
// That of a process that was killed stays, over, until another one is needed.
func (h *driven) settled() drivenStatus {
	h.t.Helper()
	h.request(24)
	db := rawDB(h.t, h.home)
	for {
		var open, recorded int
		if err := db.QueryRow(`SELECT (SELECT count(*) FROM leases WHERE until > ?), (SELECT count(*) FROM calls WHERE verdict <> 'asked')`, time.Now().UnixMilli()).Scan(&open, &recorded); err != nil {
			h.t.Fatal(err)
		}
		if open == 0 && recorded > 0 {
			if st := h.status(); strings.Contains(st.Historian, "nothing waits") {
				return st
			}
		}
		time.Sleep(20 * time.Millisecond) // the test's own time limit ends this
	}
}

// served are the stored compartments that serve.
func (h *driven) served() []compartments.Compartment {
	h.t.Helper()
	var stored *compartments.Stored
	look(h.t, h.home, func(s *sqlite.Store) (err error) {
		stored, err = s.Load(h.t.Context(), drivenSession)
		return err
	})
	if stored == nil {
		return nil
	}
	for i := range stored.Compartments {
		if err := stored.Compartments[i].Validate(); err != nil {
			h.t.Fatal(err)
		}
	}
	return stored.Compartments
}

func grounded(list []compartments.Compartment) (n int) {
	for i := range list {
		if list[i].Strategy == compartments.StrategyGrounded {
			n++
		}
	}
	return n
}

// configure writes the settings of a home.
func configure(t *testing.T, home, text string) {
	t.Helper()
	path := filepath.Join(home, ".config", "ctxplugin", configName)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

var (
	entryLine = regexp.MustCompile(`(?m)^\[(\d+)\]( user)?$\n((?:  .*\n)*)`)
	spanLine  = regexp.MustCompile(`(?m)^\D*(\d+)(?:-| to )(\d+).*$`)
)

// wellWritten is what a good model answers to a prompt: a compartment for each span
// that is suggested, in words of its messages.
func wellWritten(prompt string) string {
	head, transcript, _ := strings.Cut(prompt, "<transcript>")
	transcript, _, _ = strings.Cut(transcript, "</transcript>")
	_, head, _ = strings.Cut(head, "Suggested spans")
	head = head[strings.IndexByte(head, '\n'):]
	type entry struct {
		ordinal int
		user    bool
		text    string
	}
	var entries []entry
	for _, m := range entryLine.FindAllStringSubmatch(transcript, -1) {
		e := entry{user: m[2] != ""}
		_, _ = fmt.Sscan(m[1], &e.ordinal)
		e.text = strings.TrimSpace(strings.SplitN(strings.TrimSpace(m[3]), "\n", 2)[0])
		entries = append(entries, e)
	}
	var out strings.Builder
	for _, m := range spanLine.FindAllStringSubmatch(head, -1) {
		var first, last int
		_, _ = fmt.Sscan(m[1], &first)
		_, _ = fmt.Sscan(m[2], &last)
		var full, dense, compact strings.Builder
		short := ""
		for _, e := range entries {
			if e.ordinal < first || e.ordinal > last || e.text == "" {
				continue
			}
			if e.user {
				fmt.Fprintf(&full, "Asked: [%d] \"%s\"\n", e.ordinal, e.text)
				continue
			}
			said := strings.SplitN(e.text, ". ", 3)
			fmt.Fprintf(&full, "Outcome: [%d] %s. %s\n", e.ordinal, said[0], said[1])
			fmt.Fprintf(&dense, "Outcome: [%d] %s. %s\n", e.ordinal, said[0], said[1])
			fmt.Fprintf(&compact, "Outcome: %s\n", said[0])
			short, _, _ = strings.Cut(said[0], ":")
		}
		fmt.Fprintf(&out, "<compartment first=\"%d\" last=\"%d\" importance=\"40\" types=\"fix\" title=\"%s\">\n<full>\n%s</full>\n<dense>\n%s</dense>\n"+
			"<compact>\n%s</compact>\n<anchor>%s</anchor>\n</compartment>\n", first, last, short, &full, &dense, &compact, short)
	}
	return out.String()
}
