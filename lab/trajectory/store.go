package trajectory

import (
	"context"
	"slices"

	"ctxplugin/compartments"
)

// memory is a store of one session that ends with its run.
type memory struct {
	stored  *compartments.Stored
	raws    [][]byte // by ordinal
	folds   []compartments.Fold
	all     map[compartments.CompartmentID]*compartments.Compartment // retired ones too
	retired map[compartments.CompartmentID]bool
	plans   map[string][]byte
}

func newMemory() *memory {
	return &memory{all: map[compartments.CompartmentID]*compartments.Compartment{},
		retired: map[compartments.CompartmentID]bool{}, plans: map[string][]byte{}}
}

func (m *memory) lookup(id compartments.CompartmentID) *compartments.Compartment { return m.all[id] }

// served are the compartments that are not retired, by ID.
func (m *memory) served() []compartments.Compartment {
	var out []compartments.Compartment
	for id, c := range m.all {
		if !m.retired[id] {
			out = append(out, *c)
		}
	}
	slices.SortFunc(out, func(a, b compartments.Compartment) int { return int(a.ID - b.ID) })
	return out
}

// Load implements session.Store, as do the methods below.
func (m *memory) Load(context.Context, compartments.SessionID) (*compartments.Stored, error) {
	if m.stored == nil {
		return nil, nil
	}
	out := *m.stored
	out.Entries = slices.Clone(out.Entries)
	out.List = slices.Clone(out.List)
	out.Compartments = m.served()
	return &out, nil
}

func (m *memory) Version(context.Context, compartments.SessionID) (int64, error) {
	if m.stored == nil {
		return 0, nil
	}
	return m.stored.Version, nil
}

func (m *memory) Commit(_ context.Context, b *compartments.Batch) (int64, error) {
	if m.stored == nil {
		m.stored = &compartments.Stored{Session: b.Session}
	}
	s := m.stored
	if s.Version != b.Version {
		return 0, compartments.Errorf(compartments.CodeBusy, "version %d is stored, not %d", s.Version, b.Version)
	}
	for _, w := range b.Entries {
		for len(s.Entries) < int(w.Entry.Ordinal) {
			s.Entries, m.raws = append(s.Entries, compartments.Entry{}), append(m.raws, nil)
		}
		s.Entries[w.Entry.Ordinal-1] = w.Entry
		if w.Raw != nil {
			m.raws[w.Entry.Ordinal-1] = w.Raw
		}
	}
	if b.ListFrom >= 0 {
		s.List = append(slices.Clone(s.List[:b.ListFrom]), b.List...)
	}
	for i := range b.Compartments {
		c := b.Compartments[i]
		m.all[c.ID] = &c
	}
	for _, id := range b.Retired {
		m.retired[id] = true
	}
	if b.Fold != nil {
		m.folds = append(m.folds, *b.Fold)
		s.Folds = b.Fold.Number
	}
	if b.Plan != nil {
		s.PlanID, s.Plan = b.PlanID, b.Plan
		m.plans[b.PlanID] = b.Plan
	}
	if b.State != nil {
		s.State = b.State
	}
	s.Parent = b.Parent
	s.Version++
	return s.Version, nil
}

func (m *memory) Raw(_ context.Context, _ compartments.SessionID, ordinals []compartments.Ordinal) ([][]byte, error) {
	out := make([][]byte, len(ordinals))
	for i, o := range ordinals {
		if o < 1 || int(o) > len(m.raws) {
			return nil, compartments.Errorf(compartments.CodeNotFound, "there is no message %d", o)
		}
		out[i] = m.raws[o-1]
	}
	return out, nil
}

func (m *memory) Copies(context.Context, compartments.SessionID, compartments.Hash) ([]compartments.SessionID, error) {
	return nil, nil
}

func (m *memory) Ledger(context.Context, compartments.SessionID) (out []compartments.FoldSummary, err error) {
	for i := range m.folds {
		out = append(out, m.folds[i].Summary())
	}
	return out, nil
}

func (m *memory) Folds(context.Context, compartments.SessionID) ([]compartments.Fold, error) {
	return slices.Clone(m.folds), nil
}

func (m *memory) Compartments(context.Context, compartments.SessionID) (out []compartments.Compartment, err error) {
	for _, c := range m.all {
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b compartments.Compartment) int { return int(a.ID - b.ID) })
	return out, nil
}

func (m *memory) Plan(_ context.Context, _ compartments.SessionID, id string) ([]byte, error) {
	if p, ok := m.plans[id]; ok {
		return p, nil
	}
	return nil, compartments.Errorf(compartments.CodeNotFound, "there is no plan %s", id)
}

func (m *memory) Search(context.Context, compartments.SessionID, string, int) ([]compartments.Hit, error) {
	return nil, nil
}

func (m *memory) Index(context.Context, int) (int, error) { return 0, nil }

func (m *memory) Forget(context.Context, compartments.SessionID) error { return nil }
