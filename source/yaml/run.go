package yaml

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/sourcegraph/conc/iter"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/engine"
	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
	"github.com/sluice-iac/sluice/source/yaml/internal/syntax"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// evaluation is one run of a program.
type evaluation struct {
	ctx       context.Context // of the run: every node is evaluated under it
	program   *Program
	monitor   stages.Monitor
	info      stages.RunInfo
	loaded    *loaded
	template  *ast.Template
	scope     *scope
	refs      map[string]string         // references of packages with lock files, by comparable name
	parent    urn.URN                   // of resources that name none: the stack or the component
	component string                    // the name of the instance, "" in programs
	siblings  map[string]bool           // of components: the logical names of their resources
	functions map[*ast.Invoke]*function // what the invokes call; complete before the evaluation begins

	otherStacks await.Flight[string, *property.Map] // outputs by name; nil after an error, which has been reported

	mu    sync.Mutex // guards what follows
	found syntax.Diagnostics
	fatal error // why nothing more can be done
	byURN map[urn.URN]*resource
}

func newEvaluation(ctx context.Context, p *Program, m stages.Monitor, l *loaded, configs string) *evaluation {
	info := m.Info()
	return &evaluation{
		ctx: ctx, program: p, monitor: m, info: info, loaded: l, template: l.template, scope: newScope(info.Project, configs),
		found: slices.Clone(l.diagnostics), refs: map[string]string{}, byURN: map[urn.URN]*resource{},
	}
}

var (
	// errPoisoned says that a value is missing because of an error that has been reported elsewhere.
	errPoisoned = errors.New("a value that is needed is missing")
	// errFound says that a diagnostic has been added.
	errFound = errors.New("a diagnostic says what is wrong")
)

// fail adds an error and returns errFound.
func (e *evaluation) fail(at syntax.Range, hint, format string, args ...any) error {
	e.report(syntax.Diagnostic{Severity: syntax.Error, Range: at, Summary: fmt.Sprintf(format, args...), Hint: hint})
	return errFound
}

func (e *evaluation) report(d syntax.Diagnostic) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.found.Add(d)
}

// stop makes err the reason for which nothing more is evaluated; the first one counts.
func (e *evaluation) stop(err error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.fatal == nil {
		e.fatal = err
	}
	return errPoisoned
}

// refused takes the error of a call of the monitor: at is what the call was for.
func (e *evaluation) refused(at syntax.Range, err error) error {
	switch {
	case errors.Is(err, stages.ErrShutDown), e.ctx.Err() != nil:
		return e.stop(err)
	case errors.Is(err, stages.ErrRegistrationFailed):
		return errPoisoned // the engine has said why
	}
	return e.fail(at, "", "%v", err)
}

// run does everything that leads to diagnostics. The error is one that ended the evaluation.
func (e *evaluation) run(ctx context.Context) error {
	if err := e.registerPackages(ctx); err != nil {
		return err
	}
	reply, err := e.monitor.Register(ctx, &stages.RegisterRequest{
		Type: urn.RootStackType, Name: e.info.Project + "-" + e.info.Stack, AliasSpecs: true, SupportsResultReporting: true,
	})
	if err != nil {
		return err
	}
	e.parent = reply.URN
	e.scope.stackValues(e.info)
	for _, c := range e.template.Config {
		e.declareConfig(c)
	}
	if !e.prepare(ctx) {
		return nil
	}
	_, err = e.evaluateAll(ctx)
	return err
}

// registerPackages tells the engine about the packages with lock files.
func (e *evaluation) registerPackages(ctx context.Context) error {
	for _, p := range e.loaded.packages {
		ref, err := e.monitor.RegisterPackage(ctx, p)
		if err != nil {
			return err
		}
		e.refs[comparableName(p)] = ref
	}
	return nil
}

// prepare does what comes before everything else: it gives names their meaning and checks types. Configuration that is
// wrong poisons what uses it; every other mistake means that nothing is evaluated.
func (e *evaluation) prepare(ctx context.Context) bool {
	tolerated := e.found.Errors()
	bind(e.template, e.scope, &e.found)
	e.check(ctx)
	if e.found.Errors() > tolerated {
		return false
	}
	return e.template.RequiredVersion == nil || e.requireVersion(e.template.RequiredVersion)
}

// maxShown is how many diagnostics are shown. A program that a tool has written wrongly may have as many as it has lines.
const maxShown = 100

