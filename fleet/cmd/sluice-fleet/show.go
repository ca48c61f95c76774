package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/fleet/run"
	"github.com/sluice-iac/sluice/fleet/watch"
)

// show shows a run: as lines, as JSON, or as a tree that is redrawn.
type show struct {
	out  io.Writer
	json bool
	tree *tree // nil unless it is drawn

	mu    sync.Mutex // guards the rest, and out
	known map[string]standing
	waits map[string]string
}

// standing identifies what the line about a stack shows. Between two looks a stack may run and wait for the approval of
// another plan.
type standing struct {
	status run.Status
	plan   string // the plan that waits for approval
}

func standingOf(is run.StackView) standing {
	if is.Status == run.Approving {
		return standing{is.Status, is.Plan}
	}
	return standing{status: is.Status}
}

func newShow(asJSON, live bool) *show {
	s := &show{out: out(), json: asJSON, known: map[string]standing{}, waits: map[string]string{}}
	if live && !asJSON {
		s.tree = newTree(screen())
	}
	if asJSON {
		s.out = documents()
	}
	return s
}

// every returns the interval between two looks at a run. Each look is a query to a worker.
func (s *show) every() time.Duration {
	if s.tree != nil {
		return 300 * time.Millisecond
	}
	return time.Second
}

// event is a line of JSON.
type event struct {
	Event     string             `json:"event"` // run, stack, note or end
	Time      time.Time          `json:"time"`
	Run       string             `json:"run,omitempty"`
	Operation run.Operation      `json:"operation,omitempty"`
	Joined    bool               `json:"joined,omitempty"`
	Stack     *run.StackView     `json:"stack,omitempty"`
	Text      string             `json:"text,omitempty"`
	Summary   map[run.Status]int `json:"summary,omitempty"` // stacks by status
}

func (s *show) write(e event) {
	e.Time = time.Now().UTC()
	_ = json.NewEncoder(s.out).Encode(e) // a reader that has gone does not affect the run
}

func (s *show) begin(id string, op run.Operation, joined bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.json:
		s.write(event{Event: "run", Run: id, Operation: op, Joined: joined})
	case joined:
		fmt.Fprintf(s.out, "Run %s goes on:\n", id)
	default:
		fmt.Fprintf(s.out, "Run %s:\n", id)
	}
}

func (s *show) note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.json:
		s.write(event{Event: "note", Text: text})
	case s.tree != nil:
		s.tree.note = text
	default:
		fmt.Fprintln(s.out, text)
	}
}

// look shows the changes since the last call.
func (s *show) look(now watch.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tree != nil {
		s.tree.draw(now)
		return
	}
	stacks := slices.SortedStableFunc(slices.Values(now.Stacks), func(a, b run.StackView) int { return changedAt(a).Compare(changedAt(b)) })
	for _, stack := range stacks {
		if now := standingOf(stack); s.known[stack.Name] != now && stack.Status != run.Waiting {
			s.known[stack.Name] = now
			s.stack(stack)
		}
		if waits := now.Progress[stack.Name].Waits; waits != "" && waits != "for a worker" && waits != s.waits[stack.Name] && !s.json {
			fmt.Fprintf(s.out, "  %-10s %s: waits %s\n", "", stack.Name, waits)
			s.waits[stack.Name] = waits
		}
	}
}

// changedAt returns when a stack got its status, if that is known.
func changedAt(s run.StackView) time.Time {
	if s.Ended.IsZero() {
		return s.Began
	}
	return s.Ended
}

// all shows every stack.
func (s *show) all(now watch.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, stack := range now.Stacks {
		s.known[stack.Name] = standingOf(stack)
		s.stack(stack)
		if p := now.Progress[stack.Name]; p.Last != "" && !s.json {
			fmt.Fprintf(s.out, "  %-10s   %s\n", "", progressText(p))
		}
	}
}

func (s *show) stack(is run.StackView) {
	if s.json {
		is.Planned = run.Planned{}
		s.write(event{Event: "stack", Stack: &is})
		return
	}
	fmt.Fprintf(s.out, "  %-10s %s%s\n", is.Status.Word(), is.Name, about(is))
}

// about returns the description of a stack besides its name and its status.
func about(is run.StackView) string {
	var parts []string
	if c := is.ChangesText(); c != "" && is.Status == run.Succeeded {
		parts = append(parts, c)
	}
	if d := is.Drift; d != nil {
		parts = append(parts, fmt.Sprintf("%d of %d have moved", d.Moved, d.Read))
	}
	if is.Why != "" {
		parts = append(parts, firstLine(is.Why))
	}
	if is.Approval != nil && is.Approval.Granted {
		parts = append(parts, "approved by "+is.Approval.By)
	}
	if is.Attempts > 1 {
		parts = append(parts, fmt.Sprintf("attempt %d", is.Attempts))
	}
	if is.Status == run.Approving {
		parts = append(parts, "`sluice fleet approve "+is.Name+"`")
		if c := is.ChangesText(); c != "" {
			parts = append(parts, c)
		}
		if is.Plan != "" {
			parts = append(parts, "plan "+is.Plan)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, "; ")
}

func firstLine(text string) string { line, _, _ := strings.Cut(text, "\n"); return line }

func progressText(p run.Progress) string {
	text := fmt.Sprintf("%d done, %d running", p.Done, p.Running)
	if p.Last != "" {
		text += ": " + p.Last
	}
	if p.Waits != "" {
		text = "waits " + p.Waits
	}
	return text
}

// end shows how a run has ended.
func (s *show) end(now watch.State) {
	s.look(now)
	s.mu.Lock()
	defer s.mu.Unlock()
	counts := now.Counts()
	if s.json {
		s.write(event{Event: "end", Operation: now.Operation, Summary: counts})
		return
	}
	if s.tree != nil {
		s.tree.finish(now)
	}
	for _, stack := range now.Stacks {
		if stack.Status == run.Failed && stack.Log != "" {
			fmt.Fprintf(s.out, "\n%s:\n%s", stack.Name, indent(stack.Log))
		}
	}
	fmt.Fprintf(s.out, "\n%s in %v\n", countsText(counts), now.Ended.Sub(now.Began).Round(time.Second))
}

// countsText formats counts: "1 failed, 2 succeeded".
func countsText(counts map[run.Status]int) string {
	var parts []string
	for _, status := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[status], status.Word()))
	}
	return strings.Join(parts, ", ")
}

func indent(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    ") + "\n"
}
