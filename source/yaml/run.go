package yaml

import (
	"context"
	"fmt"
	"strconv"

	"github.com/sourcegraph/conc/iter"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/internal/text/syntax"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/engine"
	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
	"github.com/sluice-iac/sluice/source/yaml/internal/bind"
	"github.com/sluice-iac/sluice/source/yaml/internal/check"
	"github.com/sluice-iac/sluice/source/yaml/internal/declare"
	"github.com/sluice-iac/sluice/source/yaml/internal/eval"
	"github.com/sluice-iac/sluice/source/yaml/internal/packages"
	"github.com/sluice-iac/sluice/source/yaml/internal/places"
	"github.com/sluice-iac/sluice/source/yaml/internal/values"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// evaluation is one run of a program, or the construction of one component. It combines the parts of the evaluation and determines their
// order.
type evaluation struct {
	program   *Program
	loaded    *loaded
	engine    stages.Monitor
	packages  *packages.Registered
	report    *syntax.Report
	scope     *bind.Scope
	names     *eval.Environment
	monitor   *eval.Monitor
	resources *eval.Resources
	evaluator *eval.Evaluator
}

func newEvaluation(ctx context.Context, p *Program, m stages.Monitor, l *loaded, kind bind.SettingKind) *evaluation {
	info := m.Info()
	e := &evaluation{
		program: p, loaded: l, engine: m, report: syntax.NewReport(l.diagnostics), scope: bind.NewScope(info.Project, kind),
	}
	e.names = eval.NewEnvironment(e.scope, facts(p.project, info))
	e.monitor = eval.NewMonitor(ctx, m, e.report)
	e.resources = eval.NewResources(e.monitor)
	e.evaluator = eval.New(eval.Inputs{
		Names: e.names, Resources: e.resources, Monitor: e.monitor, Report: e.report, Directory: p.project.Directory, Preview: info.DryRun,
	})
	return e
}

// facts returns the facts about the run that programs can use.
func facts(p source.Project, info stages.RunInfo) property.Map {
	return property.NewMap(map[string]property.Value{
		"cwd":           property.String(p.Directory),
		"organization":  property.String(info.Organization),
		"project":       property.String(info.Project),
		"rootDirectory": property.String(p.Root),
		"stack":         property.String(info.Stack),
	})
}

// settings returns the part that evaluates the settings of the program.
func (e *evaluation) settings() *settings { return &settings{e.scope, e.evaluator, e.report} }

// run evaluates the program and adds to the diagnostics. It returns the error that ended the evaluation.
func (e *evaluation) run(ctx context.Context) error {
	if err := e.registerPackages(ctx); err != nil {
		return err
	}
	info := e.engine.Info()
	e.settings().configure(info, e.loaded.template.Config)
	r, ok := e.prepare(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx) // an incomplete check is not a mistake of the program
	}
	if !ok {
		return nil // nothing is registered, not even the stack
	}
	reply, err := e.engine.Register(ctx, &stages.RegisterRequest{
		Type: urn.RootStackType, Name: info.Project + "-" + info.Stack, AliasSpecs: true, SupportsResultReporting: true,
	})
	if err != nil {
		return err
	}
	_, err = e.evaluate(ctx, r, eval.Owner{URN: reply.URN})
	return err
}

// registerPackages registers the packages of the lock files with the engine.
func (e *evaluation) registerPackages(ctx context.Context) (err error) {
	e.packages, err = packages.Register(ctx, e.engine, e.loaded.packages)
	return err
}

// prepared is a program after its names were bound and its types checked.
type prepared struct {
	*bind.Program
	check.Meanings
}

// prepare binds names and checks types. A setting with a mistake is missing in the expressions that use it. After any other mistake,
// nothing is evaluated.
func (e *evaluation) prepare(ctx context.Context) (prepared, bool) {
	tolerated := e.report.Errors()
	bound := bind.Bind(e.loaded.template, e.scope, e.report)
	meanings := check.Check(ctx, bound, e.report, check.Options{
		Schemas: e.program.schemas, Packages: e.packages, Lenient: e.program.options.isLenient(),
	})
	if e.report.Errors() > tolerated {
		return prepared{}, false
	}
	version := e.loaded.template.RequiredVersion
	return prepared{bound, meanings}, version == nil || e.requireVersion(version)
}

func (e *evaluation) requireVersion(x ast.Expr) bool {
	if !e.scope.NeedsOnlySettings(x, "`requiredVersion`", e.report) {
		return false
	}
	v, err := e.evaluator.Eval(x)
	if err != nil {
		return false
	}
	plain, _ := values.UnmarkDeep(v)
	if !plain.IsString() {
		_ = e.report.Fail(x.Range(), "", "`requiredVersion` must be a range of versions such as \">=3.100.0\", not %s", values.Describe(plain))
		return false
	}
	ok, err := engine.Satisfies(plain.AsString())
	if err != nil {
		_ = e.report.Fail(x.Range(), "", "%v", err)
		return false
	}
	if !ok {
		_ = e.report.Fail(x.Range(), "", "Pulumi CLI version %s, for which this engine stands in, does not satisfy the version range %q",
			engine.CompatibilityVersion, plain.AsString())
	}
	return ok
}

