package ast

import (
	"strings"

	"github.com/sluice-iac/sluice/internal/syntax"
)

func (p *parser) resources(n *syntax.Node) []*Resource {
	var out []*Resource
	for _, e := range p.entries(n, "`resources`") {
		out = append(out, p.resource(e))
	}
	return out
}

func (p *parser) resource(e syntax.Entry) *Resource {
	r := &Resource{Key: key(e.Key), PropertiesAt: e.Key.Range}
	what := "the resource " + e.Key.Text
	if e.Value.Kind != syntax.Object {
		p.fail(e.Value.Range, "", "%s must be an object with a `type`, not %v", what, e.Value.Kind)
		return r
	}
	f := p.fields(e.Value, what, "type", "name", "defaultProvider", "properties", "get", "options")
	r.Type = p.text(f["type"], "a resource's type")
	switch n := strings.Count(r.Type.Value, ":"); {
	case f["type"] == nil || f["type"].Kind == syntax.Null:
		p.fail(e.Key.Range, "", "%s has no `type`", what)
	case r.Type.IsGiven() && (n < 1 || n > 2):
		p.fail(r.Type.At, "", "%q is not a type: it must have the form <package>:<module>:<Type> or <package>:<Type>", r.Type.Value)
	}
	r.Name = p.text(f["name"], "a resource's name")
	r.DefaultProvider = p.flag(f["defaultProvider"], "`defaultProvider`")
	if r.DefaultProvider.IsGiven() && !strings.HasPrefix(r.Type.Value, "pulumi:providers:") {
		p.fail(r.DefaultProvider.At, "", "only a provider, of a type like pulumi:providers:aws, can be a default provider")
	}
	if n := f["properties"]; n != nil && n.Kind != syntax.Null {
		p.properties(r, n)
	}
	p.get(r, f["get"], what)
	p.options(r, f["options"], what)
	return r
}

func (p *parser) properties(r *Resource, n *syntax.Node) {
	r.PropertiesAt = n.Range
	if n.Kind == syntax.Object && functionEntry(n) == nil {
		r.Properties = p.propertyList(n)
		return
	}
	if n.Kind != syntax.Object && n.Kind != syntax.String {
		p.fail(n.Range, "", "`properties` must be an object, not %v", n.Kind)
		return
	}
	r.PropertiesExpr = p.expr(n)
}

func (p *parser) propertyList(n *syntax.Node) []Property {
	var out []Property
	for _, e := range p.entries(n, "`state`") {
		out = append(out, Property{Name: key(e.Key), Value: p.expr(e.Value)})
	}
	return out
}

func (p *parser) get(r *Resource, n *syntax.Node, what string) {
	if n == nil || n.Kind == syntax.Null {
		return
	}
	f := p.fields(n, "`get` of "+what, "id", "state")
	if f == nil {
		return
	}
	r.Get = &Get{At: n.Range, State: p.propertyList(f["state"])}
	if f["id"] == nil {
		p.fail(n.Range, "", "`get` of %s has no `id`", what)
	} else {
		r.Get.ID = p.expr(f["id"])
	}
	if r.Properties != nil || r.PropertiesExpr != nil {
		p.fail(r.PropertiesAt, "what helps to find the object belongs into `state` of `get`",
			"%s is only read, so it cannot have properties", what)
	}
}

// optionNames returns the names of the options of resources.
func optionNames() []string {
	return []string{"additionalSecretOutputs", "aliases", "customTimeouts", "deleteBeforeReplace", "deletedWith", "dependsOn",
		"envVarMappings", "hideDiffs", "ignoreChanges", "import", "parent", "pluginDownloadURL", "protect", "provider", "providers",
		"replaceOnChanges", "replaceWith", "replacementTrigger", "retainOnDelete", "version"}
}

func (p *parser) options(r *Resource, n *syntax.Node, what string) {
	f := p.fields(n, "`options` of "+what, optionNames()...)
	if f == nil {
		return
	}
	timeouts := p.fields(f["customTimeouts"], "`customTimeouts`", "create", "update", "delete", "read")
	r.Options = Options{
		AdditionalSecretOutputs: p.texts(f["additionalSecretOutputs"], "`additionalSecretOutputs`"),
		IgnoreChanges:           p.texts(f["ignoreChanges"], "`ignoreChanges`"),
		ReplaceOnChanges:        p.texts(f["replaceOnChanges"], "`replaceOnChanges`"),
		HideDiffs:               p.texts(f["hideDiffs"], "`hideDiffs`"),
		Aliases:                 p.optional(f["aliases"]),
		Create:                  p.optional(timeouts["create"]),
		Update:                  p.optional(timeouts["update"]),
		Delete:                  p.optional(timeouts["delete"]),
		Read:                    p.optional(timeouts["read"]),
		DeleteBeforeReplace:     p.flag(f["deleteBeforeReplace"], "`deleteBeforeReplace`"),
		RetainOnDelete:          p.flag(f["retainOnDelete"], "`retainOnDelete`"),
		Protect:                 p.optional(f["protect"]),
		DependsOn:               p.optional(f["dependsOn"]),
		ReplaceWith:             p.optional(f["replaceWith"]),
		Parent:                  p.optional(f["parent"]),
		DeletedWith:             p.optional(f["deletedWith"]),
		Provider:                p.optional(f["provider"]),
		Providers:               p.optional(f["providers"]),
		Import:                  p.text(f["import"], "`import`"),
		Version:                 p.version(f["version"]),
		PluginDownloadURL:       p.text(f["pluginDownloadURL"], "`pluginDownloadURL`"),
		ReplacementTrigger:      p.optional(f["replacementTrigger"]),
		EnvVarMappings:          p.optional(f["envVarMappings"]),
	}
	if a := r.Options.Aliases; a != nil {
		if _, isList := a.(*List); !isList {
			p.fail(a.Range(), "", "`aliases` must be a list")
		}
	}
}
