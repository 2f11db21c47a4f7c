package rpc

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
)

func readAll(l *lines) (out []string) {
	for {
		line, err := l.next()
		var long tooLong
		switch {
		case errors.As(err, &long):
			out = append(out, "long:"+string(long.start[:min(8, len(long.start))]))
		case err != nil:
			return append(out, err.Error())
		default:
			out = append(out, string(line))
		}
	}
}

func TestLines(t *testing.T) {
	big := strings.Repeat("x", 200<<10)
	for _, tc := range []struct {
		name, in string
		max      int
		want     []string
	}{
		{"empty", "", 10, []string{"EOF"}},
		{"two", "a\nb\n", 10, []string{"a", "b", "EOF"}},
		{"no end", "a\nb", 10, []string{"a", "b", "EOF"}},
		{"carriage returns", "a\r\n\r\nb\rc\r\n", 10, []string{"a", "", "b\rc", "EOF"}},
		{"at the cap", "0123456789\n", 10, []string{"0123456789", "EOF"}},
		{"over the cap", "a\n0123456789x\nb\n", 10, []string{"a", "long:01234567", "b", "EOF"}},
		{"over the cap at the end", "0123456789x", 10, []string{"long:01234567", "EOF"}},
		{"longer than the buffer", big + "\nb\n", 1 << 20, []string{big, "b", "EOF"}},
		{"far over the cap", big + "\nb\n", 100, []string{"long:xxxxxxxx", "b", "EOF"}},
	} {
		for name, r := range map[string]io.Reader{
			"whole": strings.NewReader(tc.in), "bytes": iotest.OneByteReader(strings.NewReader(tc.in)),
			"data with error": iotest.DataErrReader(strings.NewReader(tc.in)), "halves": iotest.HalfReader(strings.NewReader(tc.in)),
		} {
			got := readAll(newLines(r, tc.max))
			if strings.Join(got, "|") != strings.Join(tc.want, "|") {
				t.Errorf("%s, %s: got %.200q", tc.name, name, got)
			}
		}
	}
}

// endless yields n bytes of one line, then a line feed and a short line.
type endless struct{ n int }

func (e *endless) Read(p []byte) (int, error) {
	if e.n <= 0 {
		if e.n < 0 {
			return 0, io.EOF
		}
		e.n--
		return copy(p, "\nshort\n"), nil
	}
	p = p[:min(len(p), e.n)]
	for i := range p {
		p[i] = 'x'
	}
	e.n -= len(p)
	return len(p), nil
}

// A line over the cap never takes more memory than the cap, and leaves none.
func TestLines_OverCapMemory(t *testing.T) {
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	const cap = 4 << 20
	before := heap()
	l := newLines(&endless{n: 64 * cap}, cap)
	_, err := l.next()
	var long tooLong
	if !errors.As(err, &long) || len(long.start) != startBytes {
		t.Fatalf("got %v", err)
	}
	if after := heap(); after > before+1<<20 {
		t.Errorf("the heap grew by %d bytes", after-before)
	}
	if line, err := l.next(); string(line) != "short" || err != nil {
		t.Errorf("after it: %q, %v", line, err)
	}
}
