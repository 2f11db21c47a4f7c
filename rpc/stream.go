package rpc

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strconv"
	"sync"
)

// stream carries JSON texts for the JSON-RPC library, which sees only envelopes:
//
//	{"id":H,"method":"…"}   {"id":H,"result":…}   {"id":H,"error":{…}}
//
// For a request from the host H is a handle of ours, which stands for the host's
// id, and the parameters stay in frame. For a reply, and for a call of ours, the
// body was parked under a handle before and is spliced in on the way out.
//
// ReadObject is called by the library's one reader; the reader's handler takes
// the frame with taken before the next ReadObject. WriteObject and park may be
// called from any goroutine.
type stream struct {
	lines *lines
	in    io.Reader
	frame frame  // of the last ReadObject that was a request
	next  uint64 // handle of the next request

	onEnd   func()           // called once, by the reader, when the input has ended
	onStray func(why string) // called by the reader for what is dropped
	ended   bool

	mu     sync.Mutex // guards out and parked
	out    *bufio.Writer
	parked map[uint64]body
}

// body is what is spliced into an outgoing envelope.
type body struct {
	id     []byte // of a reply: the host's id, or null
	result []byte // of a reply
	err    []byte // of a reply
	params []byte // of a call or notification
}

func newStream(in io.Reader, out io.Writer, maxLine int) *stream {
	return &stream{
		lines: newLines(in, maxLine), in: in, next: 1,
		out: bufio.NewWriterSize(out, 64<<10), parked: map[uint64]body{},
	}
}

// ReadObject gives the library the envelope of the next line. A line that is no
// request comes through as one, with the fault in the frame: it must be answered
// in turn, and never by the reader itself.
func (s *stream) ReadObject(v any) error {
	into, ok := v.(json.Unmarshaler)
	if !ok {
		return fmt.Errorf("rpc: cannot read into %T", v)
	}
	for {
		line, err := s.lines.next()
		var long tooLong
		var f frame
		switch {
		case errors.As(err, &long):
			giveBack(s.lines.max)
			f = frame{id: cutStart(long.start), call: true, fault: &wireError{code: codeParse, name: "parse",
				text: fmt.Sprintf("the line is longer than %d bytes", s.lines.max)}}
		case err != nil:
			if !s.ended {
				s.ended = true
				s.onEnd()
			}
			return io.EOF
		case space(line, 0) == len(line):
			continue
		default:
			f = cut(line)
		}
		var envelope []byte
		if f.fault == nil && !f.call {
			if envelope, err = response(f); err != nil {
				s.onStray(err.Error())
				continue
			}
		} else {
			s.frame = f
			envelope = fmt.Appendf(nil, `{"id":%d,"method":"m"}`, s.next)
			s.next++
		}
		if err := into.UnmarshalJSON(envelope); err != nil {
			s.onStray(err.Error())
			continue
		}
		return nil
	}
}

// largeLine is the size from which the memory of a line is given back to the
// system at once. Sessions come in pieces of 8 MB, which are reused instead.
const largeLine = 16 << 20

// giveBack returns memory to the system after a line of so many bytes: the
// collector alone would keep it for minutes while the host is idle.
func giveBack(line int) {
	if line > largeLine {
		debug.FreeOSMemory()
	}
}

// response rebuilds the envelope of a reply of the host such that the library
// cannot choke on it.
func response(f frame) ([]byte, error) {
	id, err := strconv.ParseUint(string(f.id), 10, 64)
	if err != nil {
		return nil, errors.New("a reply that answers no call of ours")
	}
	envelope := fmt.Appendf(nil, `{"id":%d,`, id)
	if f.err == nil {
		envelope = append(append(envelope, `"result":`...), f.result...)
		return append(envelope, '}'), nil
	}
	var e struct {
		Code    json.RawMessage `json:"code"`
		Message json.RawMessage `json:"message"`
		Data    json.RawMessage `json:"data"`
	}
	_ = json.Unmarshal(f.err, &e) // an error of a surprising shape is still an error
	code, _ := strconv.ParseInt(string(e.Code), 10, 64)
	message := unquote(e.Message)
	if message == "" {
		message = "the host gave no reason"
	}
	envelope = fmt.Appendf(envelope, `"error":{"code":%d,"message":`, code)
	envelope = appendJSON(envelope, message)
	if len(e.Data) > 0 && len(e.Data) <= errorData {
		envelope = append(append(envelope, `,"data":`...), e.Data...)
	}
	return append(envelope, "}}"...), nil
}

// errorData is the most that is read of what a host says besides the text of an
// error, in bytes.
const errorData = 4096

// park keeps what WriteObject will splice into the envelope that carries handle.
func (s *stream) park(handle uint64, b body) {
	s.mu.Lock()
	s.parked[handle] = b
	s.mu.Unlock()
}

// unpark forgets a body that could not be sent.
func (s *stream) unpark(handle uint64) {
	s.mu.Lock()
	delete(s.parked, handle)
	s.mu.Unlock()
}

// WriteObject writes one line: the library's envelope with the parked body.
func (s *stream) WriteObject(v any) error {
	m, ok := v.(json.Marshaler)
	if !ok {
		return fmt.Errorf("rpc: cannot write %T", v)
	}
	envelope, err := m.MarshalJSON()
	if err != nil {
		return fmt.Errorf("rpc: %w", err)
	}
	f := cut(envelope)
	key := f.id
	if f.call {
		key = f.params.raw
	}
	handle, err := strconv.ParseUint(string(key), 10, 64)
	if err != nil {
		return fmt.Errorf("rpc: envelope without handle: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.parked[handle]
	if !ok {
		return fmt.Errorf("rpc: nothing parked under handle %d", handle)
	}
	delete(s.parked, handle)
	s.write(`{"jsonrpc":"2.0"`)
	switch {
	case f.call:
		if f.id != nil {
			s.write(`,"id":`)
			s.splice(f.id)
		}
		s.write(`,"method":`)
		s.splice(appendJSON(nil, f.method))
		s.write(`,"params":`)
		s.splice(b.params)
	case b.err != nil:
		s.write(`,"id":`)
		s.splice(b.id)
		s.write(`,"error":`)
		s.splice(b.err)
	default:
		s.write(`,"id":`)
		s.splice(b.id)
		s.write(`,"result":`)
		s.splice(b.result)
	}
	s.write("}\n")
	return s.out.Flush() // an error of any write before sticks
}

func (s *stream) write(text string) { _, _ = s.out.WriteString(text) }

// splice writes JSON as it is, except that a line feed between its tokens becomes
// a space: inside a JSON string there is none.
func (s *stream) splice(raw []byte) {
	for {
		at := bytes.IndexByte(raw, '\n')
		if at < 0 {
			_, _ = s.out.Write(raw)
			return
		}
		_, _ = s.out.Write(raw[:at])
		_ = s.out.WriteByte(' ')
		raw = raw[at+1:]
	}
}

// Close ends reading, where the input can be closed.
func (s *stream) Close() error {
	if c, ok := s.in.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
