package decay

import "ctxplugin/compartments"

// Costs is what a fold costs once and saves on every later step. Money is in
// micro-units.
type Costs struct {
	Anew      int   `json:"anew"`      // tokens that are written again because of it
	Removed   int   `json:"removed"`   // tokens that each later request is smaller by
	Cost      int64 `json:"cost"`      // (w-r) for each token written again
	Saving    int64 `json:"saving"`    // on each later step: r for each token removed
	BreakEven int   `json:"breakEven"` // later steps after which it has paid; -1 for never
	Priced    bool  `json:"priced"`    // prices were known; without them only the tokens count
	Cached    bool  `json:"cached"`    // there was a cache to lose
}

// CostsOf prices a fold behind whose divergence the next request has that many
// tokens, and that removes so many. cold says that no cache was lost: it had gone
// cold, or there was none yet. Where nothing is cached, a token costs as input at
// every step, and a fold costs nothing.
func CostsOf(behind, removed int, cold bool, p compartments.Prices) Costs {
	c := Costs{Removed: removed, BreakEven: -1, Priced: p.Input > 0 && p.Kind != "free"}
	write, read, ok := cached(p)
	switch {
	case !ok:
		read = p.Input
		if p.Kind == "free" {
			read = 0
		}
	case !cold:
		c.Anew, c.Cached = behind, true
		c.Cost = micro(behind, write-read)
	}
	c.Saving = micro(removed, read)
	switch gain := int64(removed) * read; {
	case c.Anew == 0:
		c.BreakEven = 0
	case gain > 0:
		c.BreakEven = int((int64(c.Anew)*(write-read) + gain - 1) / gain)
	}
	return c
}

// micro is the price of tokens at micro-units a million of them, rounded to the
// nearest, halves away from zero.
func micro(tokens int, price int64) int64 {
	n := int64(tokens) * price
	if n < 0 {
		return -((-n + 500_000) / 1_000_000)
	}
	return (n + 500_000) / 1_000_000
}
