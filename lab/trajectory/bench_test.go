package trajectory

import (
	"context"
	"testing"

	"ctxplugin/lab/fixtures"
)

// BenchmarkSeed is one seed of a whole run: every policy over one session.
func BenchmarkSeed(b *testing.B) {
	plan := Full()
	plan.Bank, plan.Seeds, plan.Windows, plan.Removed, plan.Priced, plan.Workers = fixtures.Tuned, 1, nil, 0, 0, 1
	for b.Loop() {
		if _, err := Study(context.Background(), plan, func(int, int) {}); err != nil {
			b.Fatal(err)
		}
	}
}
