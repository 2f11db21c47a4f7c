package main

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/rs/zerolog"
)

// logBytes is the size at which the log is moved aside, to one older file that
// it replaces: the two together stay below twice this and a line.
const logBytes = 4 << 20

// logFile is a log that opens with its first line and moves itself aside when it
// is full. Several processes may share it.
type logFile struct {
	path string

	mu   sync.Mutex
	file *os.File
	dead bool // it could not be opened; nothing is logged
}

// Write appends one line.
func (l *logFile) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		l.turn(len(line))
	}
	if l.file == nil && !l.dead {
		if err := l.open(); err != nil {
			l.dead = true // a log that cannot be written must not stop a turn
		}
	}
	if l.dead {
		return len(line), nil
	}
	return l.file.Write(line)
}

func (l *logFile) open() error {
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	l.file = file
	return nil
}

// turn closes the file if the next line does not fit, and moves it aside unless
// another process has.
func (l *logFile) turn(next int) {
	mine, err := l.file.Stat()
	if err == nil && mine.Size()+int64(next) <= logBytes {
		return
	}
	l.file.Close()
	l.file = nil
	if err != nil {
		return
	}
	if there, err := os.Stat(l.path); err == nil && os.SameFile(mine, there) {
		_ = os.Rename(l.path, l.path+".1") // if it fails the file grows on
	}
}

func (l *logFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dead = true
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}

// openLog returns the program's log. Nothing is written before the first line.
func openLog(f folders, level string) (*slog.Logger, io.Closer) {
	if f.state == "" || level == "off" {
		return slog.New(slog.DiscardHandler), io.NopCloser(nil)
	}
	parsed, err := zerolog.ParseLevel(level)
	if err != nil {
		parsed = zerolog.InfoLevel
	}
	file := &logFile{path: f.logPath()}
	logger := zerolog.New(file).Level(parsed).With().Timestamp().Int("pid", os.Getpid()).Logger()
	return slog.New(zerolog.NewSlogHandler(logger)), file
}

func (f folders) logPath() string { return within(f.state, "ctxplugin.log") }
