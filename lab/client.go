package lab

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"
)

// client speaks the host's side of docs/protocol.md. It is for one goroutine;
// its reader is a second one that ends when the other end closes its output.
type client struct {
	next int

	writing sync.Mutex // held for one line; answers to the other end come between ours
	out     io.WriteCloser

	mu      sync.Mutex
	waiting map[int]*pending
	arrived int   // answers so far
	ended   error // why no more answers come
	notices []string

	done chan struct{} // closed by the reader when it ends
}

// pending is a request that was sent. Its fields are set when ready is closed.
type pending struct {
	method string
	sentAt time.Time
	ready  chan struct{} // closed by the reader

	at     time.Time // of the answer
	place  int       // of the answer among all answers
	result json.RawMessage
	err    error
}

// wireError is an error that the other end answered with.
type wireError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    struct {
		Code  string `json:"code"`
		Keep  int    `json:"keep"`
		Check string `json:"check"`
	} `json:"data"`
}

func (e *wireError) Error() string {
	if e.Data.Code == "" {
		return fmt.Sprintf("error %d: %s", e.Code, e.Message)
	}
	return fmt.Sprintf("error %s: %s", e.Data.Code, e.Message)
}

// lineCap is the longest line that either end may write, in bytes.
const lineCap = 64 << 20

func newClient(in io.Reader, out io.WriteCloser) *client {
	c := &client{out: out, waiting: map[int]*pending{}, done: make(chan struct{})}
	go c.read(in)
	return c
}

// start sends a request. params is JSON.
func (c *client) start(method string, params []byte) (*pending, error) {
	c.next++
	p := &pending{method: method, ready: make(chan struct{}), sentAt: time.Now()}
	c.mu.Lock()
	if c.ended != nil {
		c.mu.Unlock()
		return nil, c.ended
	}
	c.waiting[c.next] = p
	c.mu.Unlock()
	var line bytes.Buffer
	fmt.Fprintf(&line, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", c.next, method, params)
	if err := c.write(line.Bytes()); err != nil {
		return nil, fmt.Errorf("%s: the other end closed the connection: %w", method, err)
	}
	return p, nil
}

func (c *client) write(line []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	// Who does not read for so long will not read any more.
	timer := time.AfterFunc(patience, func() { _ = c.out.Close() })
	defer timer.Stop()
	_, err := c.out.Write(line)
	return err
}

func (c *client) notify(method string, params []byte) error {
	if err := c.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"params":%s}`+"\n", method, params)); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

// wait waits for the answer of a request, but not for ever.
func (p *pending) wait(ctx context.Context) (json.RawMessage, error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.ready:
	case <-timer.C:
		return nil, fmt.Errorf("%s: no answer within %s", p.method, patience)
	case <-ctx.Done():
		return nil, fmt.Errorf("%s: no answer: %w", p.method, ctx.Err())
	}
	if p.err != nil {
		return nil, fmt.Errorf("%s: %w", p.method, p.err)
	}
	return p.result, nil
}

func (c *client) call(ctx context.Context, method string, params []byte) (json.RawMessage, error) {
	p, err := c.start(method, params)
	if err != nil {
		return nil, err
	}
	return p.wait(ctx)
}

// heard takes the notices that came since it was last called.
func (c *client) heard() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.notices
	c.notices = nil
	return n
}

func (c *client) read(in io.Reader) {
	defer close(c.done)
	r := bufio.NewReaderSize(in, 1<<20)
	for {
		line, err := readLine(r)
		if len(bytes.TrimSpace(line)) > 0 {
			if bad := c.take(line); bad != nil {
				err = bad
			}
		}
		if err != nil {
			c.end(err)
			return
		}
	}
}

func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		piece, err := r.ReadSlice('\n')
		line = append(line, piece...)
		if len(line) > lineCap {
			return nil, errors.New("a line is longer than 64 MB")
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// take handles one line. An error means that the other end broke the protocol.
func (c *client) take(line []byte) error {
	now := time.Now()
	var w struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
		Result json.RawMessage `json:"result"`
		Error  *wireError      `json:"error"`
	}
	if err := json.Unmarshal(line, &w); err != nil {
		return fmt.Errorf("stdout carries something else than the protocol: %.80q", line)
	}
	if w.Method != "" {
		return c.asked(w.ID, w.Method, w.Params)
	}
	id, err := strconv.Atoi(string(w.ID))
	c.mu.Lock()
	p := c.waiting[id]
	delete(c.waiting, id)
	c.arrived++
	place := c.arrived
	c.mu.Unlock()
	switch {
	case err != nil && w.Error != nil:
		return fmt.Errorf("it could not read a request: %w", w.Error)
	case err != nil || p == nil:
		return fmt.Errorf("it answered a request that was not made, or twice: id %s", w.ID)
	}
	p.at, p.place, p.result = now, place, w.Result
	if w.Error != nil {
		p.err = w.Error
	}
	close(p.ready)
	return nil
}

// asked answers what the plugin asks of its host: a replay has no model.
func (c *client) asked(id json.RawMessage, method string, params json.RawMessage) error {
	if method == "host/notify" {
		var n struct{ Level, Text string }
		_ = json.Unmarshal(params, &n) // a notice of another shape says nothing
		c.mu.Lock()
		c.notices = append(c.notices, n.Level+": "+n.Text)
		c.mu.Unlock()
	}
	if len(id) == 0 {
		return nil
	}
	return c.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"this host cannot do that"}}`+"\n", id))
}

func (c *client) end(err error) {
	if errors.Is(err, io.EOF) {
		err = errors.New("the other end closed the connection")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = err
	for id, p := range c.waiting {
		p.err = err
		close(p.ready)
		delete(c.waiting, id)
	}
}
