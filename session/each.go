package session

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// both calls two functions beside each other, and returns when both are done. Neither
// may touch what the other changes. A panic goes on in the caller, which answers for
// it.
func both(there, here func()) {
	var wait sync.WaitGroup
	var broken any
	wait.Go(func() {
		defer func() {
			if r := recover(); r != nil {
				broken = fmt.Sprintf("%v\n%s", r, debug.Stack())
			}
		}()
		there()
	})
	func() {
		defer wait.Wait()
		here()
	}()
	if broken != nil {
		panic(broken)
	}
}

// eachRun is how many messages one processor takes at a time. A pass brings
// fewer, and is worked on as it stands; the first sync of a long session has
// thousands.
const eachRun = 16

// each calls f for every number below n, on all processors if there are many, and
// returns when all is done. f must not touch what another call of it changes. A
// panic goes on in the caller, which answers for it.
func each(n int, f func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), n/eachRun)
	if workers < 2 {
		for i := range n {
			f(i)
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
			for {
				to := int(next.Add(eachRun))
				if to-eachRun >= n {
					return
				}
				for i := to - eachRun; i < min(to, n); i++ {
					f(i)
				}
			}
		})
	}
	wait.Wait()
	if r := broken.Load(); r != nil {
		panic(r)
	}
}
