package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ctxplugin/compartments"
	"ctxplugin/sqlite"
)

func drivenDB(home string) string {
	return filepath.Join(home, ".local", "share", "ctxplugin", "ctxplugin.db")
}

// look opens the database of a process, alive or not, for a moment.
func look(t *testing.T, home string, at func(*sqlite.Store) error) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), drivenDB(home), sqlite.Options{ReadOnly: true, BusyTimeout: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(at(store), store.Close()); err != nil {
		t.Fatal(err)
	}
}

func calls(t *testing.T, home string) (list []compartments.Call) {
	t.Helper()
	look(t, home, func(s *sqlite.Store) (err error) {
		list, err = s.Calls(t.Context(), "", 100)
		return err
	})
	return list
}

// rawDB is the database for what the store has no method for.
func rawDB(t *testing.T, home string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", drivenDB(home)+"?_pragma=busy_timeout(20000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	return db
}

// apiServer is an endpoint that speaks both APIs; say answers with a status and a
// text, or with a body of its own.
func apiServer(t *testing.T, say func(call int, prompt string) (status int, text string)) (url string, asked *atomic.Int64) {
	t.Helper()
	asked = &atomic.Int64{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int(asked.Add(1))
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		var q struct {
			Messages []struct{ Content json.RawMessage }
		}
		if err := json.Unmarshal(body, &q); err != nil {
			t.Error(err)
		}
		var prompt string
		last := q.Messages[len(q.Messages)-1].Content
		if json.Unmarshal(last, &prompt) != nil {
			var blocks []struct{ Text string }
			if err := json.Unmarshal(last, &blocks); err != nil {
				t.Error(err)
			}
			prompt = blocks[0].Text
		}
		status, text := say(n, prompt)
		w.Header().Set("Content-Type", "application/json")
		if status == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", "3600")
		}
		w.WriteHeader(status)
		switch {
		case strings.HasPrefix(text, "{"):
			_, _ = io.WriteString(w, text)
		case strings.HasSuffix(r.URL.Path, "/messages"):
			answer, _ := json.Marshal(map[string]any{"id": "m1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
				"content": []any{map[string]any{"type": "text", "text": text}}, "usage": map[string]any{"input_tokens": 1000, "output_tokens": 100}})
			_, _ = w.Write(answer)
		default:
			answer, _ := json.Marshal(map[string]any{"id": "c1", "object": "chat.completion", "model": "m",
				"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": text}}},
				"usage":   map[string]any{"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}})
			_, _ = w.Write(answer)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

// settingsFor names one model of an endpoint.
func settingsFor(backend, url string) string {
	if backend == backendOpenAI {
		url += "/v1"
	}
	return `{"writeBehind": 1000, "historian": {"backend": "` + backend + `", "model": "m", "url": "` + url + `", "window": 64000, "price": {"input": 1, "output": 5}}}`
}

// Both backends, from the settings to the store: a good reply is published, and each
// bad one leaves nothing but its verdict.
func TestSlow_BothBackends(t *testing.T) {
	for _, backend := range []string{backendAnthropic, backendOpenAI} {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			t.Run("good", func(t *testing.T) {
				t.Parallel()
				home := t.TempDir()
				url, asked := apiServer(t, func(_ int, prompt string) (int, string) {
					return 200, "Here you are:\n```xml\n" + wellWritten(prompt) + "```"
				})
				configure(t, home, settingsFor(backend, url))
				h := startProgram(t, home, nil)
				h.initialize(home, `{}`)
				st := h.settled()
				if n := grounded(h.served()); n == 0 || !strings.Contains(st.Historian, "good") || asked.Load() == 0 {
					t.Errorf("%d compartments of a model; %s", n, st.Historian)
				}
				for _, c := range calls(t, home) {
					if c.Verdict != compartments.CallGood || c.Cost != 1500 || c.Answered != "m" || c.Estimated {
						t.Errorf("%+v", c)
					}
				}
			})
			for name, tc := range map[string]struct {
				status int
				text   string
				want   compartments.CallVerdict
				most   int64
			}{
				"refusal":       {200, "I'm sorry, but I can't help with that request.", compartments.CallRefusal, 3},
				"nonsense":      {200, "The work went well.", compartments.CallInvalid, 8},
				"unknown model": {404, `{"error":{"message":"The model m does not exist","code":"model_not_found"}}`, compartments.CallUnknownModel, 1},
				"no key":        {401, `{"error":{"message":"no"}}`, compartments.CallAuth, 1},
				"rate limit":    {429, `{"error":{"message":"slow down"}}`, compartments.CallRateLimit, 1},
			} {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					home := t.TempDir()
					url, asked := apiServer(t, func(int, string) (int, string) { return tc.status, tc.text })
					configure(t, home, settingsFor(backend, url))
					h := startProgram(t, home, nil)
					h.initialize(home, `{}`)
					st := h.settled()
					served := h.served()
					if grounded(served) > 0 || len(served) == 0 {
						t.Errorf("%d of %d compartments are a model's", grounded(served), len(served))
					}
					if n := asked.Load(); n == 0 || n > tc.most || !strings.Contains(st.Historian, string(tc.want)) {
						t.Errorf("asked %d times; %s", n, st.Historian)
					}
					for _, c := range calls(t, home) {
						if c.Verdict != tc.want {
							t.Errorf("%+v", c)
						}
					}
					if tc.want == compartments.CallUnknownModel {
						h.request(26) // and it is not asked again
						said := strings.Join(h.notices(), "|")
						if asked.Load() != tc.most || !strings.Contains(said, `historian: `) || !strings.Contains(said, `"m"`) {
							t.Errorf("asked %d times; told %s", asked.Load(), said)
						}
					}
				})
			}
		})
	}
}

