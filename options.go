package sluice

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/internal/operation"
	"github.com/sluice-iac/sluice/internal/platform/memory"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/property/redact"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/autonaming"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Options describe one operation on one stack. Wrong options are reported all at once, by the error of the operation, before
// anything is done.
type Options struct {
	Stack        string // required, as Project is
	Project      string
	Organization string // "organization" when empty
	// Root is the absolute directory of the project file. Source positions in states are relative to it. "" records none.
	Root string
	// Directory is the program's directory: relative paths of assets are resolved against it. "" is the working
	// directory of the process.
	Directory string
	// Config is the stack's configuration, decrypted. A key is "namespace:name".
	Config Config
	// Program declares the resources. Refresh and Destroy run it only with RunProgram. Otherwise they use only the versions of its
	// packages, to warn about older ones, and it may be nil.
	Program source.Program
	// Providers starts providers.
	Providers providers.Host
	// State is the store of the stack's state: a stack of a backend within host.Locked, or a [MemoryState]. One operation at a time
	// can record it. nil is a MemoryState that is lost at the end, and with it the record of all objects that the operation has
	// made.
	State state.Store
	// StackOutputs returns the outputs of another stack for stack references, StackResources its live resources. If nil, programs
	// that use them fail.
	StackOutputs   func(ctx context.Context, name string) (property.Map, error)
	StackResources func(ctx context.Context, name string) ([]*state.Resource, error)
	// Service receives the log messages of programs and plugins; nil when there is none. The Service, the Program or the Providers serve the
	// monitor to other processes: the first of them that is a [source.MonitorServer]. Those of package host are. Plugins that a caller's own host
	// has wrapped are not, and need the Service for components and views.
	Service Service

	Parallel int // how many changing operations run at once; 0 means 4 for each processor, 1 one at a time
	// ReadLimit bounds the concurrent calls of Check, Diff and Read of resources, of all packages together; 0 is the value of
	// [ReadLimitKey] in Config. Without either, each part of the operation (such as the checks, the diffs, the reads of a refresh)
	// makes up to 512 calls at once. Limits bound calls of providers in addition to the rules of [LimitsKey] in Config; nil bounds
	// nothing. Operations with the same Limits share the budgets.
	ReadLimit int
	Limits    *providers.Limits
	// MemoryLimit is how many bytes the operation may add to the memory of the process; 0 is no limit. When what the program has registered takes
	// half of them, the operation fails and stops: the other half is for recording that. What the process had in use before does not count, but
	// what else it does meanwhile does.
	MemoryLimit uint64
	// Answers answer the calls of Check and Diff that a preview with the same Answers has made before. Such a preview and its update need the same
	// Entropy. nil calls the providers each time.
	Answers *providers.Answers
	// Recorded answers calls of Check and Diff as in earlier operations on the stack. nil calls the providers each time.
	Recorded        *providers.RecordedAnswers
	ContinueOnError bool
	Targeting       stages.Targeting // which resources to touch; the zero value is all
	Refresh         bool             // read every resource before deciding
	// RefreshOnly are the recorded resources that an Update or Preview with Refresh reads. It reads those of interrupted operations too, and those
	// whose providers require it. nil is all.
	RefreshOnly map[urn.URN]bool
	// RunProgram makes Refresh and Destroy run the program, so that they use the configuration that it gives its providers, and
	// so that delete hooks run (steps.md 7.4, 7.5). An Update or Preview with Refresh then reads each resource when the
	// program registers it.
	RunProgram bool
	// ResolveCreate is called for each interrupted create before the program starts; nil leaves them all pending. Imports do
	// not call it. A resource whose create stays pending is not created again: that is an [*stages.InterruptedCreateError],
	// in previews too, and whatever depends on it fails or is skipped (state.md 9.4 R-6).
	// Importing the resource resolves it as well.
	ResolveCreate func(state.Pending) stages.CreateResolution
	IgnoreProtect bool
	// Secrets are texts that are masked in every message, error and log of the operation. The operation adds the secrets of the
	// configuration, the state, the program and the providers. nil is an empty set. ShowSecrets leaves all secrets in messages and
	// errors.
	Secrets     *redact.Set
	ShowSecrets bool
	Legacy      Legacy
	// Analyzers judge what the program declares, before the PolicyPacks do. Operations that do not run the program call neither.
	// AnalyzeLimit is how many of them run at once; 0 is all.
	Analyzers    []stages.Analyzer
	PolicyPacks  []source.PolicyPack
	AnalyzeLimit int
	// Plan restricts Preview and Update: a change that it does not allow stops them before it is made, with a
	// [*stages.PlanViolation]. nil allows everything. With MakePlan they return a plan (see [Result.Plan]). Other operations refuse
	// a Plan and make none.
	Plan      *state.Plan
	MakePlan  bool
	Autonamer stages.Autonamer // nil: providers choose the names

	// Observe is called with each event, one at a time. It must not block for long. [stages.Ended] is the last event: Observe is not called after the
	// operation has returned.
	Observe func(stages.Event)
	// Interrupts pauses and stops the operation in an orderly way; nil if it cannot be interrupted. Operations may share one.
	Interrupts *Interrupts
	// Log gets the log of the engine: provider calls at [slog.LevelDebug], and the values that they send at [LevelValues]. nil
	// discards.
	Log *slog.Logger
	// Now is the clock for the times in states; nil is the real one.
	Now func() time.Time
	// Entropy is the source of random seeds and of the IDs of providers; nil takes 32 random bytes. The same entropy gives the same
	// values. Each operation needs its own, because otherwise a replaced provider would keep its ID.
	Entropy []byte
}

