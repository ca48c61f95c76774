package yaml

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/internal/text/syntax"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
	"github.com/sluice-iac/sluice/source/yaml/internal/bind"
	"github.com/sluice-iac/sluice/source/yaml/internal/config"
	"github.com/sluice-iac/sluice/source/yaml/internal/eval"
	"github.com/sluice-iac/sluice/source/yaml/internal/values"
	"github.com/sluice-iac/sluice/stages"
)

// settings evaluates the values that exist before names are bound: the configuration of a program (protocol.md 11.3), or the inputs of a
// component. A setting with a mistake is missing.
type settings struct {
	scope     *bind.Scope
	evaluator *eval.Evaluator
	report    *syntax.Report
}

// configure adds the values of the stack, and then the program's declarations of them.
func (s *settings) configure(info stages.RunInfo, declared []*ast.Config) {
	for key, text := range info.Config {
		v := config.Untyped(text)
		if slices.Contains(info.ConfigSecretKeys, key) {
			v = values.Secret(v)
		}
		s.scope.AddStackValue(key, v)
	}
	for _, c := range declared {
		setting, given := s.scope.Declare(c, s.report)
		if setting == nil {
			continue
		}
		v, ok := s.configured(c, setting, given, info.Config[s.scope.Key(c.Lookup())])
		if ok && c.Secret.Value {
			v = values.Secret(v)
		}
		setting.Value, setting.Missing = v, !ok
	}
}

// configured returns the value of a setting. The stack's value, given, is a text and takes precedence over a default.
func (s *settings) configured(c *ast.Config, setting, given *bind.Setting, text string) (property.Value, bool) {
	t, ok := s.declaredType(c)
	if !ok {
		return property.Null, false
	}
	setting.IsInteger = t.Name == config.Integer
	switch {
	case given != nil:
		return s.stackValue(c, t, given.Value, text)
	case c.Default != nil:
		return s.defaultValue(c, t)
	case t.Name == "":
		_ = s.report.Fail(c.Key.At, "declare one of them", "the configuration value %q has neither a `type` nor a `default`", c.Key.Value)
	default:
		_ = s.report.Fail(c.Key.At, "", "%w", advice.Errorf(toSet(c),
			"the configuration value %q has no default, and the stack does not set it", c.Key.Value))
	}
	return property.Null, false
}

// declaredType returns the type that an entry declares.
func (s *settings) declaredType(c *ast.Config) (config.Type, bool) {
	t, ok := config.Declared(c)
	if !ok {
		_ = s.report.Fail(c.Type.At, "there are: "+strings.Join(config.Names(), ", "), "%q is not a type of configuration", c.Type.Value)
	}
	return t, ok
}

// stackValue returns the stack's value as a value of the declared type.
func (s *settings) stackValue(c *ast.Config, t config.Type, given property.Value, text string) (property.Value, bool) {
	if given.IsSecret() && c.Secret.IsGiven() && !c.Secret.Value {
		_ = s.report.Fail(c.Secret.At, "",
			"the configuration value %q is a secret in the stack, so the program cannot declare it as none", c.Key.Value)
		return property.Null, false
	}
	inner, secret := given.Unwrap()
	v, ok := t.Fit(inner, text)
	if !ok {
		_ = s.report.Fail(c.Key.At, "", "%w", advice.Errorf(toSet(c),
			"the configuration value %q is declared as %v, and the stack has something else", c.Key.Value, t))
		return property.Null, false
	}
	if secret {
		v = values.Secret(v)
	}
	return v, true
}

// toSet returns the advice to set a value.
func toSet(c *ast.Config) advice.Advice {
	return advice.Advice{Action: advice.SetConfig, Key: c.Lookup()}
}

// defaultValue evaluates the default of a setting.
func (s *settings) defaultValue(c *ast.Config, t config.Type) (property.Value, bool) {
	if !s.scope.NeedsOnlySettings(c.Default, fmt.Sprintf("the default of %q", c.Key.Value), s.report) {
		return property.Null, false
	}
	v, err := s.evaluator.Eval(c.Default)
	if err != nil {
		return property.Null, false
	}
	plain := v.StripSecretsAndOutputs()
	actual, mixed := config.TypeOf(plain)
	if mixed != "" {
		_ = s.report.Fail(c.Default.Range(), "", "the elements of a list must be of one type, and these are %s", mixed)
		return property.Null, false
	}
	if t.Name == "" {
		return v, true
	}
	if _, ok := t.Fit(plain, ""); !ok {
		_ = s.report.Fail(c.Default.Range(), "", "the default of %q is of the type %v, and its declared type is %v", c.Key.Value, actual, t)
		return property.Null, false
	}
	return v, true
}

// receive adds the inputs of a component.
func (s *settings) receive(req providers.ConstructRequest, declared []*ast.Config) {
	for _, c := range declared {
		setting, _ := s.scope.Declare(c, s.report)
		if setting == nil {
			continue
		}
		v, ok := s.input(c, setting, req)
		if ok && c.Secret.Value {
			v = values.Secret(v)
		}
		setting.Value, setting.Missing = v, !ok
	}
}

// input returns the value of a component's input, or its default.
func (s *settings) input(c *ast.Config, setting *bind.Setting, req providers.ConstructRequest) (property.Value, bool) {
	t, ok := s.declaredType(c)
	if !ok {
		return property.Null, false
	}
	setting.IsInteger = t.Name == config.Integer
	name := c.Key.Value
	v, given := req.Inputs.Get(name)
	switch {
	case given && !v.IsNull():
		if len(v.OutputDependencies()) == 0 {
			v = values.Marks{Dependencies: values.Sorted(req.InputDependencies[name])}.Mark(v)
		}
		plain, _ := values.UnmarkDeep(v)
		if _, fits := t.Fit(plain, ""); !fits && !plain.IsUnknown() {
			actual, _ := config.TypeOf(plain)
			_ = s.report.Fail(c.Key.At, "", "the input %q is declared as %v, and what is given is %v", name, t, actual)
			return property.Null, false
		}
		return v, true
	case c.Default != nil:
		return s.defaultValue(c, t)
	}
	_ = s.report.Fail(c.Key.At, "", "the input %q has no default, and is not given", name)
	return property.Null, false
}