// TestSlow_NoRequestWaits: the host's model never answers, and every request is
// answered all the same, as the order of what went over the wire shows.
func TestSlow_NoRequestWaits(t *testing.T) {
	home := t.TempDir()
	configure(t, home, `{"writeBehind": 1000, "historian": "host"}`)
	h := startProgram(t, home, nil)
	asked, never := make(chan struct{}, 100), make(chan struct{})
	defer close(never)
	h.generate = func(map[string]any) (result, failure any) {
		asked <- struct{}{}
		<-never
		return nil, map[string]any{"code": 1, "message": "too late"}
	}
	h.initialize(home, `{}`)
	h.request(24)
	<-asked
	for n := 25; n < 60; n++ { // past what fits, so that folds are forced
		h.request(n)
	}
	h.mu.Lock()
	trace := strings.Join(h.trace, " ")
	h.mu.Unlock()
	before, behind, found := strings.Cut(trace, "host/generate")
	if !found || strings.Count(behind, "session/transform!") < 35 || strings.Contains(behind, "host/generate") || strings.Contains(before, "host/generate") {
		t.Errorf("the order was %s", trace)
	}
	if st := h.status(); !strings.Contains(st.Historian, "host: asking host for messages") {
		t.Error(st.Historian)
	}
}

// TestSlow_HostFailures: what a host says of a failure is its verdict.
func TestSlow_HostFailures(t *testing.T) {
	home := t.TempDir()
	configure(t, home, `{"writeBehind": 1000, "historian": [{"backend": "host", "model": "p/none"}, "host"]}`)
	h := startProgram(t, home, nil)
	var mu sync.Mutex
	var sessions []any
	h.generate = func(params map[string]any) (result, failure any) {
		mu.Lock()
		defer mu.Unlock()
		sessions = append(sessions, params["sessionID"])
		if params["model"] == "p/none" {
			return nil, map[string]any{"code": -32000, "message": "there is no model p/none", "data": map[string]any{"verdict": "unknown-model"}}
		}
		return map[string]any{"text": wellWritten(params["prompt"].(string)), "finish": "stop", "model": "p/m", "cost": 77,
			"usage": map[string]any{"input": 900, "output": 90, "cache": map[string]any{"read": 10}}}, nil
	}
	h.initialize(home, `{}`)
	st := h.settled()
	if grounded(h.served()) == 0 || !strings.Contains(st.Historian, "p/none") {
		t.Errorf("%s", st.Historian)
	}
	mu.Lock()
	for _, id := range sessions {
		if id != drivenSession {
			t.Errorf("asked for session %v", id)
		}
	}
	mu.Unlock()
	good, unknown := 0, 0
	for _, c := range calls(t, home) {
		switch c.Verdict {
		case compartments.CallGood:
			good++
			if c.Cost != 77 || c.Answered != "p/m" || c.Usage.CacheRead != 10 {
				t.Errorf("%+v", c)
			}
		case compartments.CallUnknownModel:
			unknown++
		}
	}
	if good == 0 || unknown != 1 {
		t.Errorf("%d good calls, %d of the unknown model", good, unknown)
	}
	out := ctxplugin(t, exitOK, "historian", "--db", drivenDB(home))
	if !strings.Contains(out, "resting") || !strings.Contains(out, "unknown-model") {
		t.Error(out)
	}
	if out = ctxplugin(t, exitOK, "historian", "clear", "--db", drivenDB(home)); !strings.Contains(out, "of 1 model are") {
		t.Error(out)
	}
	var doc map[string]any
	if err := json.Unmarshal([]byte(ctxplugin(t, exitOK, "historian", "--json", "--db", drivenDB(home))), &doc); err != nil || len(doc["resting"].([]any)) != 0 {
		t.Errorf("%v, %v", doc, err)
	}
}

