package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ctxplugin/compartments"
)

// atHome runs a command with the settings and the database of a home.
func atHome(t *testing.T, home string, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if got := run(context.Background(), args, []string{"HOME=" + home}, strings.NewReader(""), &stdout, &stderr); got != exitOK {
		t.Fatalf("%s: exit code %d\n%s%s", strings.Join(args, " "), got, &stdout, &stderr)
	}
	return stdout.String() + stderr.String()
}

// until waits for the line of the status to hold a text.
func (h *driven) until(text string) {
	h.t.Helper()
	for !strings.Contains(h.status().Historian, text) {
		time.Sleep(50 * time.Millisecond) // the test's own time limit ends this
	}
}

// TestSlow_CorrectedKey: a model that rests for a wrong key is asked again by the
// next start that has another one, and only by that.
func TestSlow_CorrectedKey(t *testing.T) {
	t.Parallel()
	good, _ := apiServer(t, func(_ int, prompt string) (int, string) { return 200, wellWritten(prompt) })
	var asked atomic.Int64
	guarded := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"error":{"message":"no"}}`))
	}))
	t.Cleanup(guarded.Close)
	home := t.TempDir()
	start := func(key, url string) *driven {
		configure(t, home, `{"writeBehind": 1000, "historian": {"backend": "openai", "model": "m", "url": "`+url+`/v1", "key": "`+key+`", "window": 64000}}`)
		h := startProgram(t, home, nil)
		h.initialize(home, `{}`)
		return h
	}
	h := start("wrong-key", guarded.URL)
	h.settled()
	h.until("rests until")
	if line := h.status().Historian; strings.Contains(line, "runs") || !strings.Contains(line, "auth") || !strings.Contains(line, "built-in meanwhile") {
		t.Errorf("after one call: %s", line)
	}
	if n := len(h.notices()); n != 1 {
		t.Errorf("told %d times: %q", n, h.notices())
	}
	h.kill()

	h = start("wrong-key", guarded.URL) // the same: it is not asked
	h.request(26)
	h.until("rests until")
	h.kill()
	if n := asked.Load(); n != 1 {
		t.Errorf("asked %d times", n)
	}
	if out := atHome(t, home, "historian"); !strings.Contains(out, "resting") {
		t.Error(out)
	}

	h = start("wrong-key", good) // another address, with which any key is right
	for n := 27; grounded(h.served()) == 0; n++ {
		h.request(n)
		time.Sleep(20 * time.Millisecond) // the test's own time limit ends this
	}
	h.kill()
	if out := atHome(t, home, "historian"); strings.Contains(out, "resting") {
		t.Error(out)
	}
}

// A fingerprint follows all that decides what comes of a call, and holds no key.
func TestChoice_Setup(t *testing.T) {
	warm := 0.5
	base := modelChoice{Backend: backendOpenAI, Model: "m", URL: "http://127.0.0.1:1", Key: "sk-one", Options: map[string]any{"a": 1, "b": 2}}
	seen := map[string]string{base.setup(): "itself"}
	for name, change := range map[string]func(*modelChoice){
		"key": func(m *modelChoice) { m.Key = "sk-two" }, "url": func(m *modelChoice) { m.URL = "http://127.0.0.1:2" },
		"options": func(m *modelChoice) { m.Options = map[string]any{"a": 1} }, "temperature": func(m *modelChoice) { m.Temperature = &warm },
		"maxOutput": func(m *modelChoice) { m.MaxOutput = 1000 },
	} {
		m := base
		change(&m)
		if other, twice := seen[m.setup()]; twice {
			t.Errorf("%s: the same as %s", name, other)
		}
		seen[m.setup()] = name
	}
	same := base
	same.Price, same.Options = &priceChoice{1, 2}, map[string]any{"b": 2, "a": 1}
	if same.setup() != base.setup() || len(base.setup()) != 8 {
		t.Errorf("%s and %s", same.setup(), base.setup())
	}
}

// TestSlow_CapBeforeTheFirstCall: a cap that no call fits into is named, by the
// process that holds it and by a look from outside.
func TestSlow_CapBeforeTheFirstCall(t *testing.T) {
	t.Parallel()
	for name, cap := range map[string]string{"small": "1000", "none": "0"} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			url, asked := apiServer(t, func(int, string) (int, string) { return 200, "" })
			configure(t, home, `{"historianTokens": `+cap+`, `+settingsFor(backendOpenAI, url)[1:])
			h := startProgram(t, home, nil)
			h.initialize(home, `{}`)
			h.request(24)
			h.until("tokens of the day")
			h.until("nothing waits")
			line := h.status().Historian
			h.kill()
			for _, text := range []string{line, atHome(t, home, "status", drivenSession), atHome(t, home, "historian")} {
				if !strings.Contains(text, "0 of "+cap+" tokens of the day are used") || strings.Contains(text, "not asked yet") {
					t.Error(text)
				}
			}
			if asked.Load() != 0 || len(h.served()) == 0 {
				t.Errorf("asked %d times, %d compartments", asked.Load(), len(h.served()))
			}
		})
	}
}

// TestSlow_HostWithoutModels: that a host lends none is named, until one does.
func TestSlow_HostWithoutModels(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	configure(t, home, `{"writeBehind": 1000, "historian": "host"}`)
	h := startProgram(t, home, nil)
	h.initialize(home, `{}`)
	h.request(24)
	line := h.status().Historian
	h.kill()
	for _, text := range []string{line, atHome(t, home, "status", drivenSession), atHome(t, home, "historian")} {
		if !strings.Contains(text, "this host does not lend its models (test 1)") || strings.Contains(text, "not asked yet") {
			t.Error(text)
		}
	}
	h = startProgram(t, home, nil)
	h.generate = func(params map[string]any) (result, failure any) {
		return map[string]any{"text": wellWritten(params["prompt"].(string)), "finish": "stop"}, nil
	}
	h.initialize(home, `{}`)
	h.request(25)
	if line := h.status().Historian; strings.Contains(line, "lend") {
		t.Error(line)
	}
}

// TestSlow_UnderWay: while a model is asked, and while the lease of a process that
// was killed then lasts, status says so, from inside and from outside.
func TestSlow_UnderWay(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	reached, never := make(chan struct{}, 10), make(chan struct{})
	url, _ := apiServer(t, func(int, string) (int, string) {
		reached <- struct{}{}
		<-never
		return 500, ""
	})
	t.Cleanup(func() { close(never) }) // before the server is closed
	configure(t, home, settingsFor(backendOpenAI, url))
	h := startProgram(t, home, nil)
	h.initialize(home, `{}`)
	h.request(24)
	<-reached
	h.until("openai/m: asking openai/m for messages 1-")
	h.until(" s; today 1 call") // since when
	for _, args := range [][]string{{"status", drivenSession}, {"historian"}} {
		if out := atHome(t, home, args...); !strings.Contains(out, "asking openai/m for messages 1-") || !strings.Contains(out, " since ") {
			t.Errorf("%v: %s", args, out)
		}
	}
	h.kill()
	h = startProgram(t, home, nil)
	h.initialize(home, `{}`)
	h.request(25)
	h.until("waiting for another process' lease until ")
	h.until(" UTC, which is asking openai/m for messages 1-")
	h.kill()
	if _, err := rawDB(t, home).Exec(`UPDATE leases SET until = 1`); err != nil {
		t.Fatal(err)
	}
	out := atHome(t, home, "historian")
	if strings.Contains(out, "under way") || !strings.Contains(out, "its process ended before the reply") {
		t.Error(out)
	}
	if c := calls(t, home); len(c) != 1 || c[0].Verdict != compartments.CallAsked {
		t.Errorf("%+v", c)
	}
}
