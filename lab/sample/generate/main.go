// Command generate writes the export of a script.
//
//	generate -script session.story -project project.txtar -out sample.json
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"ctxplugin/lab/sample/story"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run() error {
	script := flag.String("script", "", "the `file` with the script")
	project := flag.String("project", "", "the `file` with the project, if any")
	out := flag.String("out", "", "the `file` to write")
	flag.Parse()
	source, err := os.ReadFile(*script)
	if err != nil {
		return err
	}
	var archive []byte
	if *project != "" {
		if archive, err = os.ReadFile(*project); err != nil {
			return err
		}
	}
	data, err := story.Tell(filepath.Base(*script), string(source), string(archive))
	if err != nil {
		return err
	}
	return os.WriteFile(*out, data, 0o644)
}