// conclude shows the diagnostics in the order of the file.
func (e *evaluation) conclude(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.found.Sort()
	for i, d := range e.found {
		if left := len(e.found) - i; i >= maxShown && left > 1 {
			severity := stages.Warning
			if e.found[i:].HasErrors() {
				severity = stages.Error
			}
			e.monitor.Log(ctx, stages.LogMessage{Severity: severity, Message: fmt.Sprintf("%s: %d more are not shown\n", e.loaded.file.Name, left)})
			break
		}
		severity := stages.Warning
		if d.Severity == syntax.Error {
			severity = stages.Error
		}
		e.monitor.Log(ctx, stages.LogMessage{Severity: severity, Message: d.Text(e.loaded.file) + "\n"})
	}
	if e.fatal != nil {
		return e.fatal
	}
	if e.found.HasErrors() {
		return fmt.Errorf("%s: %w", e.program.project.Program(), source.ErrReported)
	}
	return nil
}

func (e *evaluation) requireVersion(x ast.Expr) bool {
	if !e.needsOnlyConfig(x, "`requiredVersion`") {
		return false
	}
	v, err := e.eval(x)
	if err != nil {
		return false
	}
	plain, _ := flat(v)
	if !plain.IsString() {
		_ = e.fail(x.Range(), "", "`requiredVersion` must be a range of versions such as \">=3.100.0\", not %s", describe(plain))
		return false
	}
	ok, err := engine.Satisfies(plain.AsString())
	if err != nil {
		_ = e.fail(x.Range(), "", "%v", err)
		return false
	}
	if !ok {
		_ = e.fail(x.Range(), "", "this program wants Pulumi %s, and this engine stands in for Pulumi %s", plain.AsString(), engine.CompatibilityVersion)
	}
	return ok
}

// evaluateAll evaluates every node as soon as what it needs is there, all that is independent at once, and then registers
// the outputs, which it returns.
func (e *evaluation) evaluateAll(ctx context.Context) (map[string]property.Value, error) {
	all := make([]graph.ID, len(e.scope.order))
	for i := range all {
		all[i] = graph.ID(i)
	}
	schedule, err := e.scope.dependencies().Schedule(all, graph.Schedule{})
	if err != nil {
		return nil, err
	}
	var ready graph.ReadySet
	for i, entry := range schedule {
		ready.Add(graph.ID(i), entry.After...)
	}
	// What is not evaluated after the end of the run is poisoned, so every node gets its turn.
	err = ready.Run(context.WithoutCancel(ctx), func(_ context.Context, i graph.ID) error {
		e.evaluate(e.scope.order[schedule[i].Node])
		return nil
	})
	if err != nil {
		return nil, err // a panic
	}
	return e.registerOutputs(ctx)
}

// evaluate gives a node its value, or poisons it.
func (e *evaluation) evaluate(n *node) {
	e.mu.Lock()
	over := e.fatal != nil
	e.mu.Unlock()
	if over || e.ctx.Err() != nil {
		n.poisoned = true
		return
	}
	var err error
	if n.resource != nil {
		n.made, err = e.makeResource(n)
		if err == nil {
			n.value = n.made.reference()
		}
	} else {
		n.value, err = e.eval(n.variable.Value)
	}
	n.poisoned = err != nil
}

// registerOutputs evaluates the outputs, at once. One that cannot be evaluated is left out.
func (e *evaluation) registerOutputs(ctx context.Context) (map[string]property.Value, error) {
	e.mu.Lock()
	over := e.fatal != nil
	e.mu.Unlock()
	if over || ctx.Err() != nil {
		return nil, nil
	}
	mapper := iter.Mapper[*ast.Named, *property.Value]{MaxGoroutines: 64} // some call functions of packages
	all := mapper.Map(e.template.Outputs, func(o **ast.Named) *property.Value {
		v, err := e.eval((*o).Value)
		if err != nil {
			return nil
		}
		return &v
	})
	values, plain := map[string]property.Value{}, map[string]property.Value{}
	for i, o := range e.template.Outputs {
		if v := all[i]; v != nil {
			values[o.Name.Value], plain[o.Name.Value] = *v, v.DowngradeOutputs()
		}
	}
	return values, e.monitor.RegisterOutputs(ctx, e.parent, property.NewMap(plain))
}

// comparableName tells packages apart that serve the same tokens.
func comparableName(p stages.Package) string {
	switch {
	case p.Extension != nil:
		return p.Extension.Name
	case p.Parameterization != nil:
		return p.Parameterization.Name
	}
	return p.Name
}
