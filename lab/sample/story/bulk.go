package story

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// bulk writes the long dull texts of a session: logs, test runs, tables,
// generated code. Its numbers come from a fixed sequence that its name seeds.
type bulk struct {
	state uint64
	clock time.Time
}

func newBulk(name string) *bulk {
	b := &bulk{state: 0x9e3779b97f4a7c15, clock: time.Date(2031, 3, 3, 7, 40, 0, 0, time.UTC)}
	for _, c := range []byte(name) {
		b.state = b.state*0x100000001b3 ^ uint64(c)
	}
	return b
}

// next is the following number of the sequence, in 0..n-1.
func (b *bulk) next(n int) int {
	b.state += 0x9e3779b97f4a7c15
	z := b.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int((z ^ z>>31) >> 1 % uint64(n))
}

func (b *bulk) pick(list ...string) string { return list[b.next(len(list))] }

// lines reads `name n` and writes n lines of that kind.
func (b *bulk) lines(request string) ([]string, error) {
	name, count, _ := strings.Cut(request, " ")
	n, err := strconv.Atoi(count)
	if err != nil || n < 0 || n > 10_000 {
		return nil, fmt.Errorf("bulk %q needs a number of lines, at most 10000", request)
	}
	one, ok := map[string]func(i int) string{
		"log": b.logLine, "access": b.accessLine, "tests": b.testLine, "csv": b.csvLine, "npm": b.npmLine,
		"ci": b.ciLine, "stack": b.stackLine, "client": b.clientLine, "query": b.queryLine, "codes": b.codeLine,
	}[name]
	if !ok {
		return nil, fmt.Errorf("no bulk is called %q", name)
	}
	out := make([]string, n)
	for i := range out {
		out[i] = one(i)
	}
	return out, nil
}

func (b *bulk) tick(most int) string {
	b.clock = b.clock.Add(time.Duration(40+b.next(most)) * time.Millisecond)
	return b.clock.Format("2006-01-02T15:04:05.000Z")
}

func (b *bulk) logLine(int) string {
	at, job := b.tick(2400), 80000+b.next(1900)
	switch b.next(9) {
	case 0:
		return fmt.Sprintf(`%s INFO  worker claimed job=%d kind=import worker=w%d attempt=1 wait_ms=%d`, at, job, 1+b.next(6), b.next(4000))
	case 1:
		return fmt.Sprintf(`%s INFO  worker finished job=%d rows=%d rejected=%d took_ms=%d`, at, job, 1000+b.next(90000), b.next(60), 400+b.next(90000))
	case 2, 3:
		return fmt.Sprintf(`%s DEBUG heartbeat job=%d worker=w%d lease_left_ms=%d`, at, job, 1+b.next(6), 30000+b.next(60000))
	case 4:
		return fmt.Sprintf(`%s DEBUG pool acquired conns_in_use=%d idle=%d wait_count=%d`, at, 1+b.next(4), b.next(3), b.next(700))
	case 5:
		return fmt.Sprintf(`%s INFO  http method=POST path=/v1/imports status=202 bytes=%d took_ms=%d`, at, 900+b.next(500000), 2+b.next(80))
	case 6:
		return fmt.Sprintf(`%s DEBUG csv batch job=%d offset=%d rows=500 took_ms=%d`, at, job, b.next(1900)*500, 3+b.next(50))
	case 7:
		return fmt.Sprintf(`%s DEBUG store upsert table=scans rows=500 conflict=%d took_ms=%d`, at, b.next(40), 8+b.next(90))
	}
	return fmt.Sprintf(`%s INFO  http method=GET path=/v1/jobs/%d status=200 took_ms=%d`, at, job, 1+b.next(20))
}

func (b *bulk) accessLine(int) string {
	return fmt.Sprintf(`10.0.%d.%d - - [%s] "%s /v1/%s HTTP/1.1" %s %d "-" "tally-web/3.2"`, b.next(4), 10+b.next(200),
		b.tick(900), b.pick("GET", "GET", "GET", "POST"), b.pick("jobs", "imports", "rejects", "health", "jobs?state=running"),
		b.pick("200", "200", "200", "202", "304"), 120+b.next(90000))
}

func (b *bulk) testLine(i int) string {
	name := b.pick("Claim", "Release", "Lease", "Header", "Quoted", "Reject", "Upsert", "Batch", "Backoff", "Encode", "Health", "Router") +
		b.pick("Empty", "Unicode", "Twice", "AfterClose", "Concurrent", "Large", "Order", "Retry", "Timeout", "Missing")
	if i%2 == 0 {
		return fmt.Sprintf("=== RUN   Test%s/%s_%d", name, b.pick("plain", "gzip", "crlf", "bom", "short", "long"), b.next(40))
	}
	return fmt.Sprintf("    --- PASS: Test%s/%s (%d.%02ds)", name, b.pick("plain", "gzip", "crlf", "bom", "short", "long"), b.next(2), b.next(100))
}

