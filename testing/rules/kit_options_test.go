package rules

import (
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// option changes a registration before it is sent.
type option func(*stages.RegisterRequest)

func parent(p *stages.RegisterReply) option {
	return func(r *stages.RegisterRequest) { r.Parent = p.URN }
}

func dependsOn(on ...*stages.RegisterReply) option {
	return func(r *stages.RegisterRequest) {
		for _, d := range on {
			r.Dependencies = append(r.Dependencies, d.URN)
		}
	}
}

// from gives a property the arn of another resource.
func from(name string, of *stages.RegisterReply) option {
	return func(r *stages.RegisterRequest) {
		v, ok := of.Outputs.Get("arn")
		if !ok {
			v = property.Computed()
		}
		r.Inputs = r.Inputs.With(name, v)
		r.PropertyDependencies[name] = append(r.PropertyDependencies[name], of.URN)
		r.Dependencies = append(r.Dependencies, of.URN)
	}
}

// referenceTo returns a reference to a custom resource, as SDKs send it: the ID is unknown if the answer has none.
func referenceTo(r *stages.RegisterReply) property.Value {
	id := property.Computed()
	if r.ID != "" {
		id = property.String(r.ID)
	}
	return property.Of(property.Reference{URN: r.URN, ID: id})
}

func deletedWith(of *stages.RegisterReply) option {
	return func(r *stages.RegisterRequest) { r.DeletedWith = of.URN }
}

func replaceWith(of ...*stages.RegisterReply) option {
	return func(r *stages.RegisterRequest) {
		for _, o := range of {
			r.ReplaceWith = append(r.ReplaceWith, o.URN)
		}
	}
}

func via(ref string) option { return func(r *stages.RegisterRequest) { r.Provider = ref } }

func protect(yes bool) option { return func(r *stages.RegisterRequest) { r.Protect = &yes } }

func retain(yes bool) option { return func(r *stages.RegisterRequest) { r.RetainOnDelete = &yes } }

func deleteFirst(yes bool) option {
	return func(r *stages.RegisterRequest) { r.DeleteBeforeReplace = &yes }
}

func ignore(paths ...string) option {
	return func(r *stages.RegisterRequest) { r.IgnoreChanges = paths }
}

func replaceOn(paths ...string) option {
	return func(r *stages.RegisterRequest) { r.ReplaceOnChanges = paths }
}

func trigger(v any) option {
	return func(r *stages.RegisterRequest) { r.ReplacementTrigger = value(v) }
}

func secretOutputs(names ...string) option {
	return func(r *stages.RegisterRequest) { r.AdditionalSecretOutputs = names }
}

func alias(as ...urn.Alias) option {
	return func(r *stages.RegisterRequest) { r.Aliases = append(r.Aliases, as...) }
}

func hooks(kind string, names ...string) option {
	return func(r *stages.RegisterRequest) {
		if r.Hooks == nil {
			r.Hooks = map[string][]string{}
		}
		r.Hooks[kind] = names
	}
}

// imports makes a registration import an object.
func imports(id string) option {
	return func(r *stages.RegisterRequest) { r.ImportID = id }
}

// remote turns a registration into that of a component that its provider constructs.
func remote(r *stages.RegisterRequest) { r.Custom, r.Remote = false, true }
