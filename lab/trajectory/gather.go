package trajectory

import (
	"encoding/hex"
	"strings"

	"ctxplugin/compartments"
	"ctxplugin/decay"
)

// Bytes names everything that ours put in the place of old messages, for comparing
// two runs.
func (p *Played) Bytes() string {
	var b strings.Builder
	for n := range p.steps {
		if pl := p.steps[n].plan; pl != nil {
			id, _, err := pl.Encode()
			if err != nil {
				id = err.Error()
			}
			b.WriteString(id)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Representations are the compartments that ours ended with, as records.
func (p *Played) Representations() []Representation {
	var out []Representation
	for i := range p.served {
		c := &p.served[i]
		r := Representation{Script: p.Script.Name, Seed: p.Script.Seed, ID: int64(c.ID), First: int64(c.First), Last: int64(c.Last), Source: hex.EncodeToString(c.SourceHash[:]),
			Importance: c.Importance, Types: c.Types, Strategy: string(c.Strategy), Generator: c.Generator, Prompt: c.Prompt, Raw: c.RawTokens,
			Tokens: map[string]int{}, Survival: map[string][]int{}}
		for _, t := range compartments.Rendered {
			if !c.Has(t) {
				continue
			}
			r.Tokens[t.String()] = c.Tokens(t)
			for d := range compartments.Dimensions {
				r.Survival[t.String()] = append(r.Survival[t.String()], int(c.Tiers[t].Survival[d]))
			}
		}
		out = append(out, r)
	}
	return out
}

// Folds are those of ours, as records.
func (p *Played) Folds(run Run) []Fold {
	run.Script, run.Seed, run.Window, run.Usable = p.Script.Name, p.Script.Seed, p.Setup.Window, p.Window.Usable
	turn := make([]int, len(p.folds))
	for n := len(p.steps) - 1; n >= 0; n-- {
		if k := p.steps[n].fold; k >= 0 {
			turn[k] = p.steps[n].turn
		}
	}
	var out []Fold
	for k := range p.folds {
		f := &p.folds[k]
		one := Fold{Run: run, Number: f.Number, Turn: turn[k], Reason: string(f.Reason), Divergence: f.Divergence, Before: f.Inputs.Before, After: f.Inputs.After,
			Budget: f.Inputs.Budget, Tiers: map[string]int{}}
		for t, n := range f.Summary().Tiers {
			one.Tiers[t.String()] = n
		}
		out = append(out, one)
	}
	return out
}

// BillOf is what frames cost with the provider whose prices the run had.
func (p *Played) BillOf(frames []Frame, run Run, name string) Bill {
	turns := p.Observe(frames, run)
	b := Bill{Provider: name}
	size := 0
	for i := range turns {
		t := &turns[i]
		b.Run = t.Run
		b.Requests += t.Requests
		b.Read += int64(t.Read)
		b.Write += int64(t.Write)
		b.Fresh += int64(t.Fresh)
		b.Output += int64(t.Output)
		b.Cost += t.Cost
		b.Prefixes += t.Prefixes
		b.Over += t.OverWindow
		size += t.Mean * t.Requests
	}
	b.Mean = size / max(1, b.Requests)
	return b
}

// Generation is what a model would take to write a compartment's tiers, in tokens:
// it reads the messages once, and writes all tiers.
func (r *Representation) Generation() decay.Bill {
	b := decay.Bill{Fresh: r.Raw}
	for _, n := range r.Tokens {
		b.Output += n
	}
	return b
}