// autonamer returns the autonaming configuration, nil when there is none.
func (o Options) autonamer() (stages.Autonamer, error) {
	v, ok := o.Config[autonaming.Key]
	if !ok {
		return nil, nil
	}
	names, err := autonaming.Parse(v.Text, autonaming.Stack{
		Organization: o.Organization, Project: o.Project, Stack: o.Stack,
		Config: func(name string) (string, bool) {
			v, ok := o.Config[o.Project+":"+name]
			return v.Text, ok
		},
	})
	if err != nil {
		return nil, &SettingError{Key: autonaming.Key, Err: err}
	}
	return names, nil
}

// calls returns how providers are called.
func (o Options) calls() (c providers.RegistryOptions, err error) {
	c.EchoInputs, c.Answers, c.Recorded = o.Legacy.ProviderPreview, o.Answers, o.Recorded
	if c.ReadLimit, err = o.readLimit(); err != nil {
		return c, err
	}
	own, err := o.Config.limits()
	c.Limits = []*providers.Limits{own, o.Limits}
	return c, err
}

func (o Options) readLimit() (int, error) {
	v, ok := o.Config[ReadLimitKey]
	if o.ReadLimit > 0 || !ok {
		return o.ReadLimit, nil
	}
	n, err := strconv.Atoi(v.Text)
	if err != nil || n < 1 {
		return 0, &SettingError{Key: ReadLimitKey, Err: fmt.Errorf("config %s must be a whole number from 1, not %q", ReadLimitKey, v.Text)}
	}
	return n, nil
}

// previewWorkers is the number of chains that a preview executes at once. It changes nothing, so --parallel does not bound it.
const previewWorkers = 256

