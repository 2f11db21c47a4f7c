package models_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ctxplugin/compartments"
	"ctxplugin/historian"
	"ctxplugin/models"
)

const key = "key-that-nobody-may-see-3f9a"

// api is one of the two, as the tests see it.
type api struct {
	name  string
	model func(models.Endpoint) historian.Model
	path  string
	key   func(http.Header) string
	// say is the body of an answer with a text and a reason to stop.
	say func(text string, finish historian.Finish) string
	// call is the body of an answer that calls a tool.
	call string
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

var apis = []api{
	{
		name: "anthropic", model: models.Anthropic, path: "/v1/messages",
		key: func(h http.Header) string { return h.Get("X-Api-Key") },
		say: func(text string, finish historian.Finish) string {
			why := map[historian.Finish]string{historian.FinishStop: "end_turn", historian.FinishLength: "max_tokens", historian.FinishRefusal: "refusal", historian.FinishOther: "pause_turn"}[finish]
			content := `[{"type":"thinking","thinking":"hm","signature":"x"}]`
			if text != "" {
				content = `[{"type":"text","text":` + quote(text) + `}]`
			}
			return `{"id":"msg_1","type":"message","role":"assistant","model":"m-2","content":` + content + `,"stop_reason":"` + why +
				`","stop_sequence":null,"usage":{"input_tokens":100,"output_tokens":20,"cache_read_input_tokens":7,"cache_creation_input_tokens":3}}`
		},
		call: `{"id":"msg_1","type":"message","role":"assistant","model":"m-2","content":[{"type":"tool_use","id":"t1","name":"read","input":{"path":"a"}}],"stop_reason":"tool_use","usage":{"input_tokens":100,"output_tokens":20}}`,
	},
	{
		name: "openai", model: models.OpenAI, path: "/v1/chat/completions",
		key: func(h http.Header) string { return strings.TrimPrefix(h.Get("Authorization"), "Bearer ") },
		say: func(text string, finish historian.Finish) string {
			why := map[historian.Finish]string{historian.FinishStop: "stop", historian.FinishLength: "length", historian.FinishRefusal: "content_filter", historian.FinishOther: "whatever"}[finish]
			message := `{"role":"assistant","content":null,"reasoning_content":"hm"}`
			if text != "" {
				message = `{"role":"assistant","content":` + quote(text) + `}`
			}
			return `{"id":"c1","object":"chat.completion","created":1,"model":"m-2","choices":[{"index":0,"message":` + message + `,"finish_reason":"` + why +
				`"}],"usage":{"prompt_tokens":110,"completion_tokens":25,"total_tokens":135,"cost":0.00125,"prompt_tokens_details":{"cached_tokens":10},"completion_tokens_details":{"reasoning_tokens":5}}}`
		},
		call: `{"id":"c1","object":"chat.completion","model":"m-2","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"function","function":{"name":"read","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":110,"completion_tokens":25}}`,
	},
}

// asked is what a server was asked.
type asked struct {
	calls atomic.Int64
	body  map[string]any
	path  string
	key   string
}

// serve starts a server that answers everything by answer, and a model that asks it.
func (a *api) serve(t *testing.T, options map[string]any, answer http.HandlerFunc) (historian.Model, *asked) {
	t.Helper()
	seen := &asked{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.calls.Add(1)
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		seen.body, seen.path, seen.key = nil, r.URL.Path, a.key(r.Header)
		if err := json.Unmarshal(body, &seen.body); err != nil {
			t.Errorf("the request %q: %v", body, err)
		}
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	url := server.URL
	if a.name == "openai" {
		url += "/v1"
	}
	return a.model(models.Endpoint{URL: url, Key: key, Options: options}), seen
}

func says(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

var temperature = 0.25

func request() historian.Request {
	return historian.Request{Model: "m", System: "You write.", Prompt: "[1] U: go", MaxTokens: 900, Temperature: &temperature}
}

func each(t *testing.T, test func(*testing.T, *api)) {
	for i := range apis {
		t.Run(apis[i].name, func(t *testing.T) {
			t.Parallel()
			test(t, &apis[i])
		})
	}
}

// The request is what was asked for, without tools, and options are added to it.
func TestGenerate_Request(t *testing.T) {
	each(t, func(t *testing.T, a *api) {
		model, seen := a.serve(t, map[string]any{"reasoning_effort": "low", "a.b": map[string]any{"c": true}}, says(200, a.say("fine", historian.FinishStop)))
		reply, err := model.Generate(t.Context(), request())
		if err != nil {
			t.Fatal(err)
		}
		if reply.Text != "fine" || reply.Finish != historian.FinishStop || reply.Model != "m-2" || reply.ToolCall {
			t.Errorf("%+v", reply)
		}
		if in := reply.Usage.InputSide(); in != 110 || reply.Usage.Output != 20 {
			t.Errorf("%+v", reply.Usage)
		}
		if a.name == "openai" && (reply.Cost != 1250 || reply.Usage.Reasoning != 5 || reply.Usage.CacheRead != 10) {
			t.Errorf("%+v", reply)
		}
		if seen.path != a.path || seen.key != key || seen.calls.Load() != 1 {
			t.Errorf("%s with %q", seen.path, seen.key)
		}
		text := fmt.Sprint(seen.body)
		for _, want := range []string{"model:m", "You write.", "[1] U: go", "max_tokens:900", "temperature:0.25", "reasoning_effort:low", "a.b:map[c:true]"} {
			if !strings.Contains(text, want) {
				t.Errorf("the request lacks %q: %s", want, text)
			}
		}
		for name := range seen.body {
			if strings.Contains(name, "tool") || strings.Contains(name, "function") || name == "stream" {
				t.Errorf("the request has %s", name)
			}
		}
	})
}

// What was answered is a reply, whatever it is worth.
func TestGenerate_Replies(t *testing.T) {
	each(t, func(t *testing.T, a *api) {
		for name, tc := range map[string]struct {
			body string
			want historian.Reply
		}{
			"cut":            {a.say("half", historian.FinishLength), historian.Reply{Text: "half", Finish: historian.FinishLength}},
			"refused":        {a.say("I can't", historian.FinishRefusal), historian.Reply{Text: "I can't", Finish: historian.FinishRefusal}},
			"other":          {a.say("pause", historian.FinishOther), historian.Reply{Text: "pause", Finish: historian.FinishOther}},
			"reasoning only": {a.say("", historian.FinishStop), historian.Reply{Finish: historian.FinishStop, Reasoning: true}},
			"tool call":      {a.call, historian.Reply{Finish: historian.FinishTool, ToolCall: true}},
		} {
			model, seen := a.serve(t, nil, says(200, tc.body))
			reply, err := model.Generate(t.Context(), request())
			reasoning := reply.Reasoning == tc.want.Reasoning || a.name == "openai"
			if err != nil || reply.Text != tc.want.Text || reply.Finish != tc.want.Finish || reply.ToolCall != tc.want.ToolCall || !reasoning {
				t.Errorf("%s: %+v, %v", name, reply, err)
			}
			if seen.calls.Load() != 1 {
				t.Errorf("%s: %d requests", name, seen.calls.Load())
			}
		}
	})
}

func TestOpenAI_Thought(t *testing.T) {
	a := &apis[1]
	for body, want := range map[string]historian.Reply{
		"\n<think>which?\n</think>\n<compartment>": {Text: "\n<compartment>", Reasoning: true},
		"<think>which? and":                        {Reasoning: true},
		"about <think> tags":                       {Text: "about <think> tags"},
	} {
		model, _ := a.serve(t, nil, says(200, strings.Replace(a.say(body, historian.FinishStop), `"reasoning_tokens":5`, `"reasoning_tokens":0`, 1)))
		if reply, err := model.Generate(t.Context(), request()); err != nil || reply.Text != want.Text || reply.Reasoning != want.Reasoning {
			t.Errorf("%q: %+v, %v", body, reply, err)
		}
	}
	refusal := `{"choices":[{"message":{"role":"assistant","content":null,"refusal":"I won't."},"finish_reason":"stop"}]}`
	model, _ := a.serve(t, nil, says(200, refusal))
	if reply, err := model.Generate(t.Context(), request()); err != nil || reply.Finish != historian.FinishRefusal {
		t.Errorf("%+v, %v", reply, err)
	}
}

// What was not answered is a failure with its verdict, after one request, and no
// text of it holds the key.
func TestGenerate_Failures(t *testing.T) {
	failed := func(message, code string) string {
		return `{"type":"error","error":{"type":"` + code + `","code":"` + code + `","message":` + quote(message) + `}}`
	}
	for name, tc := range map[string]struct {
		answer http.HandlerFunc
		want   compartments.CallVerdict
		after  time.Duration
		text   string
	}{
		"no key":          {says(401, failed("Incorrect API key provided: "+key, "invalid_api_key")), compartments.CallAuth, 0, "key"},
		"no permission":   {says(403, "<html>forbidden"), compartments.CallAuth, 0, ""},
		"no credit":       {says(429, failed("You exceeded your quota", "insufficient_quota")), compartments.CallAuth, 0, ""},
		"credit":          {says(400, failed("Your credit balance is too low", "invalid_request_error")), compartments.CallAuth, 0, ""},
		"no model":        {says(404, failed("model: m", "not_found_error")), compartments.CallUnknownModel, 0, `"m"`},
		"no such model":   {says(400, failed("m is not a valid model ID", "400")), compartments.CallUnknownModel, 0, `"m"`},
		"too long":        {says(400, failed("prompt is too long: 9 > 8", "invalid_request_error")), compartments.CallTooLong, 0, ""},
		"too long too":    {says(400, failed("This model's maximum context length is 8", "context_length_exceeded")), compartments.CallTooLong, 0, ""},
		"option":          {says(400, failed("reasoning_effort: unknown", "invalid_request_error")), compartments.CallRequest, 0, "reasoning_effort"},
		"rate":            {says(429, failed("slow down", "rate_limit_error"), "Retry-After", "17"), compartments.CallRateLimit, 17 * time.Second, ""},
		"rate in ms":      {says(429, `{"error":"slow down"}`, "Retry-After-Ms", "1500", "Retry-After", "2"), compartments.CallRateLimit, 1500 * time.Millisecond, "slow down"},
		"rate, nonsense":  {says(429, "", "Retry-After", "tomorrow"), compartments.CallRateLimit, 0, ""},
		"500":             {says(500, "oops\nat line 1"), compartments.CallServer, 0, "500"},
		"overloaded":      {says(529, failed("Overloaded", "overloaded_error"), "X-Should-Retry", "true"), compartments.CallServer, 0, ""},
		"gone elsewhere":  {says(307, "", "Location", "http://127.0.0.1:1/?k="+key), compartments.CallRequest, 0, "redirects to http://127.0.0.1:1 (status 307), which is not followed"},
		"moved, nowhere":  {says(302, ""), compartments.CallRequest, 0, "redirects (status 302)"},
		"error in a 200":  {says(200, `{"error":{"message":"Provider returned error","code":502}}`), compartments.CallServer, 0, "Provider"},
		"limit in a 200":  {says(200, `{"error":{"message":"slow","code":429}}`), compartments.CallRateLimit, 0, ""},
		"another API":     {says(200, `{"hello":"world"}`), compartments.CallRequest, 0, ""},
		"a page":          {says(200, "<html>welcome", "Content-Type", "text/html"), compartments.CallRequest, 0, ""},
		"half an object":  {says(200, `{"choices":[{"mess`), compartments.CallRequest, 0, ""},
		"null":            {says(200, `null`), compartments.CallRequest, 0, ""},
		"far too much":    {says(200, `{"a":"`+strings.Repeat("x", 5<<20)), compartments.CallRequest, 0, ""},
		"a broken answer": {broken, compartments.CallNetwork, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, a *api) {
				model, seen := a.serve(t, nil, tc.answer)
				reply, err := model.Generate(t.Context(), request())
				var f *historian.Failure
				if !errors.As(err, &f) {
					t.Fatalf("%+v, %v", reply, err)
				}
				if f.Verdict != tc.want || f.RetryAfter != tc.after || !strings.Contains(f.Text, tc.text) {
					t.Errorf("%s after %v: %s", f.Verdict, f.RetryAfter, f.Text)
				}
				said := fmt.Sprintf("%v %+v %v", err, f, f.Err)
				if strings.Contains(said, key) || strings.Contains(f.Text, "\n") || len(f.Text) > 500 || f.Text == "" {
					t.Errorf("%s", said)
				}
				if seen.calls.Load() != 1 {
					t.Errorf("%d requests", seen.calls.Load())
				}
			})
		})
	}
}

