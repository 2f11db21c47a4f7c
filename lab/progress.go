package lab

import (
	"io"
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress is a bar on a terminal, or nothing.
type progress struct {
	bar *progressbar.ProgressBar // nil where there is no terminal
}

func newProgress(w io.Writer, steps int) *progress {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return &progress{}
	}
	return &progress{progressbar.NewOptions(steps, progressbar.OptionSetWriter(w), progressbar.OptionClearOnFinish(),
		progressbar.OptionShowCount(), progressbar.OptionSetWidth(30), progressbar.OptionUseANSICodes(true))}
}

func (p *progress) describe(name string) {
	if p.bar != nil {
		p.bar.Describe(name)
	}
}

// step counts one request. What the terminal cannot show is not worth an error.
func (p *progress) step() {
	if p.bar != nil {
		_ = p.bar.Add(1)
	}
}

// finish takes the bar away.
func (p *progress) finish() {
	if p.bar != nil {
		_ = p.bar.Finish()
		p.bar = nil
	}
}
