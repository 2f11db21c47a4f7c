package session_test

import (
	"context"
	"slices"
	"sync"

	"ctxplugin/compartments"
)

// memory is a Store for tests. Fail, if set, is asked at each commit.
type memory struct {
	mu   sync.Mutex
	all  map[compartments.SessionID]*kept
	fail func() error
	ids  int // of copies that a host made
}

type kept struct {
	compartments.Stored
	raws    map[compartments.Ordinal][]byte
	folds   []compartments.Fold
	plans   map[string][]byte
	retired map[compartments.CompartmentID]bool
}

// written are the compartments that were ever stored: the historian may be writing
// more behind the last answer.
func (m *memory) written(id compartments.SessionID) []compartments.Compartment {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.all[id].Compartments)
}

// compartment is one that was ever stored, retired or not.
func (k *kept) compartment(id compartments.CompartmentID) *compartments.Compartment {
	for i := range k.Compartments {
		if k.Compartments[i].ID == id {
			return &k.Compartments[i]
		}
	}
	return nil
}

// pin is one that was ever set.
func (k *kept) pin(id compartments.PinID) *compartments.Pin {
	for i := range k.Pins {
		if k.Pins[i].ID == id {
			return &k.Pins[i]
		}
	}
	return nil
}

func newMemory() *memory { return &memory{all: map[compartments.SessionID]*kept{}} }

func (m *memory) Load(_ context.Context, id compartments.SessionID) (*compartments.Stored, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.all[id]
	if k == nil {
		return nil, nil
	}
	out := k.Stored
	out.Entries = slices.Clone(k.Entries)
	out.List = slices.Clone(k.List)
	out.Pins = slices.Clone(k.Pins)
	out.Compartments = nil
	for _, c := range k.Compartments {
		if !k.retired[c.ID] {
			out.Compartments = append(out.Compartments, c)
		}
	}
	return &out, nil
}

func (m *memory) Version(_ context.Context, id compartments.SessionID) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k := m.all[id]; k != nil {
		return k.Version, nil
	}
	return 0, nil
}

func (m *memory) Commit(_ context.Context, b *compartments.Batch) (int64, error) {
	if err := m.fault(); err != nil {
		return 0, err
	}
	return m.keep(b)
}

// fault is what the next commit fails with, by order of a test.
func (m *memory) fault() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail == nil {
		return nil
	}
	return m.fail()
}

func (m *memory) keep(b *compartments.Batch) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.all[b.Session]
	if k == nil {
		k = &kept{raws: map[compartments.Ordinal][]byte{}, plans: map[string][]byte{}, retired: map[compartments.CompartmentID]bool{}}
		k.Session = b.Session
		m.all[b.Session] = k
	}
	if k.Version != b.Version {
		return 0, compartments.Errorf(compartments.CodeBusy, "another process changed this session")
	}
	for _, w := range b.Entries {
		for len(k.Entries) < int(w.Entry.Ordinal) {
			k.Entries = append(k.Entries, compartments.Entry{})
		}
		k.Entries[w.Entry.Ordinal-1] = w.Entry
		if w.Raw != nil {
			k.raws[w.Entry.Ordinal] = w.Raw
		}
	}
	if b.ListFrom >= 0 {
		k.List = append(slices.Clone(k.List[:b.ListFrom]), b.List...)
	}
	for _, c := range b.Compartments {
		if old := k.compartment(c.ID); old != nil {
			*old = c
		} else {
			k.Compartments = append(k.Compartments, c)
		}
	}
	for _, p := range b.Pins {
		if old := k.pin(p.ID); old != nil {
			*old = p
		} else {
			k.Pins = append(k.Pins, p)
		}
	}
	for _, id := range b.Retired {
		k.retired[id] = true
	}
	if b.Fold != nil {
		k.folds = append(k.folds, *b.Fold)
		k.Folds = b.Fold.Number
	}
	if b.Plan != nil {
		k.PlanID, k.Plan = b.PlanID, b.Plan
		k.plans[b.PlanID] = b.Plan
	}
	if b.State != nil {
		k.State = b.State
	}
	k.Parent = b.Parent
	k.Version++
	return k.Version, nil
}

func (m *memory) Raw(_ context.Context, id compartments.SessionID, ordinals []compartments.Ordinal) ([][]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([][]byte, len(ordinals))
	for i, o := range ordinals {
		raw, ok := m.all[id].raws[o]
		if !ok {
			return nil, compartments.Errorf(compartments.CodeNotFound, "no message %d", o)
		}
		out[i] = raw
	}
	return out, nil
}

func (m *memory) Copies(_ context.Context, id compartments.SessionID, first compartments.Hash) (out []compartments.SessionID, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for other, k := range m.all {
		if other != id && len(k.List) > 0 && k.Entries[k.List[0]-1].Hash == first {
			out = append(out, other)
		}
	}
	slices.Sort(out)
	return out, nil
}

func (m *memory) Folds(_ context.Context, id compartments.SessionID) ([]compartments.Fold, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k := m.all[id]; k != nil {
		return k.folds, nil
	}
	return nil, nil
}

func (m *memory) Ledger(_ context.Context, id compartments.SessionID) ([]compartments.FoldSummary, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []compartments.FoldSummary
	if k := m.all[id]; k != nil {
		for i := range k.folds {
			out = append(out, k.folds[i].Summary())
		}
	}
	return out, nil
}

func (m *memory) Compartments(_ context.Context, id compartments.SessionID) ([]compartments.Compartment, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k := m.all[id]; k != nil {
		return slices.Clone(k.Compartments), nil
	}
	return nil, nil
}

func (m *memory) Plan(_ context.Context, id compartments.SessionID, planID string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k := m.all[id]; k != nil && k.plans[planID] != nil {
		return k.plans[planID], nil
	}
	return nil, compartments.Errorf(compartments.CodeNotFound, "no plan %s", planID)
}

func (m *memory) Search(context.Context, compartments.SessionID, string, int) ([]compartments.Hit, error) {
	return nil, nil
}

func (m *memory) Index(context.Context, int) (int, error) { return 0, nil }

func (m *memory) Forget(_ context.Context, id compartments.SessionID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.all, id)
	return nil
}

// unreadable is a memory whose messages cannot be read while it is broken.
type unreadable struct {
	*memory
	broken bool
}

func (u *unreadable) Raw(ctx context.Context, id compartments.SessionID, ordinals []compartments.Ordinal) ([][]byte, error) {
	if u.broken {
		return nil, compartments.Errorf(compartments.CodeStorage, "the disk is gone")
	}
	return u.memory.Raw(ctx, id, ordinals)
}

// counting is a memory that counts what is read, in tokens, until the first
// fold, and keeps the compartments of that.
type counting struct {
	*memory
	stop              bool // the next commit is the one to keep
	read, readAtFirst int
	first             []compartments.Compartment
}

func (c *counting) Raw(ctx context.Context, id compartments.SessionID, ordinals []compartments.Ordinal) ([][]byte, error) {
	raws, err := c.memory.Raw(ctx, id, ordinals)
	for _, raw := range raws {
		c.read += count(string(raw))
	}
	return raws, err
}

func (c *counting) Commit(ctx context.Context, b *compartments.Batch) (int64, error) {
	if c.stop {
		c.stop, c.readAtFirst, c.first = false, c.read, b.Compartments
	}
	return c.memory.Commit(ctx, b)
}