// TestKey: whoever repeats a key, whole or in pieces and however written, no text of
// ours does.
func TestKey(t *testing.T) {
	for name, body := range map[string]string{
		"in capitals":      "bad key " + strings.ToUpper(key),
		"without its end":  "bad key " + key[:len(key)-5] + "...",
		"without a prefix": "bad key " + key[4:],
		"escaped":          "<title>" + strings.ReplaceAll(key, "-", "&#45;") + "</title>",
		"in an address":    "see /login?key=" + strings.ReplaceAll(key, "-", "%2D"),
		"twice in a row":   key + key,
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, a *api) {
				for _, answer := range []http.HandlerFunc{says(400, body, "Content-Type", "text/plain"), says(500, `{"error":{"message":`+quote(body)+`}}`), says(200, `{"error":{"message":`+quote(body)+`}}`)} {
					model, _ := a.serve(t, nil, answer)
					_, err := model.Generate(t.Context(), request())
					if err == nil {
						t.Fatal("it was answered")
					}
					low := strings.ToLower(err.Error())
					for _, piece := range []string{"that-nobody", "nobody-may", "may-see-3"} {
						if strings.Contains(low, piece) {
							t.Errorf("%q is in %s", piece, low)
						}
					}
				}
			})
		})
	}
	// Who answered is a foreign text too.
	each(t, func(t *testing.T, a *api) {
		body := strings.Replace(a.say("fine", historian.FinishStop), `"m-2"`, quote(key+"\x1b[31m\n"+strings.Repeat("z", 5000)), 1)
		model, _ := a.serve(t, nil, says(200, body))
		reply, err := model.Generate(t.Context(), request())
		if err != nil || len(reply.Model) > 300 || strings.Contains(reply.Model, key) || strings.ContainsAny(reply.Model, "\x1b\n") {
			t.Errorf("%q, %v", reply.Model, err)
		}
	})
}

