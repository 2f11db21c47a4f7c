package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"ctxplugin/rpc"
)

// serveCommand speaks the protocol.
type serveCommand struct {
	DB filePath `name:"db" placeholder:"FILE" help:"Keep sessions in FILE."`
	// ByRule asks no model, whatever the settings say: replay starts it so.
	ByRule bool `name:"by-rule" hidden:""`
}

// parentPoll is how often the parent is looked for. The end of stdin tells of its
// death first, unless another process holds the other end open too.
const parentPoll = time.Second

// Run implements the command. It returns within two seconds of the end of stdin,
// the parent's death or a signal.
func (s *serveCommand) Run(p *program) error {
	signal.Ignore(syscall.SIGPIPE) // or a closed stdout would kill the process before it is safe
	ends := []os.Signal{syscall.SIGTERM, syscall.SIGHUP}
	if isTerminal(p.stdin) {
		ends = append(ends, os.Interrupt)
	} else {
		signal.Ignore(os.Interrupt) // typed at the host, for the host
	}
	ctx, stop := signal.NotifyContext(p.ctx, ends...)
	defer stop()
	ctx, orphaned := context.WithCancel(ctx)
	defer orphaned()
	go watchParent(ctx, os.Getppid, parentPoll, orphaned)

	p.byRule = s.ByRule
	c, err := p.readConfig()
	if err != nil {
		return err
	}
	c.overrideDatabase(s.DB)
	log, logFile := openLog(p.env.folders(), c.LogLevel)
	defer logFile.Close()
	for _, w := range c.warnings {
		log.Warn("settings", "what", w)
	}
	host := rpc.NewHost()
	return rpc.Serve(ctx, rpc.Config{
		In: p.stdin, Out: p.stdout, Host: host, Sessions: newService(c, log, host), Name: "ctxplugin", Version: versionName(), Log: log,
	})
}

// overrideDatabase takes the flag --db, if it was given.
func (c *config) overrideDatabase(path filePath) {
	if path != "" {
		c.Database = string(path)
		c.sources["database"] = "--db"
	}
}

// watchParent calls orphaned when the parent process is no longer the one that it
// was, and returns then or when ctx ends.
func watchParent(ctx context.Context, parent func() int, every time.Duration, orphaned func()) {
	first := parent()
	if first <= 1 || runtime.GOOS == "windows" { // there a parent's number stays when it is gone
		return
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if parent() != first {
				orphaned()
				return
			}
		}
	}
}

func isTerminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
