package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
)

// operationKind is what preview, up and destroy differ in.
type operationKind struct {
	history string // the kind in the history
	noun    string // in questions
	// previewing and doing are the titles.
	previewing, doing string
	needsProgram      bool
	preview, perform  func(context.Context, sluice.Options) (*sluice.Result, error)
	// asksProgram is true when the program does not run but is asked for the versions of its packages.
	asksProgram bool
	// prepare completes the operation before it begins, performed follows it whether it has succeeded or not; nil does
	// nothing.
	prepare, performed func(*operation) error
}

var (
	updateKind = operationKind{
		history: "update", noun: "update", previewing: "Previewing update", doing: "Updating", needsProgram: true,
		preview: sluice.Preview, perform: sluice.Update,
	}
	destroyKind = operationKind{
		history: "destroy", noun: "destroy", previewing: "Previewing destroy", doing: "Destroying",
		preview: sluice.PreviewDestroy, perform: sluice.Destroy,
	}
	refreshKind = operationKind{
		history: "refresh", noun: "refresh", previewing: "Previewing refresh", doing: "Refreshing",
		preview: sluice.PreviewRefresh, perform: sluice.Refresh,
	}
)

// operation is one preview, up or destroy while it goes on.
type operation struct {
	*session
	kind   operationKind
	flags  *operationFlags
	stack  sluice.Stack
	lock   sluice.StackLock // nil when only a preview is made
	values map[workspace.Key]workspace.Value
	config sluice.Config
	// plan is what the phases are held to; nil allows everything.
	plan    *sluice.Plan
	secrets sluice.SecretsManager // nil when nothing needs one

	warned     map[string]bool
	noted      sync.Map // what noteOnce said
	interrupts sluice.Interrupts
	screenMu   sync.Mutex   // guards what follows
	screen     *phaseScreen // of the phase that goes on
	fence      *sluice.Fence
	// creates says what is to be done about interrupted creates, by URN.
	creates map[string]sluice.CreateResolution
	// asking is true while the operation is being confirmed: there is nothing then that an interrupt would have to wait for.
	asking atomic.Bool
	// otherCreates is what is to be done about those that creates does not name.
	otherCreates sluice.CreateResolution
	// warnedOfPending is true once the preview has listed interrupted operations: at a terminal once is enough.
	warnedOfPending bool
	// endProcesses ends the plugins and the program of the phase.
	endProcesses func()
}

// operate runs an operation from its flags to its exit status.
func (c *cli) operate(ctx context.Context, kind operationKind, f *operationFlags) error {
	if err := c.checkOperationFlags(f); err != nil {
		return err
	}
	s, err := c.openStack(ctx, f.stack, f.configFile)
	if err != nil {
		return err
	}
	o := &operation{session: s, kind: kind, flags: f}
	if err := o.prepare(ctx); err != nil {
		return err
	}
	if o.kind.prepare != nil {
		if err := o.kind.prepare(o); err != nil {
			return err
		}
	}
	if err := o.resolvePending(ctx); err != nil {
		return err
	}
	if f.previewOnly {
		_, err := o.runInterruptible(ctx, func() error { return o.previewOnly(ctx) })
		return err
	}
	_, err = o.runInterruptible(ctx, func() error { return o.previewAndPerformLocked(ctx) })
	return err
}

// previewAndPerformLocked holds the lock of the stack meanwhile. A signal that comes while it is taken or given back does not
// end the process: the lock would stay.
func (o *operation) previewAndPerformLocked(ctx context.Context) error {
	lock, err := o.stack.Lock(ctx, sluice.StackLockOptions{Operation: o.kind.history, OnLost: func(err error) {
		o.note(err.Error())
		o.interrupts.Stop()
	}})
	if err != nil {
		return err
	}
	o.setLock(lock)
	err = o.previewAndPerform(ctx)
	if unlockErr := lock.Close(); unlockErr != nil {
		o.cli.warn("the lock of the stack could not be released: %v", unlockErr)
	}
	return err
}

func (c *cli) checkOperationFlags(f *operationFlags) error {
	if f.configPath && len(f.config) == 0 {
		return usageErrorf("--config-path says how to read --config, which is not given")
	}
	if f.strict && f.skipPreview {
		return usageErrorf("--strict cannot be used with --skip-preview: it holds the update to its preview")
	}
	if _, err := f.targeting(); err != nil {
		return err
	}
	switch f.checkpoint {
	case "", "timed":
	case string(sluice.CheckpointsAtEnd), string(sluice.CheckpointsEveryStep):
		c.checkpoints = sluice.CheckpointCadence(f.checkpoint)
	default:
		return usageErrorf("--checkpoint %s: write timed, end or every-step", f.checkpoint)
	}
	if err := f.checkPendingFlags(); err != nil {
		return err
	}
	if err := f.policies.check(); err != nil {
		return err
	}
	if _, err := c.analyzeLimit(); err != nil {
		return err
	}
	if f.previewOnly || f.yes || f.skipPreview {
		return nil
	}
	if f.json || !c.interactive() {
		return usageErrorf("--yes or --skip-preview or --preview-only must be passed in to proceed when running in non-interactive mode")
	}
	return nil
}