// TestOpenAI_Pieces: some servers answer in a list of pieces.
func TestOpenAI_Pieces(t *testing.T) {
	model, _ := apis[1].serve(t, nil, says(200, `{"model":"m-2","choices":[{"message":{"role":"assistant","content":[{"type":"text","text":"fi"},{"type":"text","text":"ne"}]},"finish_reason":"stop"}]}`))
	if reply, err := model.Generate(t.Context(), request()); err != nil || reply.Text != "fine" {
		t.Errorf("%+v, %v", reply, err)
	}
}

// TestGenerate_Pages: what a proxy or another server answers for people is told in a
// few words, without its markup and without the words of a library.
func TestGenerate_Pages(t *testing.T) {
	const page = "\ufeff<!DOCTYPE html>\n<HTML><head><meta charset=utf-8><TITLE lang=en>Bad&nbsp;gateway</TITLE></head><body style='color:red'>try later</body></html>"
	for name, tc := range map[string]struct {
		status int
		body   string
		kind   string
		want   compartments.CallVerdict
		text   string
	}{
		"a page of a proxy":         {502, page, "text/html", compartments.CallServer, "failed (status 502): a page: Bad gateway"},
		"one that asks for a login": {403, strings.Replace(page, "Bad&nbsp;gateway", "Sign in", 1), "text/html", compartments.CallAuth, "a page: Sign in"},
		"one without a title":       {503, "<html><body>no</body></html>", "text/html; charset=utf-8", compartments.CallServer, "a page instead of JSON"},
		"an answer in XML":          {500, "<?xml version='1.0'?><Error/>", "application/xml", compartments.CallServer, "a page instead of JSON"},
		"a page with success":       {200, page, "text/html", compartments.CallRequest, "answers no JSON"},
		"text with success":         {200, "fine", "text/plain", compartments.CallRequest, "answers no JSON"},
		"half an object":            {200, `{"choices":[{"mess`, "application/json", compartments.CallRequest, "answers something else than this API"},
		"far too much":              {200, `{"a":"` + strings.Repeat("x", 5<<20), "application/json", compartments.CallRequest, "bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, a *api) {
				model, _ := a.serve(t, nil, says(tc.status, tc.body, "Content-Type", tc.kind))
				_, err := model.Generate(t.Context(), request())
				var f *historian.Failure
				if !errors.As(err, &f) || f.Verdict != tc.want || !strings.Contains(f.Text, tc.text) {
					t.Fatalf("%v", err)
				}
				for _, raw := range []string{"<", "style", "expected destination", "json:", "unmarshal", "JSON input", "parsing"} {
					if strings.Contains(f.Text, raw) {
						t.Errorf("%q is in %s", raw, f.Text)
					}
				}
			})
		})
	}
}

