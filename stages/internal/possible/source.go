package possible

import (
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
)

// found is an output whose recorded value is in a recorded input.
type found struct {
	output string
	whole  bool // it is the input
	length int  // of the text
}

func (f found) isBetterThan(other found) bool {
	if f.whole != other.whole {
		return f.whole
	}
	return f.length > other.length
}

// Limits on the search for outputs.
const (
	minOutput  = 3 // shorter texts are parts of others by chance
	maxOutputs = 256
	maxDepth   = 4
)

// outputIn returns the unknown output of a resource whose recorded value is in a text, preferably as the whole of it.
func outputIn(text string, old, made *state.Resource, op stages.Op) found {
	var best found
	consider := func(output, value string) {
		f := found{output: output, whole: value == text, length: len(value)}
		if len(value) >= minOutput && strings.Contains(text, value) && f.isBetterThan(best) {
			best = f
		}
	}
	if old == nil {
		return best
	}
	if op == stages.OpReplace {
		consider("id", old.ID)
	}
	left := maxOutputs
	var walk func(path property.Path, was property.Value)
	walk = func(path property.Path, was property.Value) {
		if left--; left < 0 || len(path) > maxDepth {
			return
		}
		switch {
		case was.IsString():
			if isUnknownAt(made.Outputs, path) {
				consider(path.String(), was.AsString())
			}
		case was.IsMap():
			for name, v := range was.AsMap().All() {
				walk(path.With(property.Key(name)), v)
			}
		case was.IsArray():
			for i, v := range was.AsArray().All() {
				walk(path.With(property.Index(i)), v)
			}
		}
	}
	for name, v := range old.Outputs.StripSecretsAndOutputs().All() {
		if !property.IsInternalName(name) {
			walk(property.Path{property.Key(name)}, v)
		}
	}
	return best
}

// isUnknownAt reports whether a place, or one that contains it, is unknown.
func isUnknownAt(m property.Map, at property.Path) bool {
	for n := range at {
		if v, ok := m.Lookup(at[:n+1]); ok {
			if inner, _ := v.Unwrap(); inner.IsUnknown() || inner.IsOutput() {
				return true
			}
		}
	}
	return false
}
