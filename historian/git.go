package historian

import "strings"

// commit is something that git or its host reported.
type commit struct {
	hash  string // or "" for a push, a link
	text  string // title of a commit, "pushed main", a link
	event string // "commit", "push", "link", "undo", "branch"
}

// gitVerb is the place of what git is told to do among the words of a command: behind
// git's own options.
func gitVerb(words []string) int {
	i := 1
	for i < len(words) && strings.HasPrefix(words[i], "-") {
		if words[i] == "-C" || words[i] == "-c" {
			i++
		}
		i++
	}
	return i
}

// gitClass decides whether a git command changes anything.
func gitClass(words []string) class {
	i := gitVerb(words)
	if i >= len(words) {
		return classLook
	}
	switch words[i] {
	case "commit", "push", "merge", "rebase", "revert", "restore", "reset", "cherry-pick", "clone", "rm", "mv", "am", "apply", "pull", "init", "submodule":
		return classGit
	case "checkout", "switch", "tag", "stash", "branch", "worktree", "remote":
		if len(words) > i+1 && words[i+1] != "list" && words[i+1] != "-v" && words[i+1] != "--show-current" && words[i+1] != "-a" && words[i+1] != "--list" && words[i+1] != "-r" && words[i+1] != "-vv" && words[i+1] != "get-url" {
			return classGit
		}
		if words[i] == "stash" && len(words) == i+1 {
			return classGit
		}
	case "add":
		return classOther
	}
	return classLook
}

// gitOutput reads commits, pushes and links from the result of a command.
func gitOutput(u *use) []commit {
	if len(u.cmd.git) == 0 {
		return nil
	}
	var out []commit
	text := plain(head(u.output, 6000))
	for line := range strings.SplitSeq(text, "\n") {
		t := strings.TrimSpace(line)
		if c, ok := commitLine(t); ok {
			out = append(out, c)
			continue
		}
		if at := strings.Index(t, " -> "); at > 0 && !u.failed && (strings.Contains(t, "..") || strings.Contains(t, "[new ")) {
			from := strings.Fields(t[:at])
			to := strings.Fields(t[at+4:])
			if len(from) > 0 && len(to) > 0 && pushes(u.cmd.git) {
				text := "pushed " + to[0]
				if strings.Contains(t, "..") {
					text += " (" + from[0] + ")"
				}
				out = append(out, commit{text: text, event: "push"})
			}
		}
		if link := linkIn(t); link != "" {
			out = append(out, commit{text: link, event: "link"})
		}
	}
	if u.failed {
		return out
	}
	for _, g := range u.cmd.git {
		switch words := strings.Fields(g); {
		case len(words) < 2:
		case words[1] == "revert" || words[1] == "restore" || words[1] == "reset" || words[1] == "checkout" && len(words) > 2 && (words[2] == "--" || fileLike(words[len(words)-1])):
			out = append(out, commit{text: shorten(g, 90), event: "undo"})
		case (words[1] == "checkout" || words[1] == "switch") && len(words) > 2:
			out = append(out, commit{text: shorten(g, 90), event: "branch"})
		case words[1] == "merge" || words[1] == "rebase" || words[1] == "tag" || words[1] == "cherry-pick" || words[1] == "stash" || words[1] == "clone":
			out = append(out, commit{text: shorten(g, 90), event: "branch"})
		}
	}
	return out
}

func pushes(git []string) bool {
	for _, g := range git {
		if strings.Contains(g, "push") {
			return true
		}
	}
	return false
}

// commitLine reads "[branch hash] title".
func commitLine(t string) (commit, bool) {
	if !strings.HasPrefix(t, "[") {
		return commit{}, false
	}
	inside, title, ok := strings.Cut(t[1:], "] ")
	if !ok {
		return commit{}, false
	}
	f := strings.Fields(inside)
	if len(f) < 2 {
		return commit{}, false
	}
	hash := f[len(f)-1]
	if len(hash) < 7 || len(hash) > 40 || !hexDigits(hash) {
		return commit{}, false
	}
	return commit{hash: hash, text: fold(head(title, 200)), event: "commit"}, true
}

func hexDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return s != ""
}

// linkIn finds the address of a pull request, merge request, issue or release.
func linkIn(t string) string {
	at := strings.Index(t, "https://")
	if at < 0 {
		return ""
	}
	link := t[at:]
	if end := strings.IndexAny(link, " \t)\"'>"); end >= 0 {
		link = link[:end]
	}
	for _, mark := range [...]string{"/pull/", "/issues/", "/merge_requests/", "/releases/tag/"} {
		if i := strings.Index(link, mark); i > 0 && i+len(mark) < len(link) && link[i+len(mark)] != 'n' {
			return link
		}
	}
	return ""
}

// commitsIn finds hashes in backticks with the title that follows, as delegated
// work reports them.
func commitsIn(text string) []commit {
	var out []commit
	seen := map[string]bool{}
	waiting := false // the title stands on the next line
	for line := range strings.SplitSeq(text, "\n") {
		rest := line
		if _, after, ok := strings.Cut(line, ": `"); waiting && ok && len(out) > 0 {
			if title, _, ok := strings.Cut(after, "`"); ok && !hexDigits(title) {
				out[len(out)-1].text = shorten(fold(title), 100)
			}
			waiting = false
			continue
		}
		for {
			open := strings.IndexByte(rest, '`')
			if open < 0 {
				break
			}
			end := strings.IndexByte(rest[open+1:], '`')
			if end < 0 {
				break
			}
			word := rest[open+1 : open+1+end]
			rest = rest[open+end+2:]
			if len(word) < 7 || len(word) > 40 || !hexOnly(word) || !hasDigit(word) || seen[word] {
				continue
			}
			seen[word] = true
			title := fold(strings.Trim(strings.TrimSpace(rest), "`-–—:*() \""))
			if cut := strings.IndexByte(title, '`'); cut > 0 {
				title = strings.TrimSpace(title[:cut])
			}
			out = append(out, commit{hash: word, text: shorten(title, 100), event: "commit"})
			waiting = title == ""
		}
	}
	return out
}
