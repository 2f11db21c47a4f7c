package session_test

import (
	"context"
	"strings"
	"testing"

	"ctxplugin/compartments"
)

func TestVerify(t *testing.T) {
	h, _ := grown(t, 4)
	h.undo()
	h.request()
	v, err := h.s.Verify(context.Background(), h.id)
	if err != nil {
		t.Fatal(err)
	}
	if v.Folds != 5 || v.Again != 4 || v.Undos != 1 || v.Older != 0 || v.Plans != 5 || len(v.Different) != 0 {
		t.Fatalf("%+v", v)
	}

	for _, c := range []struct {
		name, want string
		fold       int
		change     func(k *kept, f *compartments.Fold)
	}{
		{"a word of a compartment", "text of pair", 1, func(k *kept, f *compartments.Fold) {
			last := f.Layout[len(f.Layout)-1].Items[0]
			c := k.compartment(last.Compartments[0])
			tiers := map[compartments.Tier]compartments.Rendition{}
			for t, r := range c.Tiers {
				r.Text += "x"
				tiers[t] = r
			}
			c.Tiers = tiers
		}},
		{"the target", "its target", 2, func(_ *kept, f *compartments.Fold) {
			f.Inputs.Recording.Budget--
			f.Inputs.Recording.DemoteTo--
		}},
		{"an input", "its inputs have another hash", 3, func(_ *kept, f *compartments.Fold) { f.Inputs.IdleMs++ }},
		{"a stored text", "from byte 7 on", 1, func(_ *kept, f *compartments.Fold) {
			f.Layout[0].Text = f.Layout[0].Text[:7] + "\x00" + f.Layout[0].Text[8:]
		}},
		{"the entries that an undo shows", "shows other entries", 5, func(_ *kept, f *compartments.Fold) { f.Layout[0].Tokens++ }},
		{"a compartment is gone", "is not stored", 1, func(k *kept, _ *compartments.Fold) { k.Compartments[0].ID = 999 }},
		{"an older renderer", "", 2, func(_ *kept, f *compartments.Fold) { f.Inputs.Renderer = "render-0" }},
		{"no recording", "", 4, func(_ *kept, f *compartments.Fold) { f.Inputs.Recording = nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, _ := grown(t, 4)
			h.undo()
			h.store.mu.Lock()
			k := h.store.all[h.id]
			f := &k.folds[max(c.fold-1, 0)]
			if f.Inputs.Recording != nil { // stored folds share their parts with nobody
				own := *f.Inputs.Recording
				f.Inputs.Recording = &own
			}
			f.Layout = append([]compartments.PairLayout(nil), f.Layout...)
			c.change(k, f)
			h.store.mu.Unlock()
			v, err := h.s.Verify(context.Background(), h.id)
			if err != nil {
				t.Fatal(err)
			}
			var all []string
			for _, d := range v.Different {
				if d.Fold == c.fold {
					all = append(all, d.What)
				}
			}
			switch got := strings.Join(all, "; "); {
			case c.want == "" && c.fold > 0 && (v.Older != 1 || got != ""):
				t.Errorf("%+v", v)
			case c.want != "" && !strings.Contains(got, c.want):
				t.Errorf("%q does not say %q; %+v", got, c.want, v)
			}
		})
	}
}
