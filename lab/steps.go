package lab

import "slices"

// step is one request that the host would have made.
type step struct {
	reply int   // the assistant message that answered it, as an index
	view  []int // the messages that the host hands over, as indexes
	now   int64 // Unix ms
	// Compacting marks the host's own request for a summary: the list is
	// announced but nothing is asked, because the host wants it untouched.
	compacting bool
	idleAfter  bool // the turn ends with the reply
}

// cut divides a recording into steps, oldest first. A reply before the first user
// message answered no request that a host makes: it is part of the list, but no
// step. Times that are missing are taken from the step before; times that go
// backwards stay as they are.
func cut(r *recording) []step {
	var steps []step
	now := int64(0)
	for i := range r.messages {
		m := &r.messages[i]
		if m.time > 0 {
			now = m.time
		}
		if m.role != "assistant" {
			continue
		}
		list := view(r, i)
		if !slices.ContainsFunc(list, func(i int) bool { return r.messages[i].role == "user" }) {
			continue
		}
		last := i+1 == len(r.messages)
		steps = append(steps, step{reply: i, view: list, now: now, compacting: m.summary,
			idleAfter: last || r.messages[i+1].role == "user"})
	}
	return steps
}

// view lists the messages before place end that the host still hands over. Behind
// its own finished summary the host starts the list with the request for the
// summary and the summary, then what it kept of the messages before them.
func view(r *recording, end int) []int {
	for s := end - 1; s > 0; s-- {
		ask := s - 1
		if !r.messages[s].summary || r.messages[s].failure != nil || !isCompaction(&r.messages[ask]) {
			continue
		}
		list := []int{ask, s}
		if from := keptFrom(r, ask); from >= 0 {
			for i := from; i < ask; i++ {
				list = append(list, i)
			}
		}
		for i := s + 1; i < end; i++ {
			list = append(list, i)
		}
		return list
	}
	list := make([]int, end)
	for i := range list {
		list[i] = i
	}
	return list
}

func isCompaction(m *message) bool {
	return slices.ContainsFunc(m.parts, func(p part) bool { return p.kind == "compaction" })
}

// keptFrom finds the first message that the host kept raw beside its summary.
func keptFrom(r *recording, ask int) int {
	for _, p := range r.messages[ask].parts {
		if p.kind != "compaction" || p.tailStart == "" {
			continue
		}
		return slices.IndexFunc(r.messages[:ask], func(m message) bool { return m.id == p.tailStart })
	}
	return -1
}

// realUser reports whether a person spoke: a user message with a part that is
// neither synthetic nor ignored nor blank, and no request for a summary.
func realUser(m *message) bool {
	if m.role != "user" || isCompaction(m) {
		return false
	}
	return slices.ContainsFunc(m.parts, func(p part) bool {
		if p.synthetic || p.ignored {
			return false
		}
		return p.kind == "file" || p.kind == "text" && !blank(p.text)
	})
}

func blank(s string) bool {
	for _, r := range s {
		switch r {
		case ' ', '\t', '\n', '\r', '\f', '\v', 0x85, 0xa0, 0x2028, 0x2029:
		default:
			return false
		}
	}
	return true
}
