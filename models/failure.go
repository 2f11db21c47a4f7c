package models

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"ctxplugin/compartments"
	"ctxplugin/historian"
)

// failing makes failures of what an endpoint said.
type failing struct {
	backend string
	url     string
	key     string
}

// detailRunes is the most of a foreign text that an error repeats.
const detailRunes = 200

// pageBytes is the most that is read of an answer with an error status that is no
// JSON.
const pageBytes = 1 << 14

// refused is what an answer with an error status means.
func (f *failing) refused(model string, status int, response *http.Response, body string, err error) *historian.Failure {
	if body == "" && response != nil && response.Body != nil { // no JSON, so the library has dropped it
		text, _ := io.ReadAll(io.LimitReader(response.Body, pageBytes)) // what can be read of it
		body = string(text)
	}
	said, code := messageOf(body)
	said = page(said)
	failure := &historian.Failure{Verdict: verdictOf(status, said, code), Err: f.hidden(err)}
	if response != nil {
		failure.RetryAfter = retryAfter(response.Header, time.Now())
	}
	where := fmt.Sprintf("%s at %s", f.backend, f.host())
	switch failure.Verdict {
	case compartments.CallAuth:
		failure.Text = fmt.Sprintf("%s does not accept the key (status %d)", where, status)
	case compartments.CallUnknownModel:
		failure.Text = fmt.Sprintf("%s has no model %q (status %d)", where, model, status)
		if !json.Valid([]byte(body)) {
			failure.Text = fmt.Sprintf("%s has no model %q, or its url is not that of the API (status %d)", where, model, status)
		}
	case compartments.CallTooLong:
		failure.Text = fmt.Sprintf("the request is too long for model %q of %s", model, where)
	case compartments.CallRateLimit:
		failure.Text = fmt.Sprintf("%s limits the rate of calls (status %d)", where, status)
	case compartments.CallServer:
		failure.Text = fmt.Sprintf("%s failed (status %d)", where, status)
	case compartments.CallTimeout:
		failure.Text = fmt.Sprintf("%s gave up (status %d)", where, status)
	default:
		failure.Text = fmt.Sprintf("%s refuses the request (status %d)", where, status)
	}
	if said = f.clean(said); said != "" {
		failure.Text += ": " + said
	}
	return failure
}

// page is the title of a body that is a page for people, such as a proxy's, and
// anything else as it is.
func page(body string) string {
	text := strings.TrimSpace(strings.TrimPrefix(body, "\ufeff"))
	low := strings.ToLower(text)
	if !strings.HasPrefix(low, "<!doctype") && !strings.HasPrefix(low, "<html") && !strings.HasPrefix(low, "<head") && !strings.HasPrefix(low, "<?xml") {
		return body
	}
	if _, rest, ok := cutFold(text, "<title"); ok {
		if _, rest, ok = strings.Cut(rest, ">"); ok {
			if title, _, ok := cutFold(rest, "</title"); ok && strings.TrimSpace(title) != "" {
				return "a page: " + html.UnescapeString(title)
			}
		}
	}
	return "a page instead of JSON"
}

// cutFold cuts a text around the first mark, in whatever case that is written.
func cutFold(text, mark string) (before, after string, found bool) {
	for i := 0; i+len(mark) <= len(text); i++ {
		if strings.EqualFold(text[i:i+len(mark)], mark) {
			return text[:i], text[i+len(mark):], true
		}
	}
	return text, "", false
}

// failed is what an error means that came without an answer.
func (f *failing) failed(ctx context.Context, err error) *historian.Failure {
	failure := &historian.Failure{Verdict: compartments.CallNetwork, Err: f.hidden(err)}
	where := fmt.Sprintf("%s at %s", f.backend, f.host())
	var syntax *json.SyntaxError
	var shape *json.UnmarshalTypeError
	var moved *redirect
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		failure.Verdict, failure.Text = compartments.CallCancelled, "given up"
	case ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded):
		failure.Verdict, failure.Text = compartments.CallTimeout, where+" did not answer in time"
	case errors.As(err, &moved):
		failure.Verdict, failure.Text = compartments.CallRequest, fmt.Sprintf("%s %s, which is not followed: set url to where the API is", where, f.clean(moved.Error()))
	case errors.Is(err, errTooLong):
		failure.Verdict, failure.Text = compartments.CallRequest, fmt.Sprintf("%s answers more than the %d bytes that a reply can have", where, answerBytes)
	case strings.Contains(err.Error(), "content-type"):
		failure.Verdict, failure.Text = compartments.CallRequest, where+" answers no JSON; a page of a proxy, or an address that is not that of this API?"
	case errors.As(err, &syntax), errors.As(err, &shape), strings.Contains(err.Error(), "parsing response json"):
		failure.Verdict, failure.Text = compartments.CallRequest, where+" answers something else than this API"
	default:
		failure.Text = where + " cannot be reached: " + f.clean(rootOf(err))
	}
	return failure
}

