package timing

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/urn"
)

// Timings add up where the time of each operation of a command went.
type Timings struct {
	operations []*operation
}

// operation has the data of one operation.
type operation struct {
	*span
	stages    map[string]*durations
	calls     map[method]*durations
	failed    map[method]int
	limits    map[string]*union
	resources longest[slowResource]
	slowCalls longest[slowCall]
	paths     paths
	ready     readiness
}

// method is a method of a provider.
type method struct{ pkg, name string }

type slowResource struct {
	urn   urn.URN
	op    string
	parts parts
}

type slowCall struct {
	method
	urn urn.URN
	typ urn.Type
}

// NewTimings returns empty timings.
func NewTimings() *Timings { return &Timings{} }

// slowest is the length of the lists of slowest entries.
const slowest = 10

func newOperation(s *span) *operation {
	return &operation{
		span: s, stages: map[string]*durations{}, calls: map[method]*durations{}, failed: map[method]int{}, limits: map[string]*union{},
		resources: longest[slowResource]{most: slowest}, slowCalls: longest[slowCall]{most: slowest}, paths: newPaths(s.start),
	}
}

func (t *Timings) began(s *span) {
	if s.kind == kindOperation {
		t.operations = append(t.operations, newOperation(s))
	}
	if o := t.current(); o != nil {
		o.paths.starts(s)
		o.ready.starts(s)
	}
}

// current returns the operation that began last: a command has one at a time.
func (t *Timings) current() *operation {
	if len(t.operations) == 0 {
		return nil
	}
	return t.operations[len(t.operations)-1]
}

func (t *Timings) ended(s *span) {
	o := t.current()
	if o == nil {
		return
	}
	o.paths.ends(s)
	o.ready.ends(s)
	took := s.duration()
	switch s.kind {
	case kindStage:
		sum(o.stages, s.name).add(took)
	case kindCall:
		key := method{s.pkg, s.method}
		sum(o.calls, key).add(took)
		if s.failed {
			o.failed[key]++
		}
		o.slowCalls.add(took, func() slowCall { return slowCall{key, s.urn, s.typ} })
	case kindWait:
		if o.limits[s.limit] == nil {
			o.limits[s.limit] = &union{}
		}
		o.limits[s.limit].add(s.start, s.end)
	}
	if s.resource == s && !s.unfinished {
		o.resources.add(took, func() slowResource { return slowResource{s.urn, s.op, s.took} })
	}
}

// sum returns the durations of a key, and adds them if they are missing.
func sum[K comparable](in map[K]*durations, key K) *durations {
	if in[key] == nil {
		in[key] = &durations{}
	}
	return in[key]
}

// methods returns the methods that were called, those with the longest total first.
func (o *operation) methods() []method {
	return slices.SortedFunc(maps.Keys(o.calls), func(a, b method) int {
		return cmp.Or(cmp.Compare(o.calls[b].total, o.calls[a].total), cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.name, b.name))
	})
}

// waits returns the names of the limits with waits, those with the longest total first.
func (o *operation) waits() []string {
	return slices.SortedFunc(maps.Keys(o.limits), func(a, b string) int {
		return cmp.Or(cmp.Compare(o.limits[b].total(), o.limits[a].total()), cmp.Compare(a, b))
	})
}

// saturated returns how long tasks have waited for a worker.
func (o *operation) saturated() time.Duration {
	if u := o.limits[limitOfWorkers]; u != nil {
		return u.total()
	}
	return 0
}

// Write writes the timings of all operations for people. Call it when they are over.
func (t *Timings) Write(to io.Writer) error {
	var text strings.Builder
	for _, o := range t.operations {
		o.write(&text)
	}
	_, err := io.WriteString(to, text.String())
	return err
}

func (o *operation) write(w *strings.Builder) {
	ended := o.end
	if ended.IsZero() {
		return // the write was cut off
	}
	fmt.Fprintf(w, "\nTimings of the %s: %s with --parallel %d\n", o.name, shown(o.duration()), o.parallel)
	o.ready.write(w)
	o.writeResources(w)
	o.writeCalls(w)
	o.writeMethods(w)
	o.writeStages(w)
	o.writeLimits(w)
	o.writePath(w)
	o.writeGain(w)
}

// table writes a title and rows with aligned cells: the first one on the left, the others on the right.
func table(w *strings.Builder, title string, head []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", title)
	names := 0
	for _, row := range append([][]string{head}, rows...) {
		names = max(names, len([]rune(row[0])))
	}
	aligned := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range append([][]string{head}, rows...) {
		name := row[0] + strings.Repeat(" ", names-len([]rune(row[0])))
		_, _ = fmt.Fprintf(aligned, "  %s\t%s\t\n", name, strings.Join(row[1:], "\t")) // a Builder returns no error
	}
	_ = aligned.Flush()
}

func (o *operation) writeResources(w *strings.Builder) {
	var rows [][]string
	for _, e := range o.resources.entries {
		rows = append(rows, []string{
			resource(e.what.urn, e.what.op), shown(e.took), shown(e.what.parts.calls), shown(e.what.parts.waits),
		})
	}
	table(w, "Slowest resources, from registration to reply", []string{"", "time", "provider", "limits"}, rows)
}

