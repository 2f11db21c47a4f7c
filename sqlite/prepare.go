package sqlite

import (
	"crypto/sha256"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"ctxplugin/compartments"
)

// manyEntries is from how many messages on a batch is prepared on all processors,
// and its long strings are packed before the writer is taken. In a smaller one
// most strings may be stored already, and packing them would be for nothing.
const manyEntries = 64

// entries makes of each entry what needs no database.
func (pack *packer) entries(p *prepared) {
	n := len(p.entries)
	workers := min(runtime.GOMAXPROCS(0), n/manyEntries)
	if workers == 0 {
		for i := range p.entries {
			p.entries[i].make(&p.Entries[i])
		}
		return
	}
	var next atomic.Int64
	var wait sync.WaitGroup
	var broken atomic.Value
	for range workers {
		wait.Go(func() {
			defer func() {
				if r := recover(); r != nil {
					broken.Store(fmt.Sprintf("%v\n%s", r, debug.Stack()))
				}
			}()
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				e := &p.entries[i]
				e.make(&p.Entries[i])
				e.packed = pack.strings(p.Entries[i].Raw, e.cuts)
			}
		})
	}
	wait.Wait()
	if r := broken.Load(); r != nil {
		panic(r) // in the caller, who answers for it
	}
}

// strings packs the long strings of a message. Where that fails it is left to
// whoever stores them, and fails again.
func (pack *packer) strings(raw []byte, c cuts) []packed {
	all := make([]packed, len(c.strings))
	for i, s := range c.strings {
		content := s.of(raw)
		form, bytes, err := pack.pack(content)
		if err != nil {
			return nil
		}
		all[i] = packed{sha256.Sum256(content), form, bytes}
	}
	return all
}

func (e *preparedEntry) make(from *compartments.EntryWrite) {
	e.record = encodeEntry(&from.Entry)
	if from.Raw != nil {
		e.hash = sha256.Sum256(from.Raw)
		e.cuts, _ = split(from.Raw)
	}
}
