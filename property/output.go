package property

import (
	"slices"

	"github.com/sluice-iac/sluice/urn"
)

func downgradeOutputs(v Value) (Value, bool) {
	x, ok := v.v.(*Output)
	if !ok {
		return rewriteChildren(v, downgradeOutputs)
	}
	element := Computed()
	if x.Known {
		element, _ = downgradeOutputs(x.Element)
	}
	if x.Secret {
		element = MakeSecret(element)
	}
	return element, true
}

func liftOutputs(v Value) (Value, bool) {
	switch x := v.v.(type) {
	case Unknown:
		return OutputOf(Output{}), true
	case *secret:
		element, _ := liftOutputs(x.element)
		return OutputOf(mergeOutput(Output{Known: true, Secret: true}, element)), true
	case *Output:
		if !x.Known {
			return v, false
		}
		element, changed := liftOutputs(x.Element)
		if !changed && !element.IsOutput() {
			return v, false
		}
		return OutputOf(mergeOutput(*x, element)), true
	}
	return rewriteChildren(v, liftOutputs)
}

// mergeOutput puts element into o. An output directly inside an output means the same as one output with the flags and
// dependencies of both, and all receivers agree only on that form.
func mergeOutput(o Output, element Value) Output {
	switch x := element.v.(type) {
	case *Output:
		o.Known, o.Element = x.Known, x.Element
		o.Secret = o.Secret || x.Secret
		o.Dependencies = unionURNs(o.Dependencies, x.Dependencies)
	case Unknown:
		o.Known, o.Element = false, Null
	default:
		o.Known, o.Element = true, element
	}
	return o
}

func hasDependencies(v Value) bool {
	o, ok := v.v.(*Output)
	return ok && len(o.Dependencies) > 0
}

// unionURNs returns the sorted union, in a new slice.
func unionURNs(a, b []urn.URN) []urn.URN {
	if len(a)+len(b) == 0 {
		return nil
	}
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