// TestAnthropic_Base: the base is taken with its version or without.
func TestAnthropic_Base(t *testing.T) {
	for _, suffix := range []string{"", "/", "/v1", "/v1/", "/proxy/v1"} {
		path := ""
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			path = r.URL.Path
			says(200, apis[0].say("fine", historian.FinishStop))(w, r)
		}))
		if _, err := models.Anthropic(models.Endpoint{URL: server.URL + suffix}).Generate(t.Context(), request()); err != nil {
			t.Error(err)
		}
		if want := strings.TrimSuffix(strings.TrimRight(suffix, "/"), "/v1") + "/v1/messages"; path != want {
			t.Errorf("%s asks at %s, want %s", suffix, path, want)
		}
		server.Close()
	}
}

// broken closes the connection instead of answering.
func broken(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		_ = conn.Close()
	}
}

// A reply that never comes ends with the context.
func TestGenerate_Silence(t *testing.T) {
	each(t, func(t *testing.T, a *api) {
		release := make(chan struct{})
		model, _ := a.serve(t, nil, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(200)
			w.(http.Flusher).Flush()
			<-release
		})
		t.Cleanup(func() { close(release) }) // before the server is closed
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := model.Generate(ctx, request()); historian.VerdictOf(err) != compartments.CallTimeout {
			t.Error(err)
		}
		ctx, cancel = context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, cancel)
		if _, err := model.Generate(ctx, request()); historian.VerdictOf(err) != compartments.CallCancelled {
			t.Error(err)
		}
	})
}

// Nothing listens there.
func TestGenerate_NoServer(t *testing.T) {
	each(t, func(t *testing.T, a *api) {
		model := a.model(models.Endpoint{URL: "http://user:secret-word@127.0.0.1:1/v1?k=" + key})
		_, err := model.Generate(t.Context(), request())
		if historian.VerdictOf(err) != compartments.CallNetwork || strings.Contains(err.Error(), "secret-word") || strings.Contains(err.Error(), key) {
			t.Error(err)
		}
	})
}

// The libraries would read these.
func TestEnvironmentIsNotRead(t *testing.T) {
	for _, name := range []string{"ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"} {
		t.Setenv(name, "http://127.0.0.1:1/")
	}
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY"} {
		t.Setenv(name, "from-the-environment")
	}
	for i := range apis {
		a := &apis[i]
		var headers http.Header
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			headers = r.Header
			says(200, a.say("fine", historian.FinishStop))(w, r)
		}))
		if _, err := a.model(models.Endpoint{URL: server.URL}).Generate(t.Context(), request()); err != nil {
			t.Error(err)
		}
		server.Close()
		if text := fmt.Sprint(headers); strings.Contains(text, "from-the-environment") {
			t.Error(text)
		}
	}
}
