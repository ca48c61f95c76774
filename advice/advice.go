package advice

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/urn"
)

// Advice is one thing that can be done. Which fields are set depends on the action.
type Advice struct {
	Action Action
	URNs   []urn.URN // the resources that it is about
	ID     string    // of the object that it is about
	Key    string    // of the setting that it is about
	Stack  string    // the name of the stack that it is about
	Plugin Plugin    // that it is about
}

// Plugin names a plugin.
type Plugin struct {
	Kind, Name string
	Version    string // without "v"; "" for any
	Server     string // where it comes from; "" for the public place of its name
	Archive    string // the name of the file in which it is published; "" if that is not known
}

// String describes the advice for logs and tests.
func (a Advice) String() string {
	words := []string{string(a.Action)}
	for _, u := range a.URNs {
		words = append(words, string(u))
	}
	for _, text := range []string{a.ID, a.Key, a.Stack, a.Plugin.Kind, a.Plugin.Name, a.Plugin.Version, a.Plugin.Server, a.Plugin.Archive} {
		if text != "" {
			words = append(words, text)
		}
	}
	return strings.Join(words, " ")
}

func (a Advice) equals(b Advice) bool {
	return a.Action == b.Action && a.ID == b.ID && a.Key == b.Key && a.Stack == b.Stack && a.Plugin == b.Plugin && slices.Equal(a.URNs, b.URNs)
}

// On returns advice about resources.
func On(a Action, us ...urn.URN) Advice { return Advice{Action: a, URNs: us} }

// Of collects the advice of an error and of everything that it wraps, the outer first, without duplicates. An error has
// advice if it has the method Advice() []Advice.
func Of(err error) []Advice {
	var all []Advice
	walk(err, func(a Advice) {
		if !slices.ContainsFunc(all, a.equals) {
			all = append(all, a)
		}
	})
	return all
}

// walk visits the advice of a tree of errors.
func walk(err error, visit func(Advice)) {
	if err == nil {
		return
	}
	if has, is := err.(interface{ Advice() []Advice }); is {
		for _, a := range has.Advice() {
			visit(a)
		}
	}
	switch e := err.(type) {
	case interface{ Unwrap() []error }:
		for _, err := range e.Unwrap() {
			walk(err, visit)
		}
	case interface{ Unwrap() error }:
		walk(e.Unwrap(), visit)
	}
}

// With returns an error with the text of err that wraps it and has advice. It returns nil for nil.
func With(err error, as ...Advice) error {
	if err == nil {
		return nil
	}
	return &advised{err, as}
}

// Errorf is [fmt.Errorf] for an error with one advice.
func Errorf(a Advice, format string, args ...any) error {
	return With(fmt.Errorf(format, args...), a)
}

type advised struct {
	error
	advice []Advice
}

func (e *advised) Unwrap() error { return e.error }

// Advice returns the advice.
func (e *advised) Advice() []Advice { return e.advice }
