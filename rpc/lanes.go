package rpc

import (
	"sync"

	"ctxplugin/compartments"
)

// lanes run jobs: those of one lane one after another in the order they were put,
// lanes beside each other. A lane has a goroutine only while it has jobs.
type lanes struct {
	maxJobs  int // that may wait or run, in all lanes
	maxBytes int // of their lines

	mu      sync.Mutex
	waiting map[string][]*job // lanes that have a goroutine
	jobs    int
	bytes   int
	replies int // small answers that wait to be written
	closed  bool
	idle    []chan struct{} // closed when nothing waits or runs any more
}

// job is one thing to do in a lane.
type job struct {
	run   func()
	size  int  // bytes that it keeps alive
	reply bool // a small answer
}

func newLanes(maxJobs, maxBytes int) *lanes {
	return &lanes{maxJobs: maxJobs, maxBytes: maxBytes, waiting: map[string][]*job{}}
}

// put enqueues a job and never waits. It is refused when too much waits already;
// a single job is never too large.
func (l *lanes) put(lane string, j *job) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return compartments.Errorf(compartments.CodeBusy, "ctxplugin is shutting down")
	case l.jobs >= l.maxJobs:
		return compartments.Errorf(compartments.CodeBusy, "%d requests wait already; send this one again when some are answered", l.jobs)
	case l.jobs > 0 && l.bytes+j.size > l.maxBytes:
		return compartments.Errorf(compartments.CodeBusy, "requests of %d bytes wait already; send this one again when some are answered", l.bytes)
	}
	l.jobs++
	l.bytes += j.size
	l.add(lane, j)
	return nil
}

// putReply enqueues a small answer in a lane of its own and reports whether there
// was room for it.
func (l *lanes) putReply(run func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.replies >= l.maxJobs {
		return false
	}
	l.replies++
	l.add("", &job{run: run, reply: true})
	return true
}

func (l *lanes) add(lane string, j *job) {
	queue, running := l.waiting[lane]
	l.waiting[lane] = append(queue, j)
	if !running {
		go l.work(lane)
	}
}

// work runs the jobs of one lane until there are no more.
func (l *lanes) work(lane string) {
	for {
		l.mu.Lock()
		queue := l.waiting[lane]
		if len(queue) == 0 {
			delete(l.waiting, lane)
			l.mu.Unlock()
			return
		}
		j := queue[0]
		queue[0] = nil
		l.waiting[lane] = queue[1:]
		l.mu.Unlock()

		j.run()
		j.run = nil // it holds the line
		giveBack(j.size)

		l.mu.Lock()
		if j.reply {
			l.replies--
		} else {
			l.jobs--
			l.bytes -= j.size
		}
		if l.jobs+l.replies == 0 {
			for _, c := range l.idle {
				close(c)
			}
			l.idle = nil
		}
		l.mu.Unlock()
	}
}

// close refuses further jobs. Those that wait are still run.
func (l *lanes) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
}

// drained returns a channel that is closed once nothing waits or runs.
func (l *lanes) drained() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := make(chan struct{})
	if l.jobs+l.replies == 0 {
		close(c)
	} else {
		l.idle = append(l.idle, c)
	}
	return c
}
