package spec

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// DefaultQueue is the queue of stacks whose group names none.
const DefaultQueue = "fleet"

// defaultConcurrency is the number of stacks that run at once if fleet.yaml sets none.
const defaultConcurrency = 8

// Fleet is a valid fleet.yaml: patterns are resolved, groups applied and variables replaced.
type Fleet struct {
	Name        string
	Root        string // the folder of fleet.yaml
	Concurrency int
	Limits      map[string]int // of stacks at once
	Key         *KeyEntry      // nil if fleet.yaml has none
	Stacks      []Stack        // in the order of the file; those of a pattern by name
	Schedules   []Schedule
}

// Stack is one stack of a fleet.
type Stack struct {
	Name      string            `json:"name"`                // in the fleet
	Entry     string            `json:"entry"`               // the name in fleet.yaml, which all stacks of a pattern share
	Directory string            `json:"directory,omitempty"` // relative, with slashes
	Git       string            `json:"git,omitempty"`
	Ref       string            `json:"ref,omitempty"`
	Group     string            `json:"group,omitempty"`
	Stack     string            `json:"stack"` // the name in its project
	Queue     string            `json:"queue"`
	Needs     []string          `json:"needs,omitempty"` // names of stacks of the fleet, sorted
	Limits    []string          `json:"limits,omitempty"`
	Approve   []string          `json:"approve,omitempty"`
	Config    map[string]string `json:"config,omitempty"`
	Parallel  int               `json:"parallel,omitempty"` // the number of resources that change at once; 0 means sluice's default

	// Environment are the variables that it gets besides those of all stacks. A worker reads them from its own fleet.yaml, never from a request.
	Environment []string `json:"-"`
}

// Schedule is a repeated operation.
type Schedule struct {
	Name, Operation string
	Cron, Every     string // exactly one is set
	Select          []string
}

// Select returns the stacks with one of the names, which are those of stacks, entries or groups; all stacks if there are none. unknown are the names
// that match nothing.
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

// String describes the place of the stack's program.
func (s Stack) String() string {
	if s.Git != "" {
		return fmt.Sprintf("%s at %s, %s", s.Git, s.Ref, cmp.Or(s.Directory, "."))
	}
	return s.Directory
}

// Withheld reports whether a stack does not get a variable of its worker, because fleet.yaml reserves it for other stacks. A stack that is not in
// fleet.yaml gets no reserved variable.
func (f *Fleet) Withheld(stack, variable string) bool {
	given := false
	for _, s := range f.Stacks {
		if slices.ContainsFunc(s.Environment, func(pattern string) bool { return covers(pattern, variable) }) {
			if s.Name == stack {
				return false
			}
			given = true
		}
	}
	return given
}

func covers(pattern, variable string) bool {
	if start, is := strings.CutSuffix(pattern, "*"); is {
		return strings.HasPrefix(variable, start)
	}
	return pattern == variable
}

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
