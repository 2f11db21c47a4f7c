package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"ctxplugin/hosts/opencode"
)

type installCommand struct {
	Opencode installOpencode `cmd:"" help:"OpenCode: write the shim into its plugin folder; no file of yours is changed."`
}

type uninstallCommand struct {
	Opencode uninstallOpencode `cmd:"" help:"OpenCode: remove what install has written; sessions and settings stay."`
}

type installOpencode struct {
	Project bool `help:"For this project alone (.opencode here), not for all of yours."`
}

type uninstallOpencode struct {
	Project bool `help:"From this project (.opencode here)."`
}

// mark is the first line of every file that install writes. What lacks it is the
// user's own: it is neither replaced nor removed.
const mark = "// Written by ctxplugin install; ctxplugin uninstall removes it.\n"

// marked reports whether install wrote the file. One that is absent gives an error
// that is fs.ErrNotExist.
func marked(file string) (bool, error) {
	f, err := os.Open(file)
	if err != nil {
		return false, err
	}
	defer f.Close()
	start := make([]byte, len(mark))
	n, err := io.ReadFull(f, start)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, err
	}
	return string(start[:n]) == mark, nil
}

// opencodeFolder is the configuration folder whose plugins OpenCode loads.
func (p *program) opencodeFolder(project bool) (string, error) {
	if project {
		return filepath.Abs(".opencode")
	}
	dir := p.env.folders().hosts
	if dir == "" {
		return "", usage("no home folder is known: set HOME, or use --project")
	}
	return filepath.Join(dir, "opencode"), nil
}

// Run implements the command.
func (i *installOpencode) Run(p *program) error {
	dir, err := p.opencodeFolder(i.Project)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	files, err := shimFiles(self)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file := filepath.Join(dir, filepath.FromSlash(name))
		switch ours, err := marked(file); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case !ours:
			return fmt.Errorf("%s was not written by ctxplugin install: move it away first; nothing was changed", file)
		}
	}
	modules := filepath.Join(dir, filepath.FromSlash(opencode.Modules))
	if err := os.MkdirAll(modules, 0o755); err != nil {
		return err
	}
	if err := removeStale(modules, files); err != nil {
		return err
	}
	// The entry goes last: it is what the host loads.
	for _, entry := range [...]bool{false, true} {
		for name, text := range files {
			if (name == opencode.Entry) != entry {
				continue
			}
			if err := replaceFile(filepath.Join(dir, filepath.FromSlash(name)), text); err != nil {
				return err
			}
		}
	}
	_, err = fmt.Fprintf(p.stdout, "%s starts %s\nRestart OpenCode to load it.\n", filepath.Join(dir, filepath.FromSlash(opencode.Entry)), self)
	return err
}

// shimFiles are the files of the shim by their slash path, with the binary named.
func shimFiles(binary string) (map[string][]byte, error) {
	quoted, err := json.Marshal(binary)
	if err != nil {
		return nil, fmt.Errorf("name the binary: %w", err)
	}
	files := map[string][]byte{}
	err = fs.WalkDir(opencode.Plugin, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := opencode.Plugin.ReadFile(name)
		files[name] = append([]byte(mark), text...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the shim: %w", err)
	}
	named := strings.Replace(opencode.BinaryLine, `""`, string(quoted), 1)
	if bytes.Count(files[opencode.Entry], []byte(opencode.BinaryLine)) != 1 {
		return nil, errors.New("the shim has no line that names the binary")
	}
	files[opencode.Entry] = bytes.Replace(files[opencode.Entry], []byte(opencode.BinaryLine), []byte(named), 1)
	return files, nil
}

// removeStale removes modules that an older version wrote.
func removeStale(modules string, files map[string][]byte) error {
	old, err := filepath.Glob(filepath.Join(modules, "*.js"))
	if err != nil {
		return err
	}
	for _, file := range old {
		if _, ok := files[path.Join(opencode.Modules, filepath.Base(file))]; ok {
			continue
		}
		ours, err := marked(file)
		if err == nil && ours {
			err = os.Remove(file)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// replaceFile writes a file in one step: a host that starts meanwhile sees the
// old one or the new one.
func replaceFile(name string, text []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(name), ".ctxplugin-*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // fails once it is renamed
	_, err = temp.Write(text)
	if err = errors.Join(err, temp.Chmod(0o644), temp.Close()); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return os.Rename(temp.Name(), name)
}

// Run implements the command.
func (u *uninstallOpencode) Run(p *program) error {
	dir, err := p.opencodeFolder(u.Project)
	if err != nil {
		return err
	}
	entry := filepath.Join(dir, filepath.FromSlash(opencode.Entry))
	modules := filepath.Join(dir, filepath.FromSlash(opencode.Modules))
	found, err := filepath.Glob(filepath.Join(modules, "*.js"))
	if err != nil {
		return err
	}
	var files []string
	for _, file := range append([]string{entry}, found...) { // the entry first: the host must not load half
		switch ours, err := marked(file); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case ours:
			files = append(files, file)
		default:
			fmt.Fprintf(p.stderr, "ctxplugin: %s was not written by ctxplugin install; it stays\n", file)
		}
	}
	if !u.Project { // what the shim keeps between two starts of the host
		plans, err := filepath.Glob(within(within(p.env.folders().state, "opencode"), "*"))
		if err != nil {
			return err
		}
		files = append(files, plans...)
	}
	removed := 0
	for _, file := range files {
		switch err := os.Remove(file); {
		case err == nil:
			removed++
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	// Folders go from the inside out, and stay if something else is in them.
	for _, folder := range [...]string{modules, filepath.Dir(entry), dir, within(p.env.folders().state, "opencode")} {
		_ = os.Remove(folder)
	}
	if removed == 0 {
		_, err = fmt.Fprintf(p.stdout, "nothing of ctxplugin is in %s\n", filepath.Dir(entry))
	} else {
		_, err = fmt.Fprintf(p.stdout, "removed %d files from %s\n", removed, filepath.Dir(entry))
	}
	return err
}