// foreign is an answer with a status of success that holds none: an error, or what
// another API says.
func (f *failing) foreign(body string) *historian.Failure {
	said, code := messageOf(body)
	failure := &historian.Failure{Verdict: compartments.CallRequest, Text: fmt.Sprintf("%s at %s answers something else than this API", f.backend, f.host())}
	if said != "" {
		status, err := strconv.Atoi(code)
		if err != nil {
			status = http.StatusBadGateway
		}
		failure.Verdict = verdictOf(status, said, code)
		failure.Text = fmt.Sprintf("%s at %s failed: %s", f.backend, f.host(), f.clean(said))
	}
	return failure
}

// messageOf finds the sentence and the code in the body of an error.
func messageOf(body string) (said, code string) {
	type inner struct {
		Message string          `json:"message"`
		Type    string          `json:"type"`
		Code    json.RawMessage `json:"code"`
	}
	var outer struct {
		inner
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal([]byte(body), &outer) != nil {
		return body, ""
	}
	found := outer.inner
	var text string
	if len(outer.Error) > 0 && json.Unmarshal(outer.Error, &found) != nil && json.Unmarshal(outer.Error, &text) == nil {
		found.Message = text
	}
	code = strings.Trim(string(found.Code), `"`)
	if code == "" || code == "null" {
		code = found.Type
	}
	return found.Message, code
}

// verdictOf reads a status together with what was said: servers agree on neither.
func verdictOf(status int, said, code string) compartments.CallVerdict {
	said, code = strings.ToLower(said), strings.ToLower(code)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(said, w) || strings.Contains(code, w) {
				return true
			}
		}
		return false
	}
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusPaymentRequired,
		has("insufficient_quota", "credit balance", "invalid_api_key", "api key not valid"):
		return compartments.CallAuth
	case status == http.StatusNotFound, has("model_not_found"), status == http.StatusBadRequest && strings.Contains(said, "model") && has("not found", "does not exist", "not a valid model", "unknown model"):
		return compartments.CallUnknownModel
	case status == http.StatusRequestEntityTooLarge, has("context_length_exceeded", "prompt is too long", "maximum context length", "context window"):
		return compartments.CallTooLong
	case status == http.StatusTooManyRequests:
		return compartments.CallRateLimit
	case status == http.StatusRequestTimeout:
		return compartments.CallTimeout
	case status >= 500, status == http.StatusConflict, status == http.StatusTooEarly:
		return compartments.CallServer
	}
	return compartments.CallRequest
}

// retryAfter is how long an answer asks to wait; 0 if it asks for nothing that can
// be read.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e9 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	text := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(text, 64); err == nil && s > 0 && s < 1e6 {
		return time.Duration(s * float64(time.Second))
	}
	if at, err := http.ParseTime(text); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}

// clean makes foreign text fit for one line of an error, without the key.
func (f *failing) clean(text string) string {
	text = withoutKey(text, f.key)
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	if utf8.RuneCountInString(text) > detailRunes {
		text = string([]rune(text)[:detailRunes]) + "…"
	}
	return text
}

// keyLeast is how many bytes of a key in a row are taken for a piece of it.
const keyLeast = 8

// withoutKey masks a key, and pieces of it: services repeat keys cut, in other case or
// with their signs escaped.
func withoutKey(text, key string) string {
	const mask = "[key]"
	if key == "" {
		return text
	}
	text = strings.ReplaceAll(text, key, mask)
	if len(key) < keyLeast {
		return text
	}
	low, key := asciiLower(text), asciiLower(key)
	var b strings.Builder
	for i := 0; i < len(text); {
		n := 0
		for at := 0; i+keyLeast <= len(low); {
			k := strings.Index(key[at:], low[i:i+keyLeast])
			if k < 0 {
				break
			}
			at += k
			m := keyLeast
			for at+m < len(key) && i+m < len(low) && key[at+m] == low[i+m] {
				m++
			}
			n = max(n, m)
			at++
		}
		if n == 0 {
			b.WriteByte(text[i])
			i++
			continue
		}
		b.WriteString(mask)
		i += n
	}
	return b.String()
}

// asciiLower writes the letters A to Z small, so that the text keeps its length.
func asciiLower(s string) string {
	low := []byte(s)
	for i, c := range low {
		if c >= 'A' && c <= 'Z' {
			low[i] = c | 0x20
		}
	}
	return string(low)
}

// hidden keeps what an error is, and drops what it says: the library's texts hold
// the body of the answer.
func (f *failing) hidden(err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return context.DeadlineExceeded
	}
	return nil
}

// host is the endpoint as an error names it: without path, user and query.
func (f *failing) host() string {
	u, err := url.Parse(f.url)
	if err != nil || u.Host == "" {
		return "its endpoint"
	}
	return u.Host
}

// rootOf is the innermost text of an error: the outer ones repeat the URL.
func rootOf(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}

// base ends an address with the slash that the libraries resolve paths against.
func base(address string) string {
	if !strings.HasSuffix(address, "/") {
		address += "/"
	}
	return address
}

// member is the name of a member as the libraries take it, where dots and signs
// would mean a path or a query.
func member(name string) string {
	var b strings.Builder
	for _, r := range name {
		if strings.ContainsRune(`.*?|#@!{}[]()=<>%:\`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
