package rpc

import (
	"bytes"
	"io"
)

// startBytes is how much of an over-long line is kept to find its id in.
const startBytes = 4096

// tooLong is the error of a line over the cap; the line has been skipped.
type tooLong struct {
	start []byte // its first bytes
}

func (tooLong) Error() string { return "the line is over the cap" }

// lines cuts a byte stream into lines. It holds one fixed buffer and, while a
// line is longer than that, the pieces of that line up to the cap.
type lines struct {
	r          io.Reader
	max        int // bytes of a line, without its end
	buf        []byte
	start, end int // what of buf has been read and not given out
	err        error
}

func newLines(r io.Reader, max int) *lines {
	return &lines{r: r, max: max, buf: make([]byte, 64<<10)}
}

// next returns the next line without its end, in memory of its own. A last line
// without end counts as one. The error is that of the reader, or tooLong, after
// which next may be called again.
func (l *lines) next() ([]byte, error) {
	var pieces [][]byte
	size := 0
	skipping := false
	for {
		piece := l.buf[l.start:l.end]
		at := bytes.IndexByte(piece, '\n')
		if at >= 0 {
			piece = piece[:at]
			l.start += at + 1
		} else {
			l.start = l.end
		}
		size += len(piece)
		switch {
		case skipping:
		case size > l.max:
			skipping = true
			head := make([]byte, 0, startBytes)
			for _, p := range append(pieces, piece) {
				head = append(head, p[:min(len(p), startBytes-len(head))]...)
			}
			pieces = [][]byte{head}
		case len(piece) > 0:
			pieces = append(pieces, bytes.Clone(piece))
		}
		if at < 0 {
			if l.fill() {
				continue
			}
			if size == 0 {
				return nil, l.err
			}
		}
		if skipping {
			return nil, tooLong{pieces[0]}
		}
		line := join(pieces, size)
		return bytes.TrimSuffix(line, []byte{'\r'}), nil
	}
}

// fill reads more and reports whether there was any.
func (l *lines) fill() bool {
	for l.err == nil {
		n, err := l.r.Read(l.buf)
		l.start, l.end, l.err = 0, n, err
		if n > 0 {
			return true
		}
	}
	l.start, l.end = 0, 0
	return false
}

func join(pieces [][]byte, size int) []byte {
	if len(pieces) == 1 {
		return pieces[0]
	}
	out := make([]byte, 0, size)
	for _, p := range pieces {
		out = append(out, p...)
	}
	return out
}