// runInterruptible runs f under the rules for Ctrl-C.
func (o *operation) runInterruptible(ctx context.Context, f func() error) (bool, error) {
	var err error
	guard := &interruptible{
		interrupts: &o.interrupts,
		note:       o.note,
		running:    o.runningSteps,
		asking:     o.asking.Load,
		leave:      func() { o.leave(os.Exit) },
	}
	guard.run(ctx, func() { err = f() })
	return o.interrupts.Stopped(), err
}

// prepare saves --config settings, checks the configuration and opens the secrets.
func (o *operation) prepare(ctx context.Context) error {
	if err := o.checkRequiredVersion(); err != nil {
		return err
	}
	if _, err := o.flags.policies.open(sluice.PluginOptions{}); err != nil {
		return err // found before anything is done
	}
	if err := o.applyConfigFlags(); err != nil {
		return err
	}
	if o.file.HasEnvironments() {
		return fmt.Errorf("%s asks for environments of the hosted service, which are not supported; remove `environment`", o.file.Path)
	}
	values, missing := workspace.Effective(o.project, o.file)
	var manager sluice.SecretsManager
	var dec workspace.Decrypter
	if !o.flags.previewOnly || anySecret(values) || o.flags.savePlan != "" {
		var err error
		if manager, err = o.secretsManager(ctx); err != nil {
			return err
		}
		dec = manager.Decrypter()
	}
	if !o.flags.skipConfigValidation && (o.runsProgram() || o.kind.asksProgram) {
		if err := workspace.Validate(ctx, o.project, o.name(), values, missing, dec); err != nil {
			return err
		}
	}
	config, err := workspace.EngineConfig(ctx, values, dec)
	if err != nil {
		return err
	}
	stack, err := o.backend.Open(ctx, o.ref)
	if err != nil {
		return err
	}
	if manager != nil {
		stack = stack.WithSecrets(manager)
	}
	o.stack, o.values, o.config, o.secrets = stack, values, config, manager
	if err := o.readPlan(ctx); err != nil {
		return err
	}
	return o.file.Save()
}

// checkRequiredVersion refuses a project that wants another version of Pulumi (state.md 6.1).
func (o *operation) checkRequiredVersion() error {
	wanted := o.project.RequiredVersion
	if wanted == "" {
		return nil
	}
	ok, err := sluice.SatisfiesPulumiRange(wanted)
	switch {
	case err != nil:
		return usageErrorf("%s: requiredPulumiVersion: %w; write a range such as \">=3.0.0\"", o.project.Path, err)
	case !ok:
		return usageErrorf("%s: requiredPulumiVersion is %q, and sluice %s behaves as Pulumi %s; change the range if that is good enough",
			o.project.Path, wanted, sluice.Version, sluice.PulumiVersion)
	}
	return nil
}

