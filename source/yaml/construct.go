package yaml

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

const inputKind = "input"

// Construct makes a component: it registers the component itself, then what it consists of, each resource under the name
// of the component and its own (protocol.md 3.10, 11.11).
func (c *components) Construct(ctx context.Context, req providers.ConstructRequest) (providers.ConstructResponse, error) {
	component := c.named(string(req.Type))
	switch {
	case component == nil:
		return providers.ConstructResponse{}, fmt.Errorf("the plugin %s has no component %s", c.PackageName, req.Type)
	case c.monitor == nil:
		return providers.ConstructResponse{}, errors.New("components can only be made while a program runs")
	}
	t := component.Template
	l := &loaded{template: t, file: t.File, packages: c.packages}
	e := newEvaluation(ctx, c.program, c.monitor(), l, inputKind)
	e.component, e.siblings = req.Name, map[string]bool{}
	for _, r := range t.Resources {
		e.siblings[r.LogicalName()] = true
	}
	res, err := e.construct(ctx, req)
	e.found.Sort()
	switch {
	case err != nil:
		return res, err
	case e.fatal != nil:
		return res, e.fatal
	case e.found.HasErrors():
		return res, errors.New(e.found.ErrorText(t.File))
	}
	for _, d := range e.found {
		e.monitor.Log(ctx, stages.LogMessage{Severity: stages.Warning, URN: res.URN, Message: d.Text(t.File) + "\n"})
	}
	c.remarks.Do(func() {
		for _, text := range c.warnings {
			e.monitor.Log(ctx, stages.LogMessage{Severity: stages.Warning, Message: text + "\n"})
		}
	})
	return res, nil
}

func (e *evaluation) construct(ctx context.Context, req providers.ConstructRequest) (providers.ConstructResponse, error) {
	if err := e.registerPackages(ctx); err != nil {
		return providers.ConstructResponse{}, err
	}
	for _, c := range e.template.Config {
		e.declareInput(c, req)
	}
	if e.found.HasErrors() || !e.prepare(ctx) {
		return providers.ConstructResponse{}, nil
	}
	reply, err := e.monitor.Register(ctx, componentRequest(req))
	if err != nil {
		return providers.ConstructResponse{}, err
	}
	e.parent = reply.URN
	outputs, err := e.evaluateAll(ctx)
	if err != nil {
		return providers.ConstructResponse{}, err
	}
	deps := map[string][]urn.URN{}
	for name, v := range outputs {
		deps[name] = v.OutputDependencies()
	}
	return providers.ConstructResponse{URN: reply.URN, Outputs: property.NewMap(outputs), OutputDependency: deps}, nil
}

// componentRequest registers the component itself, with everything that was asked of it.
func componentRequest(req providers.ConstructRequest) *stages.RegisterRequest {
	inputs := map[string]property.Value{}
	for name, v := range req.Inputs.All() {
		inputs[name] = v.DowngradeOutputs()
	}
	return &stages.RegisterRequest{
		Type: req.Type, Name: req.Name, Parent: req.Parent, Inputs: property.NewMap(inputs), PropertyDependencies: req.InputDependencies,
		Dependencies: req.Dependencies, Providers: req.Providers, Protect: req.Protect, Aliases: req.Aliases, AliasSpecs: true,
		AdditionalSecretOutputs: req.AdditionalSecretOutputs, DeletedWith: req.DeletedWith, DeleteBeforeReplace: req.DeleteBeforeReplace,
		IgnoreChanges: req.IgnoreChanges, ReplaceOnChanges: req.ReplaceOnChanges, RetainOnDelete: req.RetainOnDelete,
		ReplaceWith: req.ReplaceWith, ReplacementTrigger: req.ReplacementTrigger, Hooks: req.ResourceHooks,
		CustomTimeouts: stages.CustomTimeouts{
			Create: seconds(req.CustomTimeouts.Create), Update: seconds(req.CustomTimeouts.Update),
			Delete: seconds(req.CustomTimeouts.Delete), Read: seconds(req.CustomTimeouts.Read),
		},
		SupportsResultReporting: true, ParentStackTraceHandle: req.StackTraceHandle,
	}
}

// seconds is a timeout as a program writes it, "" for none.
func seconds(s float64) string {
	if s == 0 {
		return ""
	}
	return strconv.FormatFloat(s, 'f', -1, 64) + "s"
}

// declareInput enters what the component was given under the name of an input, or the input's default.
func (e *evaluation) declareInput(c *ast.Config, req providers.ConstructRequest) {
	n := &node{kind: inputKind, name: c.Key.Value, at: c.Key.At, config: c}
	if !e.scope.declare(e.scope.config, n, &e.found) {
		return
	}
	v, ok := e.inputValue(c, n, req)
	if !ok {
		n.poisoned = true
		return
	}
	if c.Secret.Value {
		v = peeled{secret: true}.wrap(v)
	}
	n.value = v
}

func (e *evaluation) inputValue(c *ast.Config, n *node, req providers.ConstructRequest) (property.Value, bool) {
	t, ok := e.declaredType(c)
	if !ok {
		return property.Null, false
	}
	n.isInteger = t.name == "integer"
	v, given := req.Inputs.Get(n.name)
	switch {
	case given && !v.IsNull():
		if len(v.OutputDependencies()) == 0 {
			v = peeled{deps: sorted(req.InputDependencies[n.name])}.wrap(v)
		}
		plain, _ := flat(v)
		if _, fits := t.fit(plain, ""); !fits && !plain.IsUnknown() {
			actual, _ := typeOfValue(plain)
			_ = e.fail(c.Key.At, "", "the input %q is declared as %v, and what is given is %v", n.name, t, actual)
			return property.Null, false
		}
		return v, true
	case c.Default != nil:
		return e.configDefault(c, n, t)
	}
	_ = e.fail(c.Key.At, "", "the input %q has no default, and is not given", n.name)
	return property.Null, false
}
