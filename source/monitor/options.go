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
	add(stages.HookBeforeCreate, b.GetBeforeCreate())
	add(stages.HookAfterCreate, b.GetAfterCreate())
	add(stages.HookBeforeUpdate, b.GetBeforeUpdate())
	add(stages.HookAfterUpdate, b.GetAfterUpdate())
	add(stages.HookBeforeDelete, b.GetBeforeDelete())
	add(stages.HookAfterDelete, b.GetAfterDelete())
	add(stages.HookOnError, b.GetOnError())
	return hooks
}

func decodeTimeouts(t *pulumirpc.RegisterResourceRequest_CustomTimeouts) stages.CustomTimeouts {
	return stages.CustomTimeouts{Create: t.GetCreate(), Update: t.GetUpdate(), Delete: t.GetDelete(), Read: t.GetRead()}
}
