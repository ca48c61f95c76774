package operation

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
	"github.com/sourcegraph/conc/pool"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/standard"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// opened is an operation whose state is loaded. Nothing is running, and no event has been emitted.
type opened struct {
	settings Settings
	events   events
	began    time.Time

	// found is the state as loaded. base is that state brought up to date, before anything else is done. migrated is
	// true if they differ.
	found, base *state.Snapshot
	migrated    bool
	entropy     []byte
	packages    []stages.Package
	// again has what the attempts before this one have done; nil in the first one.
	again *again

	// operations is the context of running steps. It outlives the caller's context, so that they can finish when the
	// operation is stopped. abandon ends it.
	operations context.Context
	abandon    context.CancelFunc
	background *background
}

// open is the first phase: it loads the state and returns an error for anything that can be refused before the operation has an effect.
func open(ctx context.Context, s Settings) (*opened, error) {
	m := newMasks(s.Secrets, &s.Stages)
	s.Log = m.log(s.Log)
	o := &opened{settings: s, events: events{masks: m, observe: s.Stages.Observe}, began: time.Now(), entropy: s.Stages.Entropy}
	if err := o.checkPlan(); err != nil {
		return nil, err
	}
	if err := o.load(ctx); err != nil {
		return nil, err
	}
	if err := o.refuseHooks(); err != nil {
		return nil, err
	}
	if err := o.findPackagesUntilStopped(ctx); err != nil {
		return nil, err
	}
	o.start(ctx)
	return o, nil
}

// start makes the context of an attempt, and its place for goroutines.
func (o *opened) start(ctx context.Context) {
	o.operations, o.abandon = context.WithCancel(context.WithoutCancel(ctx))
	o.background = &background{}
}

func (o *opened) load(ctx context.Context) error {
	found, err := o.settings.State.Load(ctx)
	if err != nil {
		return err
	}
	if found == nil {
		found = &state.Snapshot{}
	}
	o.events.masks.learnSnapshot(found)
	if err := state.Verify(found); err != nil {
		return err
	}
	if err := o.refuseSnippets(found); err != nil {
		return err
	}
	if o.entropy == nil {
		o.entropy = make([]byte, 32)
		if _, err := rand.Read(o.entropy); err != nil {
			return err
		}
	}
	ids := 0
	o.found = found
	o.base, o.migrated = state.Migrate(found, o.settings.Stages.PackageConfig, func() string {
		ids++
		return stages.DerivedID(o.entropy, "migrated", fmt.Sprint(ids))
	})
	var had bool
	o.base, had = o.settings.Ephemeral.omitAll(o.base)
	o.migrated = o.migrated || had
	o.settings.Stages.Targeting, err = o.settings.Stages.Targeting.Bind(state.URNs(o.base.Resources))
	return err
}

// checkPlan refuses a plan that contains nothing about the stack.
func (o *opened) checkPlan() error {
	p, info := o.settings.Stages.Plan, o.settings.Stages.Info
	if p == nil || len(p.Resources) == 0 {
		return nil
	}
	for u := range p.Resources {
		if u.Stack() == info.Stack && u.Project() == info.Project {
			return nil
		}
	}
	other := slices.Min(slices.Collect(maps.Keys(p.Resources)))
	return fmt.Errorf("the plan is for stack %s of project %s, and not for stack %s of project %s; make one for this stack",
		other.Stack(), other.Project(), info.Stack, info.Project)
}

// refuseSnippets refuses an operation that would have to run the snippets of the state (state.md 1.10).
func (o *opened) refuseSnippets(found *state.Snapshot) error {
	mode := o.settings.Stages.Mode
	if mode == stages.ModeDestroy || mode == stages.ModeRefresh && !o.settings.RunsProgram() && !o.settings.isImport() {
		return nil
	}
	if state.CheckMutable(found) == nil {
		return nil
	}
	var names []string
	for _, s := range state.ReadSnippets(found) {
		names = append(names, fmt.Sprintf("%s (%s)", s.Name, s.Type))
	}
	what := "resources that snippets have made"
	if len(names) > 0 {
		what = "the snippets " + strings.Join(names, ", ")
	}
	return fmt.Errorf("the state has %s, which `pulumi do` keeps there and only Pulumi runs; this operation would take their resources for undeclared ones\n"+
		"`refresh` and `destroy` work, and a destroy of its resources removes a snippet; or declare the resources in the program with `pulumi state promote`", what)
}

