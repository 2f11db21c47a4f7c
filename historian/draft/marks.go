package draft

import (
	"strings"
)

// untagged takes the sign off what could be read as a tag of the reply.
func untagged(line string) string {
	if !strings.Contains(line, "<") {
		return line
	}
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		if line[i] == '<' && ownTag(line[i+1:]) {
			b.WriteString("‹")
			continue
		}
		b.WriteByte(line[i])
	}
	return b.String()
}

// ownTag reports whether what follows an angle bracket is a tag of the reply,
// opened or closed.
func ownTag(s string) bool {
	s = strings.TrimLeft(s, "/ ")
	for _, tag := range replyTags {
		if len(s) >= len(tag) && strings.EqualFold(s[:len(tag)], tag) {
			return true
		}
	}
	return false
}

// replyTags are the tags of a reply.
var replyTags = [...]string{"compartment", "full", "dense", "compact", "anchor", "span", "fact", "event", "transcript"}

// head is the beginning of a text, up to a blank where one is near: half a secret
// is not known for one.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[:n]
	if at := strings.LastIndexAny(s, " \t\r\n"); at > n-400 && at > 0 {
		s = s[:at]
	}
	return strings.ToValidUTF8(s, "")
}
