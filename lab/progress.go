package lab

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

const (
	barCells = 30 // of a whole bar
	barName  = 36 // runes of a recording's name beside it
)

// progress is a bar on a terminal, or nothing. It is a few lines of our own,
// because libraries for it link net/http or text/template into a program that
// hosts wait for at their start.
type progress struct {
	out         io.Writer // nil where there is no terminal
	name        string
	done, steps int
	shown       string // the line that stands there
}

func newProgress(w io.Writer, steps int) *progress {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return &progress{}
	}
	return &progress{out: w, steps: steps}
}

func (p *progress) describe(name string) {
	p.name = name
	p.draw()
}

// step counts one request.
func (p *progress) step() {
	p.done++
	p.draw()
}

// finish takes the bar away.
func (p *progress) finish() {
	if p.out != nil && p.shown != "" {
		p.write("")
	}
	p.out = nil
}

// draw shows the bar if it has changed by a hundredth, which is all an eye sees.
func (p *progress) draw() {
	if p.out == nil || p.steps <= 0 {
		return
	}
	percent := min(p.done, p.steps) * 100 / p.steps
	name := []rune(p.name)
	if len(name) > barName {
		name = append(name[:barName-1], '…')
	}
	full := percent * barCells / 100
	line := fmt.Sprintf("%s  [%s%s]  %d %%", string(name), strings.Repeat("=", full), strings.Repeat(" ", barCells-full), percent)
	if line != p.shown {
		p.write(line)
	}
}

// write puts a line in the place of the last one. What the terminal cannot show
// is not worth an error.
func (p *progress) write(line string) {
	p.shown = line
	_, _ = io.WriteString(p.out, "\r\x1b[K"+line)
}