func (o Options) withDefaults() Options {
	if o.Organization == "" {
		o.Organization = "organization"
	}
	if o.State == nil {
		o.State = &MemoryState{}
	}
	if o.Providers == nil {
		o.Providers = providers.HostFunc(func(_ context.Context, s providers.Spec) (providers.Provider, error) {
			return nil, fmt.Errorf("no provider for package %q: set Options.Providers", s.Package)
		})
	}
	if o.Secrets == nil {
		o.Secrets = &redact.Set{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// settings converts the options for package operation.
func (o Options) settings(k kind) (operation.Settings, error) {
	inner, err := o.stageSettings(k)
	s := operation.Settings{
		Name: k.name, Stages: inner, Imports: k.imports, Recovers: k.recovers, Refresh: o.Refresh, RunProgram: o.RunProgram && !k.recovers,
		Program: o.Program, Root: o.Root, Providers: o.Providers, PolicyPacks: o.PolicyPacks,
		State: o.State, Version: ManifestVersion, StackOutputs: o.StackOutputs, StackResources: o.StackResources,
		ResolveCreate: o.ResolveCreate, NoResourceReferences: o.Legacy.NoResourceReferences, NoOutputValues: o.Legacy.NoOutputValues,
		Messages: func(func(stages.LogMessage)) {}, ShownConfig: o.Config.shown(), Secrets: o.Secrets,
		Log: o.Log,
	}
	if o.Service != nil {
		s.Engine, s.Messages = o.Service, o.Service.Attach
	}
	var invalid, unknown error
	s.Calls, invalid = o.calls()
	s.Ephemeral, unknown = o.Config.ephemeral()
	return s, errors.Join(err, invalid, unknown)
}

// monitorServer returns what serves the monitor to other processes; nil if nothing does.
func (o Options) monitorServer() source.MonitorServer {
	for _, part := range []any{o.Service, o.Program, o.Providers} {
		if s, serves := part.(source.MonitorServer); serves {
			return s
		}
	}
	return nil
}

// stageSettings returns the part of the options that the stages need.
func (o Options) stageSettings(k kind) (stages.Settings, error) {
	plain, secret := o.Config.Values()
	s := stages.Settings{
		Info: stages.RunInfo{
			Organization: o.Organization, Project: o.Project, Stack: o.Stack, Config: plain, ConfigSecretKeys: secret,
			DryRun: k.dryRun, Parallel: o.parallel(),
		},
		Directory: o.Directory, Mode: k.mode, Judges: stages.Judges{Analyzers: o.Analyzers, AnalyzeLimit: o.AnalyzeLimit}, Autonamer: o.Autonamer,
		Pace: stages.Pace{Workers: o.workers(k), Admit: o.Interrupts.admit}, PackageConfig: o.Config.PackageInputs, Targeting: o.Targeting, ContinueOnError: o.ContinueOnError,
		Memory: stages.Memory{Limit: o.MemoryLimit, Before: memory.Taken()}, IgnoreProtect: o.IgnoreProtect, ShowSecrets: o.ShowSecrets,
		Legacy:  stages.Legacy{Diff: o.Legacy.Diff, RefreshDiff: o.Legacy.RefreshDiff},
		Observe: o.Observe, Now: o.Now, Entropy: o.Entropy,
	}
	if o.Refresh && k.mode == stages.ModeUpdate {
		s.RefreshOnly = o.RefreshOnly
	}
	if k.hasPlans() {
		s.Plan, s.MakePlan = o.Plan, o.MakePlan
	}
	var err error
	if s.DeniedProviders, err = o.Config.deniedProviders(); err != nil {
		return s, err
	}
	if s.ReplaceDependsOn, err = o.Config.replacesDependsOn(); err != nil {
		return s, err
	}
	if s.Autonamer == nil {
		s.Autonamer, err = o.autonamer()
	}
	return s, err
}

// workers returns the number of chains that an operation executes at once.
func (o Options) workers(k kind) int {
	if k.dryRun && o.Parallel == 0 {
		return previewWorkers
	}
	return o.parallel()
}

func (o Options) parallel() int {
	if o.Parallel > 0 {
		return o.Parallel
	}
	return 4 * runtime.GOMAXPROCS(0)
}

// errNoProgram is returned when there is nothing to run.
var errNoProgram = errors.New("no program: set Options.Program")

// validate returns an error for each option that an operation cannot use, all at once. Nothing has been done then.
func (o Options) validate(k kind) error {
	var errs []error
	add := func(err error) { errs = append(errs, err) }
	o.checkNames(add)
	o.checkNumbers(add)
	o.checkValues(add)
	o.checkFor(k, add)
	if k.imports != nil {
		add(stages.CheckImports(o.Stack, o.Project, k.imports))
	}
	return errors.Join(errs...)
}

// checkNames refuses names with which a URN would have another meaning.
func (o Options) checkNames(add func(error)) {
	for _, n := range []struct{ option, given, read string }{
		{"Stack", o.Stack, urn.RootStack(o.Stack, "project").Stack()}, {"Project", o.Project, urn.RootStack("stack", o.Project).Project()},
	} {
		switch {
		case n.given == "":
			add(fmt.Errorf("Options.%s is empty; it is a part of the name of every resource", n.option))
		case n.given != n.read || strings.HasPrefix(n.given, ":") || strings.HasSuffix(n.given, ":"):
			add(fmt.Errorf("Options.%s must not be %q: the name of a resource separates its parts by %q", n.option, n.given, "::"))
		}
	}
	stack, ok := o.State.(interface{ Named() (project, name string) }) // one of a backend
	if !ok || isNil(o.State) {
		return
	}
	if project, name := stack.Named(); name != o.Stack || project != "" && project != o.Project {
		add(fmt.Errorf("Options.State is the stack %s of project %s, and Options name the stack %s of project %s; they must be the same",
			name, project, o.Stack, o.Project))
	}
}

func (o Options) checkNumbers(add func(error)) {
	for _, n := range []struct {
		option string
		value  int
		none   string
	}{
		{"Parallel", o.Parallel, "4 for each processor"},
		{"ReadLimit", o.ReadLimit, "none"},
		{"AnalyzeLimit", o.AnalyzeLimit, "all"},
	} {
		if n.value < 0 {
			add(fmt.Errorf("Options.%s must be a number from 1, or 0 for %s, not %d", n.option, n.none, n.value))
		}
	}
}

func (o Options) checkValues(add func(error)) {
	for _, v := range []struct {
		option string
		value  any
	}{{"Providers", o.Providers}, {"State", o.State}, {"Service", o.Service}, {"Autonamer", o.Autonamer}} {
		if isNil(v.value) {
			add(nilOption(v.option, v.value))
		}
	}
	for i, a := range o.Analyzers {
		if a == nil || isNil(a) {
			add(fmt.Errorf("Options.Analyzers[%d] is nil", i))
		}
	}
	for i, p := range o.PolicyPacks {
		if p == nil || isNil(p) {
			add(fmt.Errorf("Options.PolicyPacks[%d] is nil", i))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(o.Config)) {
		if namespace, name, ok := strings.Cut(key, ":"); !ok || namespace == "" || name == "" {
			add(fmt.Errorf("Options.Config[%q]: a key is \"namespace:name\", and the namespace of a program's own settings is the name of its project", key))
		}
	}
	if o.Entropy != nil && len(o.Entropy) == 0 {
		add(errors.New("Options.Entropy is empty, which would give each operation the same random values; leave it nil"))
	}
	if o.Root != "" && !filepath.IsAbs(o.Root) {
		add(fmt.Errorf("Options.Root must be an absolute path, not %q: programs name their files by absolute paths", o.Root))
	}
}

// checkFor refuses options that the caller relies on and the operation would ignore.
func (o Options) checkFor(k kind, add func(error)) {
	switch {
	case !k.runsProgram(o):
	case o.Program == nil:
		add(errNoProgram)
	case isNil(o.Program):
		add(nilOption("Program", o.Program))
	}
	if o.Plan != nil && !k.hasPlans() {
		add(fmt.Errorf("Options.Plan cannot hold %s: there are plans for updates and their previews only", k.article()))
	}
	t := o.Targeting
	if t.Targets.IsConstrained() && t.Excludes.IsConstrained() {
		add(errors.New("Options.Targeting has both Targets and Excludes; set one of them"))
	}
	if k.imports != nil && (t.IsPartial() || t.Replace.IsConstrained()) {
		add(errors.New("Options.Targeting: an import is about its requests only; leave it unset"))
	}
}

func nilOption(option string, value any) error {
	return fmt.Errorf("Options.%s is a nil %T; give it a value, or leave it unset", option, value)
}

// isNil reports whether an option is set to a nil function or pointer, which would panic when it is used.
func isNil(value any) bool {
	v := reflect.ValueOf(value)
	return (v.Kind() == reflect.Func || v.Kind() == reflect.Pointer || v.Kind() == reflect.Map) && v.IsNil()
}

// Service is the engine's service for programs and plugins, which send their log messages to it. Package host has one.
type Service interface {
	source.Service
	// Attach sets the receiver of the messages from now on; nil drops them. It may be called from any goroutine.
	Attach(sink func(stages.LogMessage))
}

// Historian is a [state.Store] with a history of operations, such as a stack within host.Locked.
type Historian interface {
	// Ended writes an operation into the history when it has ended. Previews are not written.
	Ended(ctx context.Context, e Ended)
}

// Ended describes an operation that has ended.
type Ended struct {
	Kind    string // "update", "refresh", "destroy", "import" or "recover"
	Began   time.Time
	Config  Config
	Changes map[stages.Op]int
	Err     error // nil after success
}

// Legacy brings back behaviour that newer engines have changed, for stacks that rely on it. The zero value is the present
// behaviour.
type Legacy struct {
	// Diff treats a resource whose checked inputs have not changed as unchanged, without calling its provider (steps.md 3.8).
	Diff bool
	// RefreshDiff decides by its outputs alone whether a refreshed resource has changed, without calling
	// its provider (steps.md 7.6).
	RefreshDiff bool
	// ProviderPreview lets a provider whose configuration is unknown in a preview return the given inputs as outputs
	// (protocol.md 3.2).
	ProviderPreview bool
	// NoResourceReferences reports to SDKs that references to resources are not supported. A resource within a value is then its
	// ID, or the URN of a component (protocol.md 4.2).
	NoResourceReferences bool
	// NoOutputValues reports to SDKs that outputs within values are not supported. Dependencies are then known for whole properties
	// only (protocol.md 4.2).
	NoOutputValues bool
}
