package syntax

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/internal/text/excerpt"
	"github.com/sluice-iac/sluice/internal/text/similar"
)

// Severity is the weight of a diagnostic.
type Severity int

// The severities.
const (
	Warning Severity = iota
	Error
)

// Diagnostic describes a mistake, its place, and what to do.
type Diagnostic struct {
	Severity Severity
	Range    Range
	Summary  string
	Hint     string // what to do in the program; "" when there is nothing to add
	Advice   []advice.Advice
}

// Text formats the diagnostic with its line of the file:
//
//	Pulumi.yaml:7:15: there is no resource, variable or configuration value "buket"
//	   7 |     bucket: ${buket.id}
//	     |               ^^^^^^^^
//	  did you mean "bucket"?
func (d Diagnostic) Text(f *File) string {
	var b strings.Builder
	summary, more, _ := strings.Cut(d.Summary, "\n") // an error of another program may have many lines
	if d.Range.IsZero() {
		fmt.Fprintf(&b, "%s: %s", f.Name, summary)
	} else {
		fmt.Fprintf(&b, "%s:%d:%d: %s", f.Name, d.Range.Line, d.Range.Column, summary)
		b.WriteString("\n" + excerpt.Of(d.Range.Line, f.line(d.Range.Line), d.Range.Column, d.Range.End))
	}
	for _, text := range []string{more, d.Hint} {
		if text != "" {
			b.WriteString("\n  " + strings.ReplaceAll(text, "\n", "\n  "))
		}
	}
	return b.String()
}

// Diagnostics is a list of diagnostics.
type Diagnostics []Diagnostic

// Add adds a diagnostic, unless the list has it: the value of an anchor is read again for each of its aliases.
func (ds *Diagnostics) Add(d Diagnostic) {
	if !slices.ContainsFunc(*ds, func(x Diagnostic) bool {
		return x.Range == d.Range && x.Severity == d.Severity && x.Summary == d.Summary
	}) {
		*ds = append(*ds, d)
	}
}

// Errors counts the errors.
func (ds Diagnostics) Errors() int {
	n := 0
	for _, d := range ds {
		if d.Severity == Error {
			n++
		}
	}
	return n
}

// HasErrors reports whether any is an error.
func (ds Diagnostics) HasErrors() bool {
	return slices.ContainsFunc(ds, func(d Diagnostic) bool { return d.Severity == Error })
}

// ErrorText shows the errors, one after the other.
func (ds Diagnostics) ErrorText(f *File) string {
	var texts []string
	for _, d := range ds {
		if d.Severity == Error {
			texts = append(texts, d.Text(f))
		}
	}
	return strings.Join(texts, "\n")
}

// Advice lists the advice of the errors.
func (ds Diagnostics) Advice() []advice.Advice {
	var as []advice.Advice
	for _, d := range ds {
		if d.Severity == Error {
			as = append(as, d.Advice...)
		}
	}
	return as
}

// Sort sorts the diagnostics in the order of the file. Diagnostics for the same place keep their order.
func (ds Diagnostics) Sort() {
	slices.SortStableFunc(ds, func(a, b Diagnostic) int {
		if a.Range.Line != b.Range.Line {
			return a.Range.Line - b.Range.Line
		}
		return a.Range.Column - b.Range.Column
	})
}

// Nearest suggests the most similar name: `did you mean "x"?`, or "" if none is similar.
func Nearest(wanted string, names []string) string {
	if name := similar.Name(wanted, names); name != "" {
		return fmt.Sprintf("did you mean %q?", name)
	}
	return ""
}

// Some lists names for a hint, at most n of them.
func Some(names []string, n int) string {
	names = slices.Sorted(slices.Values(names))
	if len(names) > n {
		return strings.Join(names[:n], ", ") + fmt.Sprintf(" and %d more", len(names)-n)
	}
	return strings.Join(names, ", ")
}
