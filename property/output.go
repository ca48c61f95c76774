package property

import (
	"maps"
	"slices"

	"github.com/sluice-iac/sluice/urn"
)

// DowngradeOutputs returns v without output values at any depth: an unknown one becomes an unknown, a known one its
// element, and a secret one is wrapped as a secret. Dependencies are lost; see [Value.OutputDependencies] (protocol.md
// 2.3, steps.md 1.2 item 17).
func (v Value) DowngradeOutputs() Value {
	d, _ := downgradeOutputs(v)
	return d
}

// DowngradeOutputs does that for every property.
func (m Map) DowngradeOutputs() Map {
	d, _ := rewriteMap(m, downgradeOutputs)
	return d
}

// DowngradeBareOutputs downgrades only the output values that name no resources, since an unknown, a secret or a plain
// value can express these. It is the form in which a Call's arguments travel.
func (m Map) DowngradeBareOutputs() Map {
	d, _ := rewriteMap(m, downgradeBareOutputs)
	return d
}

func downgradeBareOutputs(v Value) (Value, bool) {
	x, ok := v.v.(*Output)
	if !ok {
		return rewriteChildren(v, downgradeBareOutputs)
	}
	if len(x.Dependencies) > 0 {
		return v, false
	}
	return downgradeOutputs(v)
}

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

// LiftOutputs returns v with every secret and unknown, at any depth, as an output value: the form in which Construct,
// Call and transforms receive properties (protocol.md 2.3). The element kind of an unknown is not kept.
func (v Value) LiftOutputs() Value {
	l, _ := liftOutputs(v)
	return l
}

// LiftOutputs does that for every property.
func (m Map) LiftOutputs() Map {
	l, _ := rewriteMap(m, liftOutputs)
	return l
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

// WithDependencies returns m in which each property that has dependencies is an output value that lists them, joined
// with those that the property's own output value lists already.
func (m Map) WithDependencies(dependencies map[string][]urn.URN) Map {
	out, _ := m.mapped(func(name string, v Value) (Value, bool) {
		deps := dependencies[name]
		if len(deps) == 0 {
			return v, false
		}
		o, secretive := Output{Known: true, Dependencies: unionURNs(deps, nil)}, false
		if s, ok := v.v.(*secret); ok && !s.isOpaque() {
			secretive, v = true, s.element
		}
		o = mergeOutput(o, v)
		o.Secret = o.Secret || secretive
		return OutputOf(o), true
	})
	return out
}

// OutputDependencies returns the resources named by the output values in v, in ascending order.
func (v Value) OutputDependencies() []urn.URN {
	if !anyValue(v, hasDependencies) {
		return nil
	}
	set := map[urn.URN]struct{}{}
	collectDependencies(v, set)
	return slices.Sorted(maps.Keys(set))
}

// OutputDependencies returns, for each property that has any, the resources named by the output values in it; nil if none has any.
func (m Map) OutputDependencies() map[string][]urn.URN {
	if !anyInMap(m, hasDependencies) {
		return nil
	}
	out := map[string][]urn.URN{}
	for k, v := range m.All() {
		if deps := v.OutputDependencies(); len(deps) > 0 {
			out[k] = deps
		}
	}
	return out
}

func hasDependencies(v Value) bool {
	o, ok := v.v.(*Output)
	return ok && len(o.Dependencies) > 0
}

func collectDependencies(v Value, set map[urn.URN]struct{}) {
	anyValue(v, func(v Value) bool {
		if o, ok := v.v.(*Output); ok {
			for _, d := range o.Dependencies {
				set[d] = struct{}{}
			}
		}
		return false
	})
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
