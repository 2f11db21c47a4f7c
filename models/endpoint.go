package models

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Endpoint is where a model is reached.
type Endpoint struct {
	URL string // base of the API, such as http://127.0.0.1:11434/v1; empty is the vendor's own
	Key string // may be empty for servers that ask for none
	// Options are further members of the request's JSON object, as the endpoint
	// names them: reasoning_effort, thinking, top_p.
	Options map[string]any
}

// Reserved are the members of a request that no option may set: they would change
// what is asked, whom, or how it is answered.
var Reserved = []string{"model", "messages", "system", "tools", "tool_choice", "functions", "function_call", "stream", "max_tokens", "max_completion_tokens", "temperature", "n"}

// answerBytes is the most of an answer that is read: some 50 times the longest
// reply that is asked for.
const answerBytes = 4 << 20

// client is the HTTP client of one model. The context of a call bounds it, so it
// has no time limit of its own.
func client() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 1
	transport.IdleConnTimeout = 30 * time.Second
	transport.MaxResponseHeaderBytes = 1 << 16
	return &http.Client{
		Transport: bounded{transport},
		// A key would go along to wherever the endpoint points.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// bounded fails answers that are too long, or that point elsewhere.
type bounded struct{ next http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := b.next.RoundTrip(r)
	if err == nil && response.StatusCode/100 == 3 {
		_ = response.Body.Close() // nothing of it is wanted
		return nil, &redirect{response.StatusCode, target(response)}
	}
	if err == nil {
		response.Body = &boundedBody{response.Body, answerBytes}
	}
	return response, err
}

// redirect is an answer that points elsewhere.
type redirect struct {
	status int
	to     string // the place alone: what stands behind it may hold anything
}

func (r *redirect) Error() string {
	if r.to == "" {
		return fmt.Sprintf("redirects (status %d)", r.status)
	}
	return fmt.Sprintf("redirects to %s (status %d)", r.to, r.status)
}

// target is the scheme and host to which an answer points, "" if it names none.
func target(response *http.Response) string {
	to, err := response.Location()
	if err != nil || to.Host == "" {
		return ""
	}
	return to.Scheme + "://" + to.Host
}

var errTooLong = errors.New("the answer is too long")

type boundedBody struct {
	io.ReadCloser
	left int
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLong
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