// evaluate evaluates every resource and variable as soon as its needs are there, independent ones in parallel; resources register in
// turn. Then it registers the outputs, which it returns.
func (e *evaluation) evaluate(ctx context.Context, r prepared, owner eval.Owner) (map[string]property.Value, error) {
	evaluator := e.evaluator.Checked(owner, r.Functions)
	file := &places.File{Name: e.program.fileName(e.loaded.file.Name), Scope: e.scope}
	turns := newQueue(r.Nodes, e.engine.Info().DryRun)
	declarer := declare.New(r.Template, declare.Inputs{
		Evaluator: evaluator, Resources: e.resources, Monitor: e.monitor, Report: e.report, Types: r.Types, Owner: owner,
		Declared: func(u urn.URN, r *ast.Resource) { e.program.places.Add(u, r, file) },
		Turn:     func(n *bind.Node) *stages.Ordered { return turns.wait(ctx, n) },
	})
	err := inOrder(ctx, r.Nodes, func(n *bind.Node) {
		defer turns.finish(n)
		switch {
		case e.monitor.IsOver():
		case n.Resource != nil:
			declared, err := declarer.Declare(n)
			switch {
			case err != nil:
			case declared.Made == nil:
				e.names.SetMissing(n, declared.URN)
			default:
				e.names.SetResource(n, declared.Made)
			}
		default:
			v, err := evaluator.Eval(n.Variable.Value)
			if err != nil {
				e.names.SetMissing(n, e.names.MissingFor(n)...)
				break
			}
			e.names.SetValue(n, v)
		}
	})
	if err != nil || e.monitor.IsOver() {
		return nil, err
	}
	outputs := values.WithoutNulls(e.outputs(evaluator, r.Outputs, owner))
	plain := make(map[string]property.Value, len(outputs))
	for name, v := range outputs {
		plain[name] = v.DowngradeOutputs()
	}
	return outputs, e.engine.RegisterOutputs(ctx, owner.URN, property.NewMap(plain))
}

// outputs evaluates outputs in parallel. One that cannot be evaluated is left out of those of the stack, which then keep its last value. In
// those of a component it is unknown, and depends on the resources that were not made: without it, whoever uses the component would take it for
// null.
func (e *evaluation) outputs(evaluator *eval.Evaluator, nodes []*bind.Node, owner eval.Owner) map[string]property.Value {
	mapper := iter.Mapper[*bind.Node, *property.Value]{MaxGoroutines: 64} // some call functions of packages
	all := mapper.Map(nodes, func(n **bind.Node) *property.Value {
		v, err := evaluator.Eval((*n).Variable.Value)
		switch {
		case err == nil:
		case owner.Instance == "":
			return nil
		default:
			v = values.Marks{Dependencies: e.names.MissingFor(*n)}.Mark(property.Computed())
		}
		return &v
	})
	out := map[string]property.Value{}
	for i, n := range nodes {
		if v := all[i]; v != nil {
			out[n.Name] = *v
		}
	}
	return out
}

// maxShown is the largest number of diagnostics to show. A generated program may have one on every line.
const maxShown = 100

// showDiagnostics shows the diagnostics in the order of the file.
func (e *evaluation) showDiagnostics(ctx context.Context) error {
	found := e.report.Sorted()
	for i, d := range found {
		if left := len(found) - i; i >= maxShown && left > 1 {
			severity := stages.Warning
			if found[i:].HasErrors() {
				severity = stages.Error
			}
			e.engine.Log(ctx, stages.LogMessage{Severity: severity, Message: fmt.Sprintf("%s: %d more are not shown\n", e.loaded.file.Name, left)})
			break
		}
		severity := stages.Warning
		if d.Severity == syntax.Error {
			severity = stages.Error
		}
		e.engine.Log(ctx, stages.LogMessage{Severity: severity, Message: d.Text(e.loaded.file) + "\n", Advice: d.Advice})
	}
	if err := e.monitor.Err(); err != nil {
		return err
	}
	if found.HasErrors() {
		return fmt.Errorf("%s: %w", e.program.project.Program(), source.ErrReported)
	}
	return nil
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

// inOrder calls a function for every node once it has returned for all needs of the node. Calls for independent nodes run in parallel. The
// error is a panic of the function.
func inOrder(ctx context.Context, nodes []*bind.Node, evaluate func(*bind.Node)) error {
	number := make(map[*bind.Node]graph.ID, len(nodes))
	for i, n := range nodes {
		number[n] = graph.ID(i)
	}
	var ready graph.ReadySet
	for i, n := range nodes {
		needs := make([]graph.ID, len(n.Needs))
		for j, need := range n.Needs {
			needs[j] = number[need]
		}
		ready.Add(graph.ID(i), needs...)
	}
	// After the end of the run the function is still called, but evaluates nothing.
	return ready.Run(context.WithoutCancel(ctx), func(_ context.Context, id graph.ID) error {
		evaluate(nodes[id])
		return nil
	})
}