// TestSlow_Killed: a process that is killed between the reply and its commit, or
// just after, leaves no half compartment, no lease that stays, and no range that is
// paid for again once it is stored.
func TestSlow_Killed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the database is opened beside the process")
	}
	home := t.TempDir()
	answered := make(chan struct{}, 100)
	var hold atomic.Pointer[func()]
	url, asked := apiServer(t, func(_ int, prompt string) (int, string) {
		if f := hold.Swap(nil); f != nil {
			(*f)()
		}
		answered <- struct{}{}
		return 200, wellWritten(prompt)
	})
	configure(t, home, settingsFor(backendOpenAI, url))
	start := func() *driven {
		h := startProgram(t, home, nil)
		h.initialize(home, `{}`)
		return h
	}

	// Between reply and commit: the database is locked while the reply goes out.
	h := start()
	h.request(2)
	db := rawDB(t, home)
	exec := func(query string) {
		t.Helper()
		if _, err := db.Exec(query); err != nil {
			t.Fatal(err)
		}
	}
	lock := func() { exec(`BEGIN IMMEDIATE`) }
	hold.Store(&lock)
	h.request(24)
	<-answered
	h.kill()
	exec(`ROLLBACK`)
	if served := h.served(); grounded(served) > 0 {
		t.Fatalf("%d compartments of a model are stored", grounded(served))
	}
	list := calls(t, home)
	if len(list) != 1 || list[0].Verdict != compartments.CallAsked || list[0].Cost == 0 {
		t.Fatalf("the ledger has %+v", list)
	}
	var until int64
	if err := db.QueryRow(`SELECT until FROM leases`).Scan(&until); err != nil || until > time.Now().UnixMilli()+60_000 {
		t.Fatalf("the lease of the dead process ends at %d, %v", until, err)
	}

	// Another process does not write beside it, and does when the lease has ended.
	h = start()
	h.request(24)
	if st := h.status(); asked.Load() != 1 {
		t.Fatalf("asked under the lease of another: %s", st.Historian)
	}
	exec(`UPDATE leases SET until = 1`)
	h.request(25)
	<-answered
	for grounded(h.served()) == 0 {
		time.Sleep(20 * time.Millisecond) // the test's own time limit ends this
	}
	h.kill() // just after the commit
	first := h.served()
	paid := map[compartments.Hash]int{}
	for _, c := range calls(t, home) {
		if c.Verdict == compartments.CallGood {
			paid[c.Source]++
		}
	}

	exec(`UPDATE leases SET until = 1`)
	h = start()
	h.settled()
	served := h.served()
	for i := range first {
		found := false
		for j := range served {
			found = found || served[j].ID == first[i].ID && served[j].SourceHash == first[i].SourceHash
		}
		if !found && first[i].Strategy == compartments.StrategyGrounded {
			t.Errorf("compartment %d-%d is gone", first[i].First, first[i].Last)
		}
	}
	for _, c := range calls(t, home) {
		if n := paid[c.Source]; n > 0 && c.Verdict == compartments.CallGood {
			if paid[c.Source]--; n == 0 {
				t.Errorf("messages %d-%d were paid for again", c.First, c.Last)
			}
		}
	}
	for source, n := range paid {
		if n > 0 {
			t.Errorf("a call for %x is missing", source[:4])
		}
	}
	seen := map[compartments.Ordinal]bool{}
	for i := range served {
		for _, m := range served[i].Members {
			if seen[m] {
				t.Errorf("message %d is in two compartments", m)
			}
			seen[m] = true
		}
	}
}
