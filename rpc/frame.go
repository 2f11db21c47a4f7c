package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// member is one member of a request's parameters. value aliases the line.
type member struct {
	name  string
	value []byte
}

// maxMembers is the most members the parameters of one request may have.
const maxMembers = 1024

// frame is one line, cut but not decoded. All slices alias the line, which is
// never written again.
type frame struct {
	id     []byte // JSON as it came; nil: there is none
	method string
	call   bool // method is there: a request or a notification
	params params
	result []byte // of a response
	err    []byte // of a response
	size   int    // bytes of the line

	// fault is why the line is no request; it is answered with id, or null.
	fault *wireError
}

// params are the parameters of one request.
type params struct {
	raw     []byte // nil: there are none
	members []member
}

// get returns the value of a parameter, nil if it is absent or null. As with
// encoding/json the last one of several counts.
func (p params) get(name string) []byte {
	for i := len(p.members) - 1; i >= 0; i-- {
		if m := p.members[i]; m.name == name {
			if string(m.value) == "null" {
				return nil
			}
			return m.value
		}
	}
	return nil
}

var errMembers = errors.New("too many parameters")

// cut checks that a line is one JSON-RPC request, notification or response and
// finds its parts. The text is walked once. A line that is none comes back with
// a fault, and with its id if that could be told.
func cut(line []byte) frame {
	f := frame{size: len(line)}
	var version, method []byte
	i := space(line, 0)
	if i < len(line) && line[i] != '{' {
		end, err := value(line, i, 0)
		if err == nil {
			err = ending(line, end)
		}
		f.fault = notOne(line, i, err)
		return f
	}
	end, err := object(line, i, 0, func(key []byte, at int) (int, error) {
		name := unquote(key)
		if name == "params" {
			return f.params.cut(line, at)
		}
		end, err := value(line, at, 1)
		if err != nil {
			return end, err
		}
		v := line[at:end]
		switch name {
		case "jsonrpc":
			version = v
		case "id":
			f.id = v
		case "method":
			method, f.call = v, true
		case "result":
			f.result = v
		case "error":
			f.err = v
		}
		return end, nil
	})
	if err == nil {
		err = ending(line, end)
	}
	switch {
	case errors.Is(err, errMembers):
		f.fault = invalid("the parameters have more than %d members", maxMembers)
	case err != nil:
		f.id = nil
		f.fault = notOne(line, i, err)
		return f
	}
	f.check(version, method)
	return f
}

// check decides what the cut frame is.
func (f *frame) check(version, method []byte) {
	if string(f.err) == "null" && f.result != nil {
		f.err = nil // some peers send both
	}
	if !f.call && (f.result != nil || f.err != nil) {
		return // a response, whatever its id
	}
	switch {
	case f.id == nil:
	case f.id[0] != '"' && f.id[0] != '-' && (f.id[0] < '0' || f.id[0] > '9'):
		f.id = nil
		f.fault = invalid("id must be a string or a number (leave it out for a notification)")
		return
	}
	switch {
	case f.fault != nil:
	case version != nil && unquote(version) != "2.0":
		f.fault = invalid("jsonrpc must be \"2.0\"")
	case !f.call:
		f.fault = invalid("no method, no result, no error: this is neither request nor response")
	case f.result != nil || f.err != nil:
		f.fault = invalid("method together with result or error: this is neither request nor response")
	case method[0] != '"':
		f.fault = invalid("method must be a string")
	default:
		f.method = unquote(method)
	}
}

func (p *params) cut(line []byte, at int) (int, error) {
	p.members = p.members[:0]
	var end int
	var err error
	if at < len(line) && line[at] == '{' {
		end, err = object(line, at, 1, func(key []byte, at int) (int, error) {
			end, err := value(line, at, 2)
			if err != nil {
				return end, err
			}
			if len(p.members) == maxMembers {
				return end, errMembers
			}
			p.members = append(p.members, member{unquote(key), line[at:end]})
			return end, nil
		})
	} else {
		end, err = value(line, at, 1)
	}
	p.raw = line[min(at, len(line)):min(end, len(line))]
	return end, err
}

// ending reports what stands behind the one value of a line.
func ending(line []byte, end int) error {
	if i := space(line, end); i < len(line) {
		return syntax(i, "the end of the line")
	}
	return nil
}

// notOne is the fault of a line that is no object, or no JSON at all.
func notOne(line []byte, i int, err error) *wireError {
	switch {
	case header(line[i:]):
		return invalid("header lines are not served: send each JSON text as one line, without Content-Length")
	case err != nil:
		return &wireError{code: codeParse, name: "parse", text: fmt.Sprintf("the line is no JSON: %v", err)}
	case line[i] == '[':
		return invalid("batches are not served: send one request a line")
	}
	return invalid("a request is a JSON object")
}

func header(line []byte) bool {
	for _, h := range []string{"content-length:", "content-type:"} {
		if len(line) >= len(h) && bytes.EqualFold(line[:len(h)], []byte(h)) {
			return true
		}
	}
	return false
}

// cutStart finds the id in the first bytes of a line that was too long to keep,
// if it stands there before anything large.
func cutStart(start []byte) (id []byte) {
	i := space(start, 0)
	if i >= len(start) || start[i] != '{' {
		return nil
	}
	_, _ = object(start, i, 0, func(key []byte, at int) (int, error) {
		end, err := value(start, at, 1)
		if err == nil && end < len(start) && unquote(key) == "id" {
			id = start[at:end]
		}
		return end, err
	})
	if id != nil && id[0] != '"' && id[0] != '-' && (id[0] < '0' || id[0] > '9') {
		return nil
	}
	return id
}

// elements cuts an array that was checked before. It returns nil if raw is none.
func elements(raw []byte) [][]byte {
	if len(raw) == 0 || raw[0] != '[' {
		return nil
	}
	out := [][]byte{}
	if _, err := array(raw, 0, 2, func(e []byte) { out = append(out, e) }); err != nil {
		return nil
	}
	return out
}

// unquote decodes a JSON string that was checked before; anything else is "".
func unquote(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	inner := raw[1 : len(raw)-1]
	for _, c := range inner {
		if c == '\\' || c >= 0x80 {
			var s string
			if json.Unmarshal(raw, &s) != nil {
				return ""
			}
			return s
		}
	}
	return string(inner)
}