// refuseHooks refuses a destroy that would have to run delete hooks, which are in the program (steps.md 7.5).
func (o *opened) refuseHooks() error {
	if o.settings.Stages.Mode != stages.ModeDestroy || o.settings.RunsProgram() {
		return nil
	}
	var refused []error
	for _, r := range o.base.Resources {
		if names := slices.Concat(r.ResourceHooks[stages.HookBeforeDelete], r.ResourceHooks[stages.HookAfterDelete]); len(names) > 0 {
			refused = append(refused, fmt.Errorf("%s: Resource has delete hooks registered, but the program is not running. Hooks: %s",
				r.URN, strings.Join(names, ", ")))
		}
	}
	return advice.With(errors.Join(refused...), advice.On(advice.RunProgram))
}

// findPackagesUntilStopped finds the packages of the program. An interrupt ends that, however long the program or its language
// plugin would take. That is not an error here: the following run is stopped before it begins.
func (o *opened) findPackagesUntilStopped(ctx context.Context) (err error) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	o.settings.OnInterrupt(end, func() {})
	if o.packages, err = o.findPackages(ctx); err != nil && o.settings.Stopped() {
		return nil
	}
	return err
}

// findPackages returns the versions of the program's packages, from the program or, if there is none, from the state.
func (o *opened) findPackages(ctx context.Context) ([]stages.Package, error) {
	var ps []stages.Package
	var err error
	switch {
	case o.settings.RunsProgram():
		if err := o.prepareProgram(ctx); err != nil {
			return nil, err
		}
		ps, err = o.settings.Program.Packages(ctx)
	case !o.settings.isImport():
		return nil, nil
	default:
		ps = o.importedPackages(ctx)
	}
	if err != nil {
		return nil, err
	}
	for _, p := range ps {
		if err := p.CheckNames(); err != nil {
			return nil, fmt.Errorf("the program needs a package that no plugin can serve: %w", err)
		}
	}
	if len(ps) == 0 {
		ps = o.recordedPackages()
	}
	return ps, nil
}

// prepareProgram makes the program build or install whatever it lacks.
func (o *opened) prepareProgram(ctx context.Context) error {
	p, needed := o.settings.Program.(source.Preparer)
	if !needed {
		return nil
	}
	return p.Prepare(ctx, func(m stages.LogMessage) { o.events.emit(stages.Diagnostic{LogMessage: m}) })
}

// prepareProviders makes the host prepare the providers of the packages, all at the same time: those of the program, and the
// recorded ones, which deletes may need. A provider that cannot be prepared is an error only when it is needed. It returns the
// providers that take time to start and that the program will most likely need.
func (o *opened) prepareProviders(ctx context.Context) []providers.Spec {
	host, can := o.settings.Providers.(providers.Preparer)
	if !can {
		return nil
	}
	var specs []providers.Spec
	seen := map[[3]string]bool{}
	for _, p := range slices.Concat(o.packages, o.recordedPackages()) {
		plugin := [3]string{p.Name, p.Version, p.DownloadURL}
		if p.Name != stages.BuiltinPackage && !seen[plugin] {
			seen[plugin] = true
			specs = append(specs, p.Spec(nameOf(p)))
		}
	}
	return slices.DeleteFunc(host.Prepare(ctx, specs), func(s providers.Spec) bool { return !o.willBeNeeded(s) })
}

// willBeNeeded reports whether the program most likely needs a provider: the program names the package, and the state is empty or
// has its default provider.
func (o *opened) willBeNeeded(spec providers.Spec) bool {
	return o.settings.RunsProgram() &&
		slices.ContainsFunc(o.packages, func(p stages.Package) bool {
			return nameOf(p) == spec.Package && p.OwnVersion() == spec.Version
		}) &&
		(len(o.base.Resources) == 0 || slices.ContainsFunc(o.base.Resources, func(r *state.Resource) bool {
			return r.URN.IsDefaultProvider() && r.Type.ProviderPackage() == spec.Package
		}))
}

// nameOf returns the name of the package for which a package's plugin is started.
func nameOf(p stages.Package) string {
	name, _ := nameAndVersion(p)
	return name
}

// importedPackages returns the versions that the program uses. An import does not need them: a program whose dependencies are not
// installed yet may have none.
func (o *opened) importedPackages(ctx context.Context) []stages.Package {
	if o.settings.Program == nil {
		return nil
	}
	ps, err := o.settings.Program.Packages(ctx)
	if err != nil {
		o.settings.Log.Warn("asking the program for its packages", "error", err)
	}
	return ps
}

