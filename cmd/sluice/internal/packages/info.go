package packages

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
)

// Question selects a part of a schema: all of it, a module, or one resource or function. A name may be a token or its last part.
type Question struct{ Module, Resource, Function string }

// described are the parts of a schema that are shown.
type described struct {
	Description string
	Resources   map[string]member
	Functions   map[string]member
}

// member is a resource or a function.
type member struct {
	Description                 string
	IsComponent                 bool
	Properties, InputProperties map[string]property
	Required, RequiredInputs    []string
	Inputs, Outputs             *object
	ReturnType                  *property
}

type object struct {
	Description string
	Properties  map[string]property
	Required    []string
}

type property struct {
	object
	Type                        string
	Ref                         string `json:"$ref"`
	Items, AdditionalProperties *property
	OneOf                       []property
}

func (d described) module(out *strings.Builder, module string) error {
	found := false
	for _, part := range []struct {
		title string
		list  map[string]member
	}{{"Resources", d.Resources}, {"Functions", d.Functions}} {
		var lines []string
		for token, m := range part.list {
			if inModule(token, module) {
				lines = append(lines, withText(" - "+nameOf(token), m.Description))
			}
		}
		slices.Sort(lines)
		found = found || len(lines) > 0
		fmt.Fprintf(out, "%s: %d\n", part.title, len(lines))
		for _, line := range lines {
			out.WriteString(line)
		}
	}
	if !found {
		return exit.Usagef("the package has no module %q", module)
	}
	return nil
}

// one describes the resource or function with a name.
func one(out *strings.Builder, kind, module, name string, list map[string]member) error {
	var fit []string
	for token := range list {
		if token == name || nameOf(token) == name && (module == "" || inModule(token, module)) {
			fit = append(fit, token)
		}
	}
	slices.Sort(fit)
	switch len(fit) {
	case 0:
		return exit.Usagef("the package has no %s %q%s", kind, name, meant(name, list))
	case 1:
	default:
		return exit.Usagef("%d are called %s; write the one that you mean\n  %s", len(fit), name, strings.Join(fit, "\n  "))
	}
	m := list[fit[0]]
	if m.IsComponent {
		kind = "component"
	}
	fmt.Fprintf(out, "%s%s: %s\n", strings.ToUpper(kind[:1]), kind[1:], fit[0])
	out.WriteString(withText("Description", m.Description))
	inputs, outputs := object{Properties: m.InputProperties, Required: m.RequiredInputs}, object{Properties: m.Properties, Required: m.Required}
	if kind == "function" {
		inputs, outputs = m.signature()
	}
	properties(out, "Inputs", inputs, "required")
	properties(out, "Outputs", outputs, "always present")
	if m.ReturnType != nil && m.ReturnType.Properties == nil {
		fmt.Fprintf(out, "Returns: %s\n", m.ReturnType.text())
	}
	return nil
}

// meant lists the names that contain a text, in whatever case.
func meant(name string, list map[string]member) string {
	var names []string
	for token := range list {
		if strings.Contains(strings.ToLower(nameOf(token)), strings.ToLower(name)) {
			names = append(names, nameOf(token))
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return "; did you mean " + strings.Join(slices.Compact(names), ", ") + "?"
}

// signature returns the inputs and outputs of a function.
func (m member) signature() (inputs, outputs object) {
	if m.Inputs != nil {
		inputs = *m.Inputs
	}
	switch {
	case m.Outputs != nil:
		outputs = *m.Outputs
	case m.ReturnType != nil:
		outputs = m.ReturnType.object
	}
	return inputs, outputs
}

func properties(out *strings.Builder, title string, o object, mark string) {
	if len(o.Properties) == 0 {
		return
	}
	fmt.Fprintf(out, "%s:\n", title)
	for _, name := range slices.Sorted(maps.Keys(o.Properties)) {
		p := o.Properties[name]
		text := p.text()
		if slices.Contains(o.Required, name) {
			text += ", " + mark
		}
		out.WriteString(withText(fmt.Sprintf(" - %s (%s)", name, text), p.Description))
	}
}

// text formats the type of a property on one line.
func (p property) text() string {
	switch {
	case p.Ref != "":
		_, name, is := strings.Cut(p.Ref, "#/")
		if !is {
			return p.Ref
		}
		return strings.TrimPrefix(strings.TrimPrefix(name, "types/"), "resources/")
	case len(p.OneOf) > 0:
		var list []string
		for _, one := range p.OneOf {
			list = append(list, one.text())
		}
		return strings.Join(list, " or ")
	case p.Type == "array" && p.Items != nil:
		return "list of " + p.Items.text()
	case p.Type == "object" && p.AdditionalProperties != nil:
		return "map of " + p.AdditionalProperties.text()
	}
	return p.Type
}

// withText returns a line with the first paragraph of a description.
func withText(line, description string) string {
	if text := summary(description); text != "" {
		line += ": " + text
	}
	return line + "\n"
}

// summary returns the first paragraph of a description, on one line.
func summary(description string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(strings.ReplaceAll(description, "\r\n", "\n")), "\n\n")
	return strings.Join(strings.Fields(first), " ")
}

// moduleOf returns the module of a token: "index" of "random:index/randomPet:RandomPet".
func moduleOf(token string) string {
	parts := strings.Split(token, ":")
	if len(parts) != 3 {
		return token
	}
	module, _, _ := strings.Cut(parts[1], "/")
	return module
}

func inModule(token, module string) bool {
	parts := strings.Split(token, ":")
	return moduleOf(token) == module || len(parts) == 3 && parts[1] == module
}

func nameOf(token string) string { return token[strings.LastIndex(token, ":")+1:] }
