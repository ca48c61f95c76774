package native

import (
	"strings"
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
