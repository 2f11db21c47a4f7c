package session_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"ctxplugin/compartments"
	"ctxplugin/historian"
)

// naive is a historian for tests: it cuts every eight messages and writes the
// head of the texts, so that what a test sees of tiers is easy to foretell.
type naive struct{ runs atomic.Int64 }

func (n *naive) Write(_ context.Context, r historian.Range) ([]compartments.Compartment, error) {
	n.runs.Add(1)
	var out []compartments.Compartment
	from := 0
	for i := range r.Messages {
		if i+1 == len(r.Messages) || i+1-from >= 8 && r.Messages[i+1].Role != compartments.RoleTool {
			c := paraphrase(r, from, i+1, compartments.Rendered[:])
			c.Provisional = i+1 == len(r.Messages)
			out = append(out, c)
			from = i + 1
		}
	}
	return out, nil
}

func scan(r historian.Range) compartments.Compartment {
	c := paraphrase(r, 0, len(r.Messages), []compartments.Tier{compartments.TierAnchor})
	c.Strategy = compartments.StrategyScan
	return c
}

var naiveTokens = map[compartments.Tier]int{compartments.TierFull: 400, compartments.TierDense: 160, compartments.TierCompact: 60, compartments.TierAnchor: 24}

func paraphrase(r historian.Range, from, to int, tiers []compartments.Tier) compartments.Compartment {
	c := compartments.Compartment{First: r.Messages[from].Ordinal, Last: r.Messages[to-1].Ordinal, Importance: 50,
		SourceHash: compartments.RunHash(r.Hashes[from:to]), Tiers: map[compartments.Tier]compartments.Rendition{},
		Strategy: compartments.StrategyCanonical, Names: []string{fmt.Sprintf("file%d.go", r.Messages[from].Ordinal)}}
	var words []string
	for i := from; i < to; i++ {
		c.Members = append(c.Members, r.Messages[i].Ordinal)
		c.RawTokens += r.Tokens[i]
		for _, p := range r.Messages[i].Parts {
			words = append(words, strings.Fields(p.Text)...)
		}
	}
	c.Title = strings.Join(words[:min(6, len(words))], " ")
	for i, t := range tiers {
		n := min(naiveTokens[t], max(8, c.RawTokens/(2<<i)))
		text := fmt.Sprintf("[%d-%d] %s", c.First, c.Last, strings.Join(words[:min(n/2, len(words))], " "))
		rendition := compartments.Rendition{Text: text, Tokens: n}
		for d := range rendition.Survival {
			rendition.Survival[d] = uint16(900 - 200*i)
		}
		c.Tiers[t] = rendition
	}
	return c
}
