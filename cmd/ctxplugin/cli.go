package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2 // wrong flags, or input that cannot be read
)

// failure is an error with the exit code it asks for.
type failure struct {
	exit int
	err  error
}

func (f *failure) Error() string { return f.err.Error() }

func (f *failure) Unwrap() error { return f.err }

func usage(format string, args ...any) error {
	return &failure{exitUsage, fmt.Errorf(format, args...)}
}

// errSaid ends a command that has said already what went wrong.
var errSaid = errors.New("said")

// program is what commands may use of the world.
type program struct {
	ctx            context.Context
	env            environment
	stdin          io.Reader
	stdout, stderr io.Writer
	configPath     string // of --config; empty: the user's own
	byRule         bool   // no model is asked, whatever the settings say
}

// environment looks up variables.
type environment []string

func (e environment) get(name string) string {
	for i := len(e) - 1; i >= 0; i-- {
		if k, v, ok := strings.Cut(e[i], "="); ok && k == name {
			return v
		}
	}
	return ""
}

// filePath is a flag that names a file; it becomes absolute. An empty one, from a
// variable that is not set perhaps, is refused instead of meaning the working folder.
type filePath string

// UnmarshalText implements encoding.TextUnmarshaler.
func (f *filePath) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return errors.New("names no file")
	}
	*f = filePath(kong.ExpandPath(string(text)))
	return nil
}

// commands is the command line.
type commands struct {
	Config filePath `placeholder:"FILE" help:"Read the settings from FILE instead of the user's configuration folder."`

	ShowVersion kong.VersionFlag `name:"version" help:"Print the version."`

	Serve     serveCommand     `cmd:"" help:"Speak JSON-RPC over stdin and stdout. Hosts start this."`
	Status    statusCommand    `cmd:"" help:"Show the numbers that decisions about a session use, or where everything lies."`
	Sessions  sessionsCommand  `cmd:"" help:"List the stored sessions, or forget one."`
	Expand    expandCommand    `cmd:"" help:"Print stored messages exactly as the host sent them, one JSON text a line."`
	Explain   explainCommand   `cmd:"" help:"Say why a session's history is shown as it is, what each fold cost and saved, and what is not in view."`
	Undo      undoCommand      `cmd:"" help:"Take back the last fold of a session: the plan before it is in force again."`
	Verify    verifyCommand    `cmd:"" help:"Make stored folds again from what is recorded of them, and compare."`
	Pin       pinCommand       `cmd:"" help:"Keep words of a message verbatim, or messages whole, when the history fades."`
	Unpin     unpinCommand     `cmd:"" help:"End a pin."`
	Pins      pinsCommand      `cmd:"" help:"List what is pinned in a session."`
	Historian historianCommand `cmd:"" help:"Show which models write history, what they took and why they rest, or let them be asked again."`
	Replay    replayCommand    `cmd:"" help:"Play recorded sessions against this program and report what a model would have read, and at what cost."`
	Lab       labCommand       `cmd:"" help:"Run experiments on the design itself."`
	Settings  settingsCommand  `cmd:"" name:"config" help:"Print the settings in force and where each comes from."`
	Install   installCommand   `cmd:"" help:"Put the shim into a host's plugin folder."`
	Uninstall uninstallCommand `cmd:"" help:"Take the shim out of a host's plugin folder."`
	Version   versionCommand   `cmd:"" help:"Print the version."`
}

// hostArgs is how a host starts the program. It waits for the answer, and making
// the whole command line takes as long as all else until then, so these words are
// known without.
var hostArgs = []string{"serve"}

// run is the program: it returns the exit code and says at most one line about
// why it is not 0.
func run(ctx context.Context, args, env []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if slices.Equal(args, hostArgs) {
		return report(stderr, (&serveCommand{}).Run(&program{ctx: ctx, env: env, stdin: stdin, stdout: stdout, stderr: stderr}))
	}
	var c commands
	said := false // --help has printed and wants to end the program
	bare := len(args) == 0
	if bare {
		args, stdout = []string{"--help"}, stderr
	}
	parser, err := c.parser(kong.Writers(stdout, stderr), kong.Exit(func(int) { said = true }))
	if err != nil {
		return report(stderr, err)
	}
	parsed, err := parser.Parse(args)
	if bare {
		return exitUsage
	}
	if said {
		return exitOK
	}
	if err != nil {
		return report(stderr, usage("%s (see ctxplugin --help)", strings.ReplaceAll(err.Error(), `one of "",`, "one of ")))
	}
	return report(stderr, parsed.Run(&program{ctx: ctx, env: env, stdin: stdin, stdout: stdout, stderr: stderr, configPath: string(c.Config)}))
}

// parser reads a command line into c.
func (c *commands) parser(options ...kong.Option) (*kong.Kong, error) {
	return kong.New(c, append(options, kong.Name("ctxplugin"),
		kong.Description("A context manager for coding agents: old messages fade by steps instead of falling off a cliff."),
		kong.Vars{"version": versionLine()},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}))...)
}

// report says what went wrong and chooses the exit code.
func report(stderr io.Writer, err error) int {
	if err == nil {
		return exitOK
	}
	if !errors.Is(err, errSaid) {
		fmt.Fprintf(stderr, "ctxplugin: %v\n", err)
	}
	var f *failure
	if errors.As(err, &f) {
		return f.exit
	}
	return exitFailed
}