// recordedPackages lists the packages of the recorded providers whose version or place of download is known.
func (o *opened) recordedPackages() []stages.Package {
	var ps []stages.Package
	for _, r := range o.base.Resources {
		if !r.Type.IsProvider() || r.Delete {
			continue
		}
		if p, err := stages.PackageOf(r.Type, r.Inputs); err == nil && (p.Version != "" || p.DownloadURL != "") {
			p.Recorded = true
			ps = append(ps, p)
		}
	}
	return ps
}

// warnOfOlderPackages warns if an operation that does not run the program works with older versions of packages than those of the
// program (steps.md 7.5): with those of the recorded providers. It ignores an error of the program in listing its versions.
func (o *opened) warnOfOlderPackages(ctx context.Context) {
	if o.settings.RunsProgram() || o.settings.isImport() || o.settings.Program == nil {
		return
	}
	wanted, err := o.settings.Program.Packages(ctx)
	if err != nil {
		o.settings.Log.Debug("asking the program for its packages", "error", err)
		return
	}
	kind := "refresh"
	if o.settings.Stages.Mode == stages.ModeDestroy {
		kind = "destroy"
	}
	told := map[string]bool{}
	for _, p := range wanted {
		name, version := nameAndVersion(p)
		for _, old := range o.recordedPackages() {
			oldName, oldVersion := nameAndVersion(old)
			if oldName != name || !isOlder(oldVersion, version) {
				continue
			}
			text := fmt.Sprintf("%s operation is using an older version of package '%s' than the specified program version: %s < %s",
				kind, name, oldVersion, version)
			if !told[text] {
				told[text] = true
				o.events.warn("", text)
			}
		}
	}
}

// nameAndVersion returns those of the package, which may be parameterized and served by another package's plugin.
func nameAndVersion(p stages.Package) (name, version string) {
	if p.Parameterization != nil {
		return p.Parameterization.Name, p.Parameterization.Version
	}
	return p.Name, p.Version
}

// isOlder compares versions. A malformed version is not older than anything.
func isOlder(a, b string) bool {
	v, err := semver.NewVersion(a)
	if err != nil {
		return false
	}
	w, err := semver.NewVersion(b)
	return err == nil && v.LessThan(w)
}

// refreshOnly returns the only resources that are read, nil for all. Those of interrupted operations are among them, because reading them resolves the
// operations (state.md 9.4).
func (o *opened) refreshOnly() map[urn.URN]bool {
	if o.settings.Stages.RefreshOnly == nil {
		return nil
	}
	only := maps.Clone(o.settings.Stages.RefreshOnly)
	for _, op := range o.base.Pending {
		only[op.Resource.URN] = true
		if op.Resource.ViewOf != "" {
			only[op.Resource.ViewOf] = true
		}
		if is := op.StateIn(o.base.Resources); is != nil {
			only[is.URN] = true
		}
	}
	return only
}

// warnOfPending lists the pending operations of earlier runs (steps.md 9.10, state.md 9.4 R-10), in previews too. An
// operation that refreshes does not list them: it resolves most of them.
func (o *opened) warnOfPending() {
	interrupted, underWay := separate(o.base.Pending)
	if len(underWay) > 0 {
		o.events.emit(stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.Warning, Message: underWayWarning(underWay)}})
	}
	if len(interrupted) == 0 || o.settings.Stages.Mode == stages.ModeRefresh || o.settings.Refresh {
		return
	}
	o.events.emit(stages.Diagnostic{
		LogMessage: stages.LogMessage{Severity: stages.Warning, Message: pendingWarning(interrupted),
			Advice: []advice.Advice{advice.On(advice.Recover)},
		}, Pending: interrupted,
	})
}

// separate returns the operations that were interrupted, and those that another command is carrying out.
func separate(ops []state.Pending) (interrupted, underWay []state.Pending) {
	for _, op := range ops {
		if op.UnderWay {
			underWay = append(underWay, op)
		} else {
			interrupted = append(interrupted, op)
		}
	}
	return interrupted, underWay
}

func underWayWarning(ops []state.Pending) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Another command is working on the stack. Its operations that have not ended (%d):\n", len(ops))
	for _, op := range ops {
		fmt.Fprintf(&b, "  * %s, %s\n", op.Resource.URN, op.Type)
	}
	b.WriteString("What is shown is a moment of it: these resources are taken as they were before")
	return b.String()
}

