// Package prompts holds what language models are told, as Markdown files in the
// program.
//
// It owns the words, their version and the filling of their gaps, and decides
// nothing. A prompt never changes without its version: the version stands in the
// ledger beside every call and in every compartment that a model wrote, and a test
// holds it to the hash of the files. What is filled in is data: it is never looked
// through for gaps itself.
package prompts

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

//go:embed *.md
var files embed.FS

// HistorianVersion counts up with every change of the historian's prompt.
const HistorianVersion = 2

// Historian is the prompt that has a model write compartments.
var Historian = load(fmt.Sprintf("historian/%d", HistorianVersion), "historian.md", "chunk.md", "repair.md")

// Prompt is a fixed part, which is the same for every call, and two that are
// filled in.
type Prompt struct {
	Version string // "historian/1"
	Hash    string // SHA-256 over all files, in hex
	System  string // the fixed part
	chunk   string
	repair  string
}

func load(version string, names ...string) Prompt {
	h := sha256.New()
	text := make([]string, len(names))
	for i, name := range names {
		data, err := files.ReadFile(name)
		if err != nil {
			panic(err) // embedded: it is there or the program was never built
		}
		fmt.Fprintf(h, "%s %d\n%s", name, len(data), data)
		text[i] = string(data)
	}
	return Prompt{Version: version, Hash: hex.EncodeToString(h.Sum(nil)), System: text[0], chunk: text[1], repair: text[2]}
}

// Chunk is what is asked for one run of messages. Texts of several lines end with
// a line feed, or are empty.
type Chunk struct {
	First, Last int64
	Prior       string // what is recorded already
	Spans       string // suggested ones, one a line
	Transcript  string
	Ahead       string // what follows and is not to be covered
}

// Fill is the variable part for a chunk.
func (p Prompt) Fill(c Chunk) string {
	return strings.NewReplacer("{{prior}}", c.Prior, "{{first}}", fmt.Sprint(c.First), "{{last}}", fmt.Sprint(c.Last),
		"{{spans}}", c.Spans, "{{transcript}}", c.Transcript, "{{ahead}}", c.Ahead).Replace(p.chunk)
}

// Repair is the variable part for a chunk that was answered with faults.
func (p Prompt) Repair(c Chunk, reply, faults string) string {
	return p.Fill(c) + strings.NewReplacer("{{first}}", fmt.Sprint(c.First), "{{last}}", fmt.Sprint(c.Last),
		"{{reply}}", reply, "{{faults}}", faults).Replace(p.repair)
}

var (
	tag   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<[^>]*>`) })
	title = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`title="([^"]*)"`) })
)

// Example lists the lines of the fixed part's example, with what stands in its tags,
// by which a reply that repeats them is known.
func (p Prompt) Example() []string {
	_, example, _ := strings.Cut(p.System, "\nAnswer with the compartments")
	var out []string
	for line := range strings.SplitSeq(example, "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		out = append(out, line)
		if bare := strings.TrimSpace(tag().ReplaceAllString(line, "")); bare != "" && bare != line {
			out = append(out, bare)
		}
		if m := title().FindStringSubmatch(line); m != nil {
			out = append(out, m[1])
		}
	}
	return out
}
