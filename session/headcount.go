package session

import "strings"

// headCounts are the counts, in tokens, of the entries that the head shows now. A
// fold changes few of them, and a long head takes longer to count than to render.
type headCounts map[string]int

// count returns the tokens of a pair's text, counted entry by entry. The sum is that
// of the text as a whole: no token runs from the end of one line into a bracket
// that begins another. anew says that no pair stands before it, so that what is not
// in it is in no pair.
func (h *headCounts) count(text string, anew bool, count func(string) int) int {
	known := *h
	if anew || known == nil {
		*h = make(headCounts, len(known)+len(known)/8)
	}
	n := 0
	var fresh []string
	for len(text) > 0 {
		entry := firstEntry(text)
		if tokens, ok := known[entry]; ok {
			(*h)[entry] = tokens
			n += tokens
		} else {
			fresh = append(fresh, entry)
		}
		text = text[len(entry):]
	}
	counted := make([]int, len(fresh))
	each(len(fresh), func(i int) { counted[i] = count(fresh[i]) })
	for i, tokens := range counted {
		(*h)[fresh[i]] = tokens
		n += tokens
	}
	return n
}

// firstEntry is the text up to the heading of the next entry.
func firstEntry(text string) string {
	const blank = "\n\n"
	if i := strings.Index(text, blank+"["); i >= 0 {
		return text[:i+len(blank)]
	}
	return text
}
