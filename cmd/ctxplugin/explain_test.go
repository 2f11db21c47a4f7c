package main

import (
	"bytes"
	"testing"

	"ctxplugin/decay"
)

func TestGrouped(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -7: "-7", -817: "-817", -1817: "-1,817", -123456: "-123,456"} {
		if got := grouped(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}

// A fold that had to be made may show more than before: what it costs is said as
// such, and not as a saving below nothing.
func TestCostsText(t *testing.T) {
	for want, c := range map[string]decay.Costs{
		"249 tokens behind the change are written to the cache again instead of read, which costs 0.000859; each later step has 817 tokens more, which costs 0.000245\n": {
			Anew: 249, Removed: -817, Cost: 859, Saving: -245, BreakEven: -1, Priced: true},
		"8,662 tokens behind the change are written to the cache again instead of read, which costs 0.029884; each later step has 23,410 tokens less, which saves 0.007023; paid after 5 steps\n": {
			Anew: 8662, Removed: 23410, Cost: 29884, Saving: 7023, BreakEven: 5, Priced: true},
		"no cache is lost, which costs 0.000000; each later step has 1,858 tokens less, which saves 0.001858; paid after 1 step\n": {Removed: 1858, Saving: 1858, BreakEven: 1, Priced: true},
		"no cache is lost; each later step has 1,858 tokens less\n":                                                                {Removed: 1858},
	} {
		var out bytes.Buffer
		if costsText(&out, c); out.String() != want {
			t.Errorf("%+v:\n%swant\n%s", c, &out, want)
		}
	}
}
