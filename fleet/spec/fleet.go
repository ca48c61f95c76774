package spec

import "slices"

// DefaultQueue is the queue of stacks whose group names no other.
const DefaultQueue = "fleet"

// defaultConcurrency is how many stacks are worked on at once where fleet.yaml does not say.
const defaultConcurrency = 8

// Fleet is a fleet.yaml without mistakes: patterns are resolved, groups applied and variables replaced.
type Fleet struct {
	Name        string
	Root        string // the folder of fleet.yaml
	Concurrency int
	Limits      map[string]int
	Stacks      []Stack // in the order of the file; those of a pattern by name
	Schedules   []Schedule
}

// Stack is one stack of a fleet.
type Stack struct {
	Name      string            `json:"name"`                // in the fleet
	Entry     string            `json:"entry"`               // the name in fleet.yaml, which several stacks of a pattern share
	Directory string            `json:"directory,omitempty"` // relative, with slashes
	Git       string            `json:"git,omitempty"`
	Ref       string            `json:"ref,omitempty"`
	Group     string            `json:"group,omitempty"`
	Stack     string            `json:"stack"` // in its project
	Queue     string            `json:"queue"`
	Needs     []string          `json:"needs,omitempty"` // names of stacks of the fleet, sorted
	Limits    []string          `json:"limits,omitempty"`
	Approve   []string          `json:"approve,omitempty"`
	Config    map[string]string `json:"config,omitempty"`
}

// Schedule is an operation that is repeated.
type Schedule struct {
	Name, Operation string
	Cron, Every     string // one of them
	Select          []string
}

// Select returns the stacks with one of the names, which are those of stacks, entries or groups; all if there are none. It also returns the names that
// nothing has.
func (f *Fleet) Select(names []string) (stacks []Stack, unknown []string) {
	if len(names) == 0 {
		return f.Stacks, nil
	}
	for _, name := range names {
		if !slices.ContainsFunc(f.Stacks, func(s Stack) bool { return s.is(name) }) {
			unknown = append(unknown, name)
		}
	}
	for _, s := range f.Stacks {
		if slices.ContainsFunc(names, s.is) {
			stacks = append(stacks, s)
		}
	}
	return stacks, unknown
}

func (s Stack) is(name string) bool { return s.Name == name || s.Entry == name || s.Group == name }

// Names returns the names that can be selected, without those of the stacks of patterns.
func (f *Fleet) Names() []string {
	var out []string
	for _, s := range f.Stacks {
		out = append(out, s.Entry, s.Group)
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(n string) bool { return n == "" })
}

// Queues returns the queues of the stacks, sorted.
func (f *Fleet) Queues() []string {
	var out []string
	for _, s := range f.Stacks {
		out = append(out, s.Queue)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