func (o *operation) applyConfigFlags() error {
	for _, setting := range o.flags.config {
		text, value, found := strings.Cut(setting, "=")
		if !found {
			value = ""
		}
		key, err := parseConfigKey(text, o.project.Name, o.flags.configPath)
		if err != nil {
			return err
		}
		if o.flags.configPath {
			err = o.file.SetPath(key, workspace.PathScalar(value))
		} else {
			err = o.file.Set(key, value, false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (o *operation) previewOnly(ctx context.Context) error {
	result, err := o.phase(ctx, true, 0)
	if err != nil {
		return err
	}
	if err := o.checkNoChanges(result); err != nil {
		return err
	}
	if err := o.writeImportFile(ctx, result); err != nil {
		return err
	}
	return o.savePlan(ctx, result)
}

// previewAndPerform is the flow of up and destroy (protocol.md 10.2). The lock is held.
func (o *operation) previewAndPerform(ctx context.Context) error {
	expected := 0
	if !o.flags.skipPreview {
		result, err := o.phase(ctx, true, 0)
		if err != nil {
			return err
		}
		if o.interrupts.Stopped() {
			return cancelledError()
		}
		if o.flags.strict && o.plan == nil {
			o.plan = result.Plan
		}
		expected = countVisible(result)
		if !o.flags.yes {
			if err := o.confirm(result); err != nil {
				return err
			}
		}
	} else if !o.flags.yes && o.cli.interactive() {
		if err := o.confirm(nil); err != nil {
			return err
		}
	}
	started := time.Now()
	result, err := o.phase(ctx, false, expected)
	historyErr := o.writeHistory(ctx, started, result, err)
	if err == nil {
		err = o.checkNoChanges(result)
	}
	if o.kind.performed != nil {
		switch also := o.kind.performed(o); {
		case err == nil:
			err = also
		case also != nil:
			o.cli.warn("%v", also)
		}
	}
	if historyErr != nil {
		o.cli.warn("the history of the stack was not written: %v", historyErr)
	}
	return err
}

func countVisible(r *sluice.Result) int {
	n := 0
	if r != nil {
		for _, s := range r.Steps {
			if s.Op != sluice.OpSame && s.Op != sluice.OpReplace && !s.Internal {
				n++
			}
		}
	}
	return n
}

func (o *operation) checkNoChanges(r *sluice.Result) error {
	if o.flags.expectNoChanges && r != nil && r.HasChanges() {
		return &statusError{status: statusHasChanges, err: errors.New("no changes were expected but changes occurred")}
	}
	return nil
}

func cancelledError() error {
	return &statusError{status: statusCancelled, err: errors.New("the operation was cancelled")}
}

// phase runs a preview or the operation itself, with its screen and event log.
func (o *operation) phase(ctx context.Context, preview bool, expected int) (*sluice.Result, error) {
	screen, err := o.openScreen(preview, expected)
	if err != nil {
		return nil, err
	}
	o.setScreen(screen)
	defer o.setScreen(nil)
	result, runErr := o.runEngine(ctx, preview, screen)
	closeErr := screen.close(result, runErr)
	o.warnedOfPending = screen.warned
	o.keepDecisions(ctx, result, preview)
	if runErr != nil {
		return result, runErr
	}
	return result, closeErr
}

func (o *operation) runEngine(ctx context.Context, preview bool, screen *phaseScreen) (*sluice.Result, error) {
	options, closeAll, err := o.engineOptions(ctx, preview)
	if err != nil {
		return nil, err
	}
	fence := sluice.NewFence(o.stack)
	if o.lock != nil {
		fence.Guard(o.lock.Check)
	}
	options.State = fence
	o.setProcesses(fence, closeAll)
	defer func() {
		o.setProcesses(nil, nil)
		closeAll()
	}()
	options.Observe = screen.observe
	run := o.kind.perform
	if preview {
		run = o.kind.preview
	}
	return run(ctx, options)
}

// engineOptions assembles what the engine needs. The returned function ends plugins and programs.
func (o *operation) engineOptions(ctx context.Context, preview bool) (sluice.Options, func(), error) {
	service, err := sluice.ServeEngine(ctx)
	if err != nil {
		return sluice.Options{}, nil, err
	}
	closers := []io.Closer{service}
	closeAll := func() {
		for i := len(closers) - 1; i >= 0; i-- {
			_ = closers[i].Close() // what a plugin says while it ends changes nothing
		}
	}
	directory, entry, err := sluice.LocateProgram(o.project.Directory(), o.project.Main)
	if err != nil {
		closeAll()
		return sluice.Options{}, nil, &statusError{status: statusUsage, err: err}
	}
	plugins := o.pluginOptions(service, directory)
	host := sluice.NewPluginHost(plugins)
	closers = append(closers, host)
	options := sluice.Options{
		Stack: o.ref.Name, Project: o.project.Name, Root: o.project.Directory(), Directory: directory, Config: o.config,
		Providers: host, Service: service,
		Parallel: o.flags.workers(), ContinueOnError: o.flags.continueOnError, IgnoreProtect: o.flags.ignoreProtect,
		ShowSecrets: o.flags.showSecrets, Legacy: o.cli.legacy(), Interrupts: &o.interrupts, Refresh: o.refreshes(),
		RunProgram: o.flags.runProgram, ResolveCreate: o.resolveCreate,
		Plan: o.plan, MakePlan: preview && o.makesPlan(),
		StackOutputs: o.backend.StackOutputs, StackResources: o.backend.StackResources,
	}
	if options.Targeting, err = o.flags.targeting(); err != nil {
		closeAll()
		return sluice.Options{}, nil, err
	}
	if options.AnalyzeLimit, err = o.cli.analyzeLimit(); err != nil {
		closeAll()
		return sluice.Options{}, nil, err
	}
	if options.PolicyPacks, err = o.flags.policies.open(plugins); err != nil {
		closeAll()
		return sluice.Options{}, nil, err
	}
	program, err := sluice.NewProgram(sluice.ProgramFiles{
		Runtime: o.project.Runtime, Options: o.project.RuntimeOptions, Root: o.project.Directory(), Directory: directory, Entry: entry,
	}, plugins)
	switch {
	case err == nil:
		options.Program = program
		closers = append(closers, program)
	case o.runsProgram():
		closeAll()
		return sluice.Options{}, nil, err
	case o.kind.asksProgram:
		o.warnOnce("providers have the versions that the state names, as the program cannot be asked: %v", err)
	}
	return options, closeAll, nil
}

// runsProgram tells whether the operation runs the program.
func (o *operation) runsProgram() bool { return o.kind.needsProgram || o.flags.runProgram }

// legacy is the old behaviour that the environment asks for.
func (c *cli) legacy() sluice.Legacy {
	return sluice.Legacy{
		Diff:                 isTruthy(c.env("PULUMI_ENABLE_LEGACY_DIFF")),
		RefreshDiff:          isTruthy(c.env("PULUMI_ENABLE_LEGACY_REFRESH_DIFF")),
		ProviderPreview:      isTruthy(c.env("PULUMI_LEGACY_PROVIDER_PREVIEW")),
		NoResourceReferences: isTruthy(c.env("PULUMI_DISABLE_RESOURCE_REFERENCES")),
		NoOutputValues:       isTruthy(c.env("PULUMI_DISABLE_OUTPUT_VALUES")),
	}
}

// warnOnce is warn for what the phases of an operation would say again.
func (o *operation) warnOnce(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !o.warned[text] {
		if o.warned == nil {
			o.warned = map[string]bool{}
		}
		o.warned[text] = true
		o.cli.warn("%s", text)
	}
}

// noteOnce tells the user something that is no warning. It may be called from many goroutines.
func (o *operation) noteOnce(text string) {
	if _, said := o.noted.LoadOrStore(text, true); !said {
		fmt.Fprintf(o.cli.err, "note: %s\n", text)
	}
}

// refreshes tells whether everything is to be read first: --refresh, or what the project says for all operations.
func (o *operation) refreshes() bool {
	if o.flags.refresh.given {
		return o.flags.refresh.value
	}
	return o.project.RefreshAlways
}

func (o *operation) pluginOptions(service *sluice.EngineService, directory string) sluice.PluginOptions {
	options := sluice.PluginOptions{
		Engine: service, Directory: directory, Project: o.project.Name, RuntimeOptions: map[string]string{}, Config: o.config,
		Home: o.home, LookupEnv: o.cli.lookup, Warn: func(message string) { o.cli.warn("%s", message) },
		NoBuiltins: o.flags.noBuiltins, Note: o.noteOnce,
	}
	for name, v := range o.project.RuntimeOptions {
		if !workspace.IsObject(v) {
			options.RuntimeOptions[name] = workspace.Text(v)
		}
	}
	options.ProjectPlugins = projectPlugins(o.project)
	return options
}

// projectPlugins are the plugins that a project file names.
func projectPlugins(p *workspace.Project) []sluice.ProjectPlugin {
	var out []sluice.ProjectPlugin
	add := func(kind sluice.PluginKind, plugins []workspace.LocalPlugin) {
		for _, p := range plugins {
			out = append(out, sluice.ProjectPlugin{Kind: kind, Name: p.Name, Version: p.Version, Directory: p.Path})
		}
	}
	add(sluice.ResourcePlugin, p.Plugins.Providers)
	add(sluice.LanguagePlugin, p.Plugins.Languages)
	add(sluice.AnalyzerPlugin, p.Plugins.Analyzers)
	return out
}

// confirm asks whether to go on. plan is nil when there was no preview.
func (o *operation) confirm(plan *sluice.Result) error {
	o.asking.Store(true)
	defer o.asking.Store(false)
	if o.interrupts.Stopped() {
		return cancelledError()
	}
	question := fmt.Sprintf("Do you want to perform this %s without a preview? [yes/no] (no): ", o.kind.noun)
	if plan != nil {
		question = fmt.Sprintf("Do you want to perform this %s? [yes/no/details] (no): ", o.kind.noun)
	}
	for {
		answer, err := o.cli.ask(question)
		if err != nil {
			return err
		}
		switch strings.ToLower(answer) {
		case "yes", "y":
			return nil
		case "", "no", "n":
			return fmt.Errorf("confirmation declined, not proceeding with the %s", o.kind.noun)
		case "details", "d":
			if plan != nil {
				if err := display.WriteDetails(o.cli.out, o.displayOptions(true, 0), plan.Steps); err != nil {
					return err
				}
				continue
			}
		}
		fmt.Fprintln(o.cli.out, "Please answer yes or no.")
	}
}
