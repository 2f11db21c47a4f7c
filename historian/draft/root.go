package draft

import (
	"strings"

	"ctxplugin/historian"
)

// rootOf is the folder below which most files are that calls name by their whole
// path, with its slash; "" if there is none, or it is too short to be worth a word.
func rootOf(x *historian.Reading) string {
	const most, least = 400, 6 // paths that are looked at, and that make a root
	var paths []string
	for i := 0; i < len(x.Range().Messages) && len(paths) < most; i++ {
		for _, c := range x.Calls(i) {
			for _, p := range append([]string{c.Path}, pathsOf(c.Changes)...) {
				if strings.HasPrefix(p, "/") {
					paths = append(paths, p)
				}
			}
		}
	}
	root := ""
	for len(paths) >= least {
		counts, next := map[string]int{}, ""
		for _, p := range paths {
			if rest, ok := strings.CutPrefix(p, root); ok {
				if at := strings.IndexByte(rest[min(1, len(rest)):], '/'); at >= 0 {
					folder := root + rest[:at+2]
					counts[folder]++
					if counts[folder] > counts[next] || counts[folder] == counts[next] && folder < next {
						next = folder
					}
				}
			}
		}
		if 5*counts[next] < 4*len(paths) {
			break
		}
		root = next
	}
	if strings.Count(root, "/") < 3 || historian.Safe(root) != root {
		return ""
	}
	return root
}

func pathsOf(changes []historian.Change) []string {
	out := make([]string, len(changes))
	for i := range changes {
		out[i] = changes[i].Path
	}
	return out
}