func (b *bulk) csvLine(i int) string {
	if i == 0 {
		return "scan_id,depot,parcel,weight_g,scanned_at,operator"
	}
	return fmt.Sprintf("%08d,%s%03d,P%07d,%d,%s,op%02d", 4100000+i, b.pick("N", "S", "E", "W"), b.next(120),
		b.next(9000000), 40+b.next(30000), b.tick(60000), b.next(60))
}

func (b *bulk) npmLine(i int) string {
	return fmt.Sprintf("%s── %s@%d.%d.%d", b.pick("├", "├", "│ ├", "│ └"), b.pick("table-kit", "table-kit-core", "form-kit", "chart-lines",
		"query-cache", "router-lite", "date-words", "icons-plain", "css-reset", "test-dom", "bundle-fast", "lint-rules", "i18n-mini"),
		b.next(9), b.next(20), b.next(12))
}

func (b *bulk) ciLine(int) string {
	at := b.tick(1500)
	switch b.next(5) {
	case 0:
		return at + " go: downloading example.com/" + b.pick("pgpool v1.7.4", "csvfast v0.9.1", "logline v2.1.0", "clockface v1.0.3", "router v4.4.0")
	case 1:
		return at + fmt.Sprintf(" ok  	example.com/tally/internal/%s	%d.%03ds	coverage: %d.%d%% of statements", b.pick("csvimport", "queue", "store", "httpapi", "config"), b.next(9), b.next(1000), 60+b.next(35), b.next(10))
	case 2:
		return at + " ##[group]Run " + b.pick("actions/checkout", "actions/setup-go", "npm ci", "make lint", "make test")
	case 3:
		return at + fmt.Sprintf(" --- PASS: Test%s (%d.%02ds)", b.pick("ClaimSkipsLocked", "HeaderBOM", "RejectsCount", "UpsertTwice", "RouterJobs", "BackoffGrows"), b.next(3), b.next(100))
	}
	return at + " ##[endgroup]"
}

func (b *bulk) stackLine(i int) string {
	if i%2 == 0 {
		return fmt.Sprintf("example.com/tally/internal/%s(0xc000%06x, 0x%x)", b.pick("queue.(*Worker).run", "queue.(*Queue).claim", "store.(*Pool).acquire",
			"csvimport.(*Importer).batch", "httpapi.(*Server).serve"), b.next(1<<24), b.next(4096))
	}
	return fmt.Sprintf("\t/home/dev/tally/internal/%s:%d +0x%x", b.pick("queue/worker.go", "queue/queue.go", "store/pool.go", "csvimport/importer.go", "httpapi/server.go"), 20+b.next(300), b.next(2048))
}

func (b *bulk) clientLine(i int) string {
	name := b.pick("Job", "Import", "Reject", "Lease", "Worker", "Depot", "Scan", "Upload", "Health", "Session") + b.pick("", "Page", "List", "State", "Patch", "Filter", "Event", "Count")
	switch i % 7 {
	case 0:
		return fmt.Sprintf("export interface %s%d {", name, i/7)
	case 1:
		return "  readonly id: string;"
	case 2:
		return fmt.Sprintf("  %s?: %s;", b.pick("depot", "state", "attempt", "rejected", "leaseLeftMs", "startedAt", "operator"), b.pick("string", "number", "string | null", "readonly string[]"))
	case 3:
		return fmt.Sprintf("  %s: %s;", b.pick("rows", "createdAt", "updatedAt", "kind", "owner", "cursor"), b.pick("number", "string", "boolean"))
	case 4:
		return "}"
	case 5:
		return fmt.Sprintf("export const get%s%d = (id: string, init?: RequestInit) => call<%s%d>(`/v1/%s/${id}`, init);", name, i/7, name, i/7, strings.ToLower(name))
	}
	return ""
}

func (b *bulk) queryLine(i int) string {
	return fmt.Sprintf(" %6d | %-9s | w%d | %s | %6d | %s", 80000+b.next(1900), b.pick("running", "running", "done", "failed", "waiting"),
		1+b.next(6), b.tick(90000), b.next(120000), b.pick("import", "import", "reindex", "export"))
}

func (b *bulk) codeLine(i int) string {
	return fmt.Sprintf(`	"%s%03d": {Depot: "%s", Zone: %d, Opens: %d, Closes: %d},`, b.pick("N", "S", "E", "W"), i,
		b.pick("north", "south", "east", "west", "air", "port"), 1+b.next(9), 5+b.next(4), 17+b.next(6))
}
