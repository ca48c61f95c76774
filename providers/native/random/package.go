package random

import (
	"slices"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/native"
	"github.com/sluice-iac/sluice/urn"
)

// Name is the package's name.
const Name = "random"

// Package describes the package.
func Package(native.Options) native.Package {
	p := native.Package{
		Name: Name, Version: "4.21.2", Doc: "Random values that are made once and kept in the state.",
		Resources: []native.Resource{
			identifier(), text(), password(), integer(), pet(), shuffle(), uuid4("RandomUuid"), uuid4("RandomUuid4"), uuid7(), raw(),
		},
	}
	for i := range p.Resources {
		r := &p.Resources[i]
		// Nothing can be changed in place except values that old states lack, see emptyToMissing.
		for j := range r.Inputs {
			r.Inputs[j].Replace = true
		}
		r.Inputs = append(r.Inputs, keepers())
		own := r.Diff
		r.Diff = func(c native.Call, answer *providers.DiffResponse) {
			if own != nil {
				own(c, answer)
			}
			forgiveMissingKeepers(c, answer)
		}
	}
	return p
}

// token returns the type of a resource: "random:index/randomId:RandomId".
func token(name string) urn.Type {
	return urn.Type("random:index/r" + name[1:] + ":" + name)
}

func keepers() native.Field {
	return native.Field{
		Name: "keepers", Type: native.MapOf(native.Of(native.KindString)), Replace: true,
		Doc: "Values whose change makes a new random value.",
	}
}

// forgiveMissingKeepers removes a replacement whose only reason is that keepers without a value were added or removed:
// the public package records only some of them.
func forgiveMissingKeepers(c native.Call, answer *providers.DiffResponse) {
	if len(answer.ReplaceKeys) == 0 || !slices.Contains(answer.ReplaceKeys, "keepers") {
		return
	}
	if c.Inputs.Map().HasUnknowns() || !sameKeepers(c.State.Value("keepers").AsMap(), c.Inputs.Value("keepers").AsMap()) {
		return
	}
	native.Forget(answer, "keepers")
}

func sameKeepers(old, now property.Map) bool {
	for name, v := range now.All() {
		if was, ok := old.Get(name); !property.Equal(was, v) || !ok && !v.IsNull() {
			return false
		}
	}
	for name, v := range old.All() {
		if _, ok := now.Get(name); !ok && !v.IsNull() {
			return false
		}
	}
	return true
}

func computed(name string, k native.Kind, doc string) native.Field {
	return native.Field{Name: name, Type: native.Of(k), Required: true, Doc: doc}
}

func secret(name, doc string) native.Field {
	f := computed(name, native.KindString, doc)
	f.Secret = true
	return f
}

func required(name string, k native.Kind, doc string) native.Field {
	return native.Field{Name: name, Type: native.Of(k), Required: true, Doc: doc}
}

func optional(name string, k native.Kind, doc string) native.Field {
	return native.Field{Name: name, Type: native.Of(k), Doc: doc}
}

func withDefault(f native.Field, v property.Value) native.Field {
	f.Default = v
	return f
}