// pendingWarning keeps the words of steps.md 9.10 in its list, because scripts look for them.
func pendingWarning(ops []state.Pending) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Attempting to deploy or update resources with %d pending operations from previous deployment.\n", len(ops))
	for _, op := range ops {
		fmt.Fprintf(&b, "  * %s, interrupted while %s\n", op.Resource.URN, op.Type)
	}
	b.WriteString("It is not known whether these operations took effect, and what was being created is not created again before that is known")
	return b.String()
}

// errPolicyConfig is returned when the problems have been shown.
var errPolicyConfig = errors.New("validating policy config")

// loadPacks starts the policy packs, all at once, before anything is decided (steps.md 11.4). It returns the packs that
// were loaded, and the first error in the packs' order, because the others are often the same.
func (o *opened) loadPacks(ctx context.Context) (*packs, error) {
	p := &packs{}
	if !o.settings.RunsProgram() {
		return p, nil
	}
	// The packs live as long as the operation, unless it is interrupted.
	until, stop := context.WithCancelCause(o.operations)
	interrupt := func() { stop(stages.ErrShutDown) }
	o.settings.OnInterrupt(interrupt, func() {})
	p.releases = append(p.releases, context.AfterFunc(ctx, interrupt))

	found := make([]source.PolicyAnalyzer, len(o.settings.PolicyPacks))
	errs := make([]error, len(o.settings.PolicyPacks))
	loading := pool.New()
	for i, pack := range o.settings.PolicyPacks {
		o.events.emit(stages.PolicyLoad{})
		loading.Go(func() { found[i], errs[i] = pack.Load(until, o.settings.Stages.Info, o.events.show) })
	}
	loading.Wait()
	p.analyzers = slices.Clone(o.settings.Stages.Judges.Analyzers)
	for _, a := range found {
		if a != nil {
			p.loaded = append(p.loaded, a)
			p.analyzers = append(p.analyzers, a)
		}
	}
	if interrupted := context.Cause(until); interrupted != nil {
		return p, &stages.ReportedError{Err: interrupted} // other errors are consequences of the interrupt
	}
	return p, o.policyErrors(errs)
}

// policyErrors shows the errors in configurations, in order, and returns the other errors.
func (o *opened) policyErrors(errs []error) error {
	var problems []string
	for _, err := range errs {
		var config source.PolicyConfigError
		switch {
		case errors.As(err, &config):
			problems = append(problems, config.Messages()...)
		case err != nil:
			return err
		}
	}
	if len(problems) == 0 {
		return nil
	}
	slices.SortFunc(problems, strings.Compare)
	for _, p := range problems {
		o.events.showError(p)
	}
	return errPolicyConfig
}

// prepare makes the run, from its final settings.
func (o *opened) prepare(p *packs) *resolved {
	s := &resolved{opened: o, operations: o.operations, background: o.background, packs: p, transit: newTransit(o.settings.Ephemeral)}
	calls := o.settings.Calls
	calls.Warn = o.events.warn
	calls.NewID = func(u urn.URN) string { return stages.DerivedID(o.entropy, string(u), "provider") }
	calls.Waiting = func(limit string, waiting bool) { o.events.emit(stages.LimitWait{Limit: limit, Waiting: waiting}) }
	s.registry = providers.NewRegistry(o.operations, s.host(), calls)
	settings := o.settings.Stages
	settings.Base, settings.Packages, settings.Entropy, settings.Observe = o.base, o.packages, o.entropy, o.events.emit
	settings.Seeds, settings.Migrated = calls.Recorded.Seed, o.again.migrated()
	settings.RefreshEach, settings.RefreshOnly = o.settings.refreshesEach(), o.refreshOnly()
	settings.Registry = s.registry
	settings.MonitorAddress = func() (string, error) { return s.server.Address() }
	settings.Judges.Analyzers = p.analyzers
	if !settings.Info.DryRun {
		s.record = o.again.recording()
		settings.Recorder = s.record
	}
	s.run = standard.NewRun(o.operations, settings)
	s.opened.events.stopOnPanic(s.run.Halt)
	s.server = o.settings.serve(o.operations, source.ServedMonitor{
		Monitor: s.monitor(), Views: s.run, Root: o.settings.Root,
		NoResourceReferences: o.settings.NoResourceReferences, NoOutputValues: o.settings.NoOutputValues,
	})
	o.settings.Messages(func(m stages.LogMessage) { s.run.Monitor().Log(o.operations, m) })
	return s
}
