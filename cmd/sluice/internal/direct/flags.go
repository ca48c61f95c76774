package direct

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/property"
)

// Flags are the flags for the inputs of an operation, or for the settings of a provider. --NAME takes a text, a number or a truth value as it is
// written, and --NAME+ a value in YAML.
type Flags struct {
	schema *Schema
	inputs Inputs
	names  map[string][]*pflag.Flag // by property
}

// NewFlags adds flags for inputs to a set. Each has the prefix and, if bare is set and no other flag has the name, also none.
func NewFlags(set *pflag.FlagSet, s *Schema, inputs Inputs, prefix string, bare bool) *Flags {
	f := &Flags{schema: s, inputs: inputs, names: map[string][]*pflag.Flag{}}
	for _, name := range inputs.Names() {
		if name == "__self__" {
			continue
		}
		p := inputs.Properties[name]
		f.add(set, name, prefix+":"+flagName(name), p, bare)
		if bare && set.Lookup(flagName(name)) == nil {
			f.add(set, name, flagName(name), p, false)
		} else if bare {
			f.show(name)
		}
	}
	return f
}

// add adds the flags of a property under one name.
func (f *Flags) add(set *pflag.FlagSet, property, name string, p *Property, hidden bool) {
	usage := f.usage(property, p)
	simple := f.schema.kindOf(p) != isOther
	if simple && set.Lookup(name) == nil {
		given := &textFlag{kind: "text"}
		flag := set.VarPF(given, name, "", usage)
		if flag.Hidden = hidden; f.schema.kindOf(p) == isBool {
			flag.NoOptDefVal = "true"
		}
		f.names[property] = append(f.names[property], flag)
	}
	if set.Lookup(name+"+") == nil {
		flag := set.VarPF(&textFlag{kind: "yaml"}, name+"+", "", usage)
		flag.Hidden = hidden || simple
		f.names[property] = append(f.names[property], flag)
	}
}

// show makes the flags of a property visible.
func (f *Flags) show(property string) {
	for _, flag := range f.names[property] {
		flag.Hidden = strings.HasSuffix(flag.Name, "+") && len(f.names[property]) > 1
	}
}

// usage describes a property.
func (f *Flags) usage(name string, p *Property) string {
	text := "(" + f.schema.typeText(p)
	for _, required := range f.inputs.Required {
		if required == name {
			text += ", required"
		}
	}
	if p.Secret {
		text += ", secret"
	}
	text += ")"
	if about := Summary(p.Description); about != "" {
		text += " " + about
	}
	return text
}

// Values returns the inputs that the flags give.
func (f *Flags) Values() (property.Map, error) {
	out := map[string]property.Value{}
	for _, name := range f.inputs.Names() {
		by := ""
		for _, flag := range f.names[name] {
			if !flag.Changed {
				continue
			}
			if by != "" {
				return property.Map{}, exit.Usagef("--%s and --%s cannot be used together", by, flag.Name)
			}
			by = flag.Name
			v, err := f.value(f.inputs.Properties[name], flag)
			if err != nil {
				return property.Map{}, exit.Usagef("--%s: %w", flag.Name, err)
			}
			out[name] = v
		}
	}
	return property.NewMap(out), nil
}

func (f *Flags) value(p *Property, flag *pflag.Flag) (property.Value, error) {
	text := flag.Value.String()
	if strings.HasSuffix(flag.Name, "+") {
		v, err := parse([]byte(text))
		if err != nil {
			return property.Null, fmt.Errorf("the value is not valid YAML that `do` evaluates: %w", err)
		}
		return v, nil
	}
	v, err := f.schema.kindOf(p).parse(text)
	if err != nil && p.Secret {
		return property.Null, fmt.Errorf("the value is no %s", f.schema.kindOf(p)) // without the secret
	}
	return v, err
}

// textFlag is the text of a flag.
type textFlag struct{ text, kind string }

// Set implements [pflag.Value].
func (f *textFlag) Set(text string) error { f.text = text; return nil }

// String implements [pflag.Value].
func (f *textFlag) String() string { return f.text }

// Type implements [pflag.Value].
func (f *textFlag) Type() string { return f.kind }
