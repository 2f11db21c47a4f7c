package compartments_test

import (
	"testing"

	"ctxplugin/compartments"
)

// A run that grows hashes as the whole of it.
func TestRun_Grows(t *testing.T) {
	members := make([]compartments.Hash, 300)
	for i := range members {
		members[i][0], members[i][31] = byte(i), byte(i>>8)
	}
	run := compartments.NewRun()
	for from := 0; from < len(members); {
		n := min(1+from/2, len(members)-from)
		part := members[from : from+n]
		run.Add(n, func(i int) *compartments.Hash { return &part[i] })
		if from += n; run.Count != from || run.Sum() != compartments.RunHash(members[:from]) {
			t.Fatalf("%d of %d messages: another hash than that of all in one go", run.Count, from)
		}
	}
}