func (o *operation) writeCalls(w *strings.Builder) {
	var rows [][]string
	for _, e := range o.slowCalls.entries {
		about := resource(e.what.urn, "")
		if e.what.urn == "" {
			about = format.Printable(string(e.what.typ))
		}
		rows = append(rows, []string{strings.TrimSpace(e.what.pkg + " " + e.what.name + " " + about), shown(e.took)})
	}
	table(w, "Slowest calls of providers", []string{"", "time"}, rows)
}

func (o *operation) writeMethods(w *strings.Builder) {
	var rows [][]string
	for _, m := range o.methods() {
		d := o.calls[m]
		failed := ""
		if n := o.failed[m]; n > 0 {
			failed = fmt.Sprint(n)
		}
		rows = append(rows, []string{
			m.pkg + " " + m.name, fmt.Sprint(len(d.all)), failed, shown(d.total), shown(d.quantile(0.5)), shown(d.quantile(0.95)),
		})
	}
	table(w, "Calls of providers", []string{"", "calls", "failed", "total", "p50", "p95"}, rows)
}

func (o *operation) writeStages(w *strings.Builder) {
	var rows [][]string
	for _, name := range []string{"register", "lookup", "check", "analyze", "diff", "build", "execute"} {
		if d := o.stages[name]; d != nil {
			rows = append(rows, []string{
				name, fmt.Sprint(len(d.all)), shown(d.total), shown(d.quantile(0.5)), shown(d.quantile(0.95)),
			})
		}
	}
	table(w, "Stages, with the time that resources waited there", []string{"", "resources", "total", "p50", "p95"}, rows)
}

func (o *operation) writeLimits(w *strings.Builder) {
	var rows [][]string
	for _, limit := range o.waits() {
		u := o.limits[limit]
		name, calls := "limit "+format.Printable(limit), fmt.Sprint(u.count)
		if limit == limitOfWorkers {
			name, calls = fmt.Sprintf("--parallel %d", o.parallel), ""
		}
		rows = append(rows, []string{name, calls, shown(u.total())})
	}
	if len(rows) == 0 {
		fmt.Fprintf(w, "\nNothing waited for a limit.\n")
		return
	}
	table(w, "Time in which something waited for a limit", []string{"", "calls", "time"}, rows)
}

// mostLinks is the maximal number of listed resources of a chain; quick ones are left out.
const mostLinks = 20

func (o *operation) writePath(w *strings.Builder) {
	chain := o.paths.critical()
	if len(chain) == 0 {
		return
	}
	from := o.start
	var parts []time.Duration
	for _, l := range chain {
		parts = append(parts, max(0, l.end.Sub(later(from, l.start))))
		from = l.end
	}
	shortest := time.Duration(-1)
	if len(parts) > mostLinks {
		sorted := slices.Clone(parts)
		slices.Sort(sorted)
		shortest = sorted[len(sorted)-mostLinks]
	}
	var rows [][]string
	omitted, quick := 0, time.Duration(0)
	for i, l := range chain {
		if parts[i] < shortest {
			omitted++
			quick += parts[i]
			continue
		}
		rows = append(rows, []string{resource(l.urn, l.op), shown(l.start.Sub(o.start)), shown(l.end.Sub(o.start)), shown(parts[i])})
	}
	if omitted > 0 {
		rows = append(rows, []string{fmt.Sprintf("%d quicker ones between them", omitted), "", "", shown(quick)})
	}
	rows = append(rows, []string{"the end of the operation", shown(from.Sub(o.start)), shown(o.duration()), shown(o.end.Sub(from))})
	table(w, "Critical path: what ended last, and what each waited for", []string{"", "begin", "end", "own time"}, rows)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// writeGain writes how much time more workers would save at most.
func (o *operation) writeGain(w *strings.Builder) {
	took := o.duration()
	fmt.Fprintln(w)
	if o.saturated() < took/100 {
		fmt.Fprintf(w, "A wider --parallel would gain nothing: almost no step waited for a worker.\n")
		return
	}
	fmt.Fprintf(w, "A wider --parallel might help: something waited for a worker for %s of %s.\n", shown(o.saturated()), shown(took))
	least := o.paths.atLeast(0, o.end)
	for workers := o.parallel * 2; workers > 0 && workers <= o.parallel*16; workers *= 2 {
		bound := o.paths.atLeast(workers, o.end)
		fmt.Fprintf(w, "With --parallel %d it would take at least %s.\n", workers, shown(bound))
		if bound <= least {
			return
		}
	}
	fmt.Fprintf(w, "With any number it would take at least %s.\n", shown(least))
}

// resource names a resource for people: its operation, type and name.
func resource(u urn.URN, op string) string {
	text := format.Printable(u.Name())
	if t := string(u.Type()); t != "" {
		text += " " + format.Printable(t)
	}
	if op != "" {
		text = op + " " + text
	}
	return text
}

// shown formats a duration with about three digits.
func shown(d time.Duration) string {
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d >= time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	case d >= 10*time.Millisecond:
		return fmt.Sprintf("%.0f ms", d.Seconds()*1e3)
	case d == 0:
		return "-"
	}
	return fmt.Sprintf("%.1f ms", d.Seconds()*1e3)
}
