package decay

import (
	"math/bits"

	"ctxplugin/compartments"
)

// Bill is what one request takes from a provider, in tokens.
type Bill struct {
	Read   int // input read from the cache
	Write  int // input written to the cache
	Fresh  int // input neither read nor written
	Output int
}

// Cost is the price of a request in micro-units of money, rounded up. It is the
// only place where tokens become money. Where a provider has no price for
// writing or reading, those tokens cost as input.
func Cost(b Bill, p compartments.Prices) int64 {
	write, read := p.CacheWrite, p.CacheRead
	if write == 0 {
		write = p.Input
	}
	if read == 0 {
		read = p.Input
	}
	sum := int64(b.Fresh)*p.Input + int64(b.Write)*write + int64(b.Read)*read + int64(b.Output)*p.Output
	return (sum + 999_999) / 1_000_000
}

// cached returns what a token behind a divergence costs (written again) and what
// an undisturbed one does (read); ok is false where there is no cache to lose.
func cached(p compartments.Prices) (write, read int64, ok bool) {
	switch p.Kind {
	case "none", "free":
		return 0, 0, false
	}
	write = max(p.CacheWrite, p.Input)
	return write, p.CacheRead, p.CacheRead > 0 && write > p.CacheRead
}

// Spacing is the cheapest growth between two folds, in tokens: with a fold that
// costs (w-r)·D and saves r for each token it removes on every later step,
// growth g a step is paid for best at sqrt(2·(w-r)·D·g/r). It is 0 where
// nothing is cached.
func Spacing(behind, growth int, p compartments.Prices) int {
	write, read, ok := cached(p)
	if !ok {
		return 0
	}
	// prices are reduced to a ratio first: (w-r)/r, permille
	ratio := uint64((write - read) * 1000 / read)
	product := 2 * ratio * uint64(max(1, behind)) / 1000 * uint64(max(1, growth))
	return int(root(product))
}

// root is the integer square root.
func root(n uint64) uint64 {
	if n == 0 {
		return 0
	}
	x := uint64(1) << ((bits.Len64(n) + 1) / 2)
	for {
		y := (x + n/x) / 2
		if y >= x {
			return x
		}
		x = y
	}
}
