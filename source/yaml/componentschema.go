package yaml

import (
	"encoding/json"
	"fmt"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
	"github.com/sluice-iac/sluice/source/yaml/internal/config"
)

// packageSchema is the part of a package schema that components need.
type packageSchema struct {
	Name        string                     `json:"name"`
	Version     string                     `json:"version"`
	Namespace   string                     `json:"namespace,omitempty"`
	Description string                     `json:"description,omitempty"`
	Resources   map[string]componentSchema `json:"resources"`
}

type componentSchema struct {
	IsComponent     bool                      `json:"isComponent"`
	Description     string                    `json:"description,omitempty"`
	InputProperties map[string]propertySchema `json:"inputProperties"`
	RequiredInputs  []string                  `json:"requiredInputs,omitempty"`
	Properties      map[string]propertySchema `json:"properties"`
	Required        []string                  `json:"required,omitempty"`
}

type propertySchema struct {
	typeSchema
	Default any  `json:"default,omitempty"`
	Secret  bool `json:"secret,omitempty"`
}

type typeSchema struct {
	Type                 string      `json:"type,omitempty"`
	Ref                  string      `json:"$ref,omitempty"`
	Items                *typeSchema `json:"items,omitempty"`
	AdditionalProperties *typeSchema `json:"additionalProperties,omitempty"`
}

// schemaOf returns the schema of a plugin whose components are written in YAML. Outputs may have any type.
func schemaOf(p *ast.Plugin) (string, error) {
	s := packageSchema{
		Name: p.Name.Value, Version: p.Version.Value, Namespace: p.Namespace.Value, Description: p.Description.Value,
		Resources: map[string]componentSchema{},
	}
	if s.Version == "" {
		s.Version = "0.0.0"
	}
	for _, c := range p.Components {
		r := componentSchema{
			IsComponent: true, Description: c.Description.Value, InputProperties: map[string]propertySchema{}, Properties: map[string]propertySchema{},
		}
		for _, input := range c.Template.Config {
			t, err := schemaOfInput(input)
			if err != nil {
				return "", fmt.Errorf("the component %s of the plugin %s: %w", c.Key.Value, s.Name, err)
			}
			in := propertySchema{typeSchema: t, Secret: input.Secret.Value}
			if literal, ok := input.Default.(*ast.Literal); ok {
				in.Default, _ = property.ToGo(literal.Value)
			}
			if input.Default == nil {
				r.RequiredInputs = append(r.RequiredInputs, input.Key.Value)
			}
			r.InputProperties[input.Key.Value] = in
		}
		for _, output := range c.Template.Outputs {
			r.Properties[output.Name.Value] = propertySchema{typeSchema: anything()}
			r.Required = append(r.Required, output.Name.Value)
		}
		s.Resources[tokenOf(p, c)] = r
	}
	b, err := json.Marshal(s)
	return string(b), err
}

func anything() typeSchema { return typeSchema{Ref: "pulumi.json#/Any"} }

func schemaOfInput(c *ast.Config) (typeSchema, error) {
	t, ok := config.Declared(c)
	if !ok {
		return typeSchema{}, fmt.Errorf("the input %s has the type %q, which there is not", c.Key.Value, c.Type.Value)
	}
	return schemaOfType(t), nil
}

func schemaOfType(t config.Type) typeSchema {
	switch t.Name {
	case "":
		return anything()
	case config.Object:
		element := anything()
		return typeSchema{Type: "object", AdditionalProperties: &element}
	case config.List:
		element := schemaOfType(config.Type{Name: t.Element})
		return typeSchema{Type: "array", Items: &element}
	}
	return typeSchema{Type: t.Name}
}
