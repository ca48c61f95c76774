package yaml

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/source/yaml/internal/bind"
	"github.com/sluice-iac/sluice/source/yaml/internal/eval"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Construct constructs a component. It registers the component itself, then its resources, each with the name of the
// component as the prefix of its own (protocol.md 3.10, 11.11).
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
	e := newEvaluation(ctx, c.program, c.monitor(), l, bind.Input)
	res, err := e.construct(ctx, req)
	found := e.report.Sorted()
	switch {
	case err != nil:
		return res, err
	case e.monitor.Err() != nil:
		return res, e.monitor.Err()
	case found.HasErrors():
		return res, advice.With(errors.New(found.ErrorText(t.File)), found.Advice()...)
	}
	for _, d := range found {
		e.engine.Log(ctx, stages.LogMessage{Severity: stages.Warning, URN: res.URN, Message: d.Text(t.File) + "\n"})
	}
	c.remarks.Do(func() {
		for _, text := range c.warnings {
			e.engine.Log(ctx, stages.LogMessage{Severity: stages.Warning, Message: text + "\n"})
		}
	})
	return res, nil
}

func (e *evaluation) construct(ctx context.Context, req providers.ConstructRequest) (providers.ConstructResponse, error) {
	if err := e.registerPackages(ctx); err != nil {
		return providers.ConstructResponse{}, err
	}
	e.settings().receive(req, e.loaded.template.Config)
	if e.report.Errors() > 0 {
		return providers.ConstructResponse{}, nil
	}
	r, ok := e.prepare(ctx)
	if !ok {
		return providers.ConstructResponse{}, nil
	}
	reply, err := e.engine.Register(ctx, componentRequest(req))
	if err != nil {
		return providers.ConstructResponse{}, err
	}
	outputs, err := e.evaluate(ctx, r, eval.Owner{URN: reply.URN, Instance: req.Name})
	if err != nil {
		return providers.ConstructResponse{}, err
	}
	deps := map[string][]urn.URN{}
	for name, v := range outputs {
		deps[name] = v.OutputDependencies()
	}
	return providers.ConstructResponse{URN: reply.URN, Outputs: property.NewMap(outputs), OutputDependency: deps}, nil
}

// componentRequest returns the registration of the component itself, with all options of the request.
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

// seconds returns a timeout as text with its unit, "" for none.
func seconds(s float64) string {
	if s == 0 {
		return ""
	}
	return strconv.FormatFloat(s, 'f', -1, 64) + "s"
}
