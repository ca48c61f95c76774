package native

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/providers"
)

type schemaPackage struct {
	Name        string                    `json:"name"`
	Namespace   string                    `json:"namespace,omitempty"`
	Version     string                    `json:"version,omitempty"`
	Description string                    `json:"description,omitempty"`
	Meta        *schemaMeta               `json:"meta,omitempty"`
	Language    map[string]any            `json:"language,omitempty"`
	Config      schemaConfig              `json:"config"`
	Provider    schemaResource            `json:"provider"`
	Types       map[string]schemaObject   `json:"types,omitempty"`
	Resources   map[string]schemaResource `json:"resources"`
	Functions   map[string]schemaFunction `json:"functions"`
}

// schemaMeta defines which part of the middle of a token is the module.
type schemaMeta struct {
	ModuleFormat string `json:"moduleFormat"`
}

type schemaConfig struct {
	Variables map[string]schemaProperty `json:"variables,omitempty"`
}

type schemaResource struct {
	Description     string                    `json:"description,omitempty"`
	Properties      map[string]schemaProperty `json:"properties,omitempty"`
	Required        []string                  `json:"required,omitempty"`
	InputProperties map[string]schemaProperty `json:"inputProperties,omitempty"`
	RequiredInputs  []string                  `json:"requiredInputs,omitempty"`
}

type schemaFunction struct {
	Description string       `json:"description,omitempty"`
	Inputs      schemaObject `json:"inputs"`
	Positional  []string     `json:"multiArgumentInputs,omitempty"`
	Outputs     schemaObject `json:"outputs"`
}

type schemaObject struct {
	Type       string                    `json:"type"`
	Properties map[string]schemaProperty `json:"properties,omitempty"`
	Required   []string                  `json:"required,omitempty"`
	Enum       []schemaValue             `json:"enum,omitempty"`
}

type schemaValue struct {
	Value string `json:"value"`
}

type schemaProperty struct {
	Type                 string          `json:"type,omitempty"`
	Ref                  string          `json:"$ref,omitempty"`
	Items                *schemaProperty `json:"items,omitempty"`
	AdditionalProperties *schemaProperty `json:"additionalProperties,omitempty"`
	Description          string          `json:"description,omitempty"`
	Default              any             `json:"default,omitempty"`
	Secret               bool            `json:"secret,omitempty"`
	Replace              bool            `json:"willReplaceOnChanges,omitempty"`
	Deprecated           string          `json:"deprecationMessage,omitempty"`
}

// Schema returns the schema of the package (protocol.md 3.12).
func (p *provider) Schema(context.Context, providers.SchemaRequest) (string, error) {
	text, err := json.Marshal(p.description.schema())
	return string(text), err
}

func (p Package) schema() schemaPackage {
	w := schemaWriter{types: map[string]schemaObject{}}
	out := schemaPackage{
		Name: p.Name, Namespace: p.Owner, Version: p.Version, Description: p.Doc, Types: w.types, Meta: p.meta(), Language: p.languages(),
		Config:    schemaConfig{Variables: w.properties(p.Config)},
		Provider:  schemaResource{InputProperties: w.properties(p.Config), RequiredInputs: required(p.Config, false)},
		Resources: map[string]schemaResource{}, Functions: map[string]schemaFunction{},
	}
	for _, r := range p.Resources {
		all := append(r.Inputs[:len(r.Inputs):len(r.Inputs)], r.Computed...)
		out.Resources[string(r.Type)] = schemaResource{
			Description: r.Doc, Properties: w.properties(all), Required: required(all, true),
			InputProperties: w.properties(r.Inputs), RequiredInputs: required(r.Inputs, false),
		}
	}
	for _, f := range p.Functions {
		out.Functions[f.Token] = schemaFunction{
			Description: f.Doc, Positional: f.Positional,
			Inputs:  schemaObject{Type: "object", Properties: w.properties(f.Inputs), Required: required(f.Inputs, false)},
			Outputs: schemaObject{Type: "object", Properties: w.properties(f.Outputs), Required: required(f.Outputs, true)},
		}
	}
	return out
}

// meta returns the metadata for packages whose tokens have a module for each resource, "index/file", which is not a
// module in programs.
func (p Package) meta() *schemaMeta {
	slashed := func(token string) bool { return strings.Contains(token, "/") }
	if slices.ContainsFunc(p.Resources, func(r Resource) bool { return slashed(string(r.Type)) }) ||
		slices.ContainsFunc(p.Functions, func(f Function) bool { return slashed(f.Token) }) {
		return &schemaMeta{ModuleFormat: "(.*)(?:/[^/]*)"}
	}
	return nil
}

// languages names the public SDKs where their names differ from the defaults.
func (p Package) languages() map[string]any {
	if p.Version == "" {
		return nil
	}
	sdk := "github.com/" + p.repository() + "/sdk"
	if major, _, _ := strings.Cut(p.Version, "."); major > "1" {
		sdk += "/v" + major
	}
	return map[string]any{"go": map[string]string{"importBasePath": sdk + "/go/" + p.Name}}
}

// required lists the required fields; for outputs also those that have a default.
func required(fields []Field, outputs bool) []string {
	var out []string
	for _, f := range fields {
		if f.Required || outputs && (f.Output == Chosen || !f.Default.IsNull()) {
			out = append(out, f.Name)
		}
	}
	return out
}

// schemaWriter collects the named types that it finds.
type schemaWriter struct{ types map[string]schemaObject }

func (w schemaWriter) properties(fields []Field) map[string]schemaProperty {
	out := map[string]schemaProperty{}
	for _, f := range fields {
		s := w.property(f.Type)
		s.Description, s.Secret, s.Replace = f.Doc, f.Secret, f.Replace
		if f.Old != "" {
			s.Deprecated = "use " + f.Old + " instead"
		}
		switch {
		case f.Default.IsString():
			s.Default = f.Default.AsString()
		case f.Default.IsNumber():
			s.Default = f.Default.AsNumber()
		case f.Default.IsBool():
			s.Default = f.Default.AsBool()
		}
		out[f.Name] = s
	}
	return out
}

func (w schemaWriter) property(t Type) schemaProperty {
	switch t.Kind {
	case KindArray:
		item := w.property(*t.Elem)
		return schemaProperty{Type: "array", Items: &item}
	case KindMap:
		item := w.property(*t.Elem)
		return schemaProperty{Type: "object", AdditionalProperties: &item}
	case KindAny:
		return schemaProperty{Ref: "pulumi.json#/Any"}
	case KindAsset:
		return schemaProperty{Ref: "pulumi.json#/Asset"}
	case KindArchive:
		return schemaProperty{Ref: "pulumi.json#/Archive"}
	case KindRecord:
		if _, ok := w.types[t.Token]; !ok {
			w.types[t.Token] = schemaObject{Type: "object", Properties: w.properties(t.Fields), Required: required(t.Fields, false)}
		}
		return schemaProperty{Ref: "#/types/" + schemaRef(t.Token)}
	}
	if t.Token != "" {
		enum := schemaObject{Type: string(t.Kind)}
		for _, v := range t.Enum {
			enum.Enum = append(enum.Enum, schemaValue{Value: v})
		}
		w.types[t.Token] = enum
		return schemaProperty{Type: string(t.Kind), Ref: "#/types/" + schemaRef(t.Token)}
	}
	return schemaProperty{Type: string(t.Kind)}
}

// schemaRef escapes a token for a reference in a schema.
func schemaRef(token string) string { return strings.ReplaceAll(token, "/", "%2F") }
