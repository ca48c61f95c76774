package monitor

import (
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// decodeAliases returns the aliases in the order in which they are tried: URNs first, then specifications (steps.md
// 1.2 item 5).
func decodeAliases(urns []string, list []*pulumirpc.Alias) ([]urn.Alias, error) {
	if len(urns)+len(list) == 0 {
		return nil, nil
	}
	aliases := make([]urn.Alias, 0, len(urns)+len(list))
	for _, s := range urns {
		u, err := parseURN("alias ", s)
		if err != nil {
			return nil, err
		}
		aliases = append(aliases, urn.Alias{URN: u})
	}
	for _, a := range list {
		decoded, err := decodeAlias(a)
		if err != nil {
			return nil, err
		}
		aliases = append(aliases, decoded)
	}
	return aliases, nil
}

func decodeAlias(a *pulumirpc.Alias) (urn.Alias, error) {
	spec := a.GetSpec()
	if spec == nil {
		u, err := parseURN("alias ", a.GetUrn())
		return urn.Alias{URN: u}, err
	}
	parent, err := parseOptionalURN("parent alias ", spec.GetParentUrn())
	if err != nil {
		return urn.Alias{}, err
	}
	return urn.Alias{
		Name: spec.GetName(), Type: urn.Type(spec.GetType()), Stack: spec.GetStack(), Project: spec.GetProject(),
		Parent: parent, NoParent: spec.GetNoParent(),
	}, nil
}

func encodeAliases(list []urn.Alias) []*pulumirpc.Alias {
	var out []*pulumirpc.Alias
	for _, a := range list {
		out = append(out, encodeAlias(a))
	}
	return out
}

func encodeAlias(a urn.Alias) *pulumirpc.Alias {
	if a.URN != "" {
		return &pulumirpc.Alias{Alias: &pulumirpc.Alias_Urn{Urn: string(a.URN)}}
	}
	spec := &pulumirpc.Alias_Spec{Name: a.Name, Type: string(a.Type), Stack: a.Stack, Project: a.Project}
	switch {
	case a.NoParent:
		spec.Parent = &pulumirpc.Alias_Spec_NoParent{NoParent: true}
	case a.Parent != "":
		spec.Parent = &pulumirpc.Alias_Spec_ParentUrn{ParentUrn: string(a.Parent)}
	}
	return &pulumirpc.Alias{Alias: &pulumirpc.Alias_Spec_{Spec: spec}}
}

// The types of hooks, as the keys of stages.RegisterRequest.Hooks and of the state's resourceHooks (steps.md 9.6).
const (
	beforeCreate = "BeforeCreate"
	afterCreate  = "AfterCreate"
	beforeUpdate = "BeforeUpdate"
	afterUpdate  = "AfterUpdate"
	beforeDelete = "BeforeDelete"
	afterDelete  = "AfterDelete"
	onError      = "OnError"
)

func decodeHookNames(b *pulumirpc.RegisterResourceRequest_ResourceHooksBinding) map[string][]string {
	var hooks map[string][]string
	add := func(kind string, names []string) {
		if len(names) == 0 {
			return
		}
		if hooks == nil {
			hooks = make(map[string][]string)
		}
		hooks[kind] = names
	}
	add(beforeCreate, b.GetBeforeCreate())
	add(afterCreate, b.GetAfterCreate())
	add(beforeUpdate, b.GetBeforeUpdate())
	add(afterUpdate, b.GetAfterUpdate())
	add(beforeDelete, b.GetBeforeDelete())
	add(afterDelete, b.GetAfterDelete())
	add(onError, b.GetOnError())
	return hooks
}

func encodeHookNames(hooks map[string][]string) *pulumirpc.RegisterResourceRequest_ResourceHooksBinding {
	if len(hooks) == 0 {
		return nil
	}
	return &pulumirpc.RegisterResourceRequest_ResourceHooksBinding{
		BeforeCreate: hooks[beforeCreate], AfterCreate: hooks[afterCreate],
		BeforeUpdate: hooks[beforeUpdate], AfterUpdate: hooks[afterUpdate],
		BeforeDelete: hooks[beforeDelete], AfterDelete: hooks[afterDelete],
		OnError: hooks[onError],
	}
}

func encodeTimeouts(t stages.CustomTimeouts) *pulumirpc.RegisterResourceRequest_CustomTimeouts {
	if t == (stages.CustomTimeouts{}) {
		return nil
	}
	return &pulumirpc.RegisterResourceRequest_CustomTimeouts{Create: t.Create, Update: t.Update, Delete: t.Delete, Read: t.Read}
}

func decodeTimeouts(t *pulumirpc.RegisterResourceRequest_CustomTimeouts) stages.CustomTimeouts {
	return stages.CustomTimeouts{Create: t.GetCreate(), Update: t.GetUpdate(), Delete: t.GetDelete(), Read: t.GetRead()}
}
