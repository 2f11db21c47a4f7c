package report

import (
	"ctxplugin/lab/trajectory"
	"ctxplugin/lab/verdict"
)

// ecology are the tables about real sessions.
func ecology(s *verdict.Sums) []Table {
	out := []Table{choices(s)}
	out[0].Caption = "Real sessions: " + out[0].Caption
	same := policies(s, trajectory.Same, "Real sessions, at the moments of ours; a probe is an identifier that is named again")
	own := policies(s, trajectory.Own, "Real sessions, on schedules of their own")
	table, _, _, _ := costs(s, "Real sessions: a session, with providers as they are")
	return append([]Table{classes(s)}, append(out, same, own, table)...)
}

// classes is when old context is needed next.
func classes(s *verdict.Sums) Table {
	t := Table{Caption: "Old context by when it is needed next, percent of its tokens, over all turns", Head: []string{"class", "share, %"}}
	all := verdict.Total(s.Of(trajectory.Ours, trajectory.Same)).Classes
	total := int64(0)
	for _, n := range all {
		total += n
	}
	for _, class := range []string{trajectory.ClassSoon, trajectory.ClassLater, trajectory.ClassDone} {
		t.Rows = append(t.Rows, []string{class, per(100*all[class], total)})
	}
	return t
}
