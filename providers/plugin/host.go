package plugin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/sluice-iac/sluice/property/packed"
	"github.com/sluice-iac/sluice/providers"
)

// Options configure a [Host]. The zero value finds plugins on the PATH.
type Options struct {
	// EngineAddress returns the address of the Engine service, "127.0.0.1:<port>", to which plugins send their log messages. It
	// is called for each plugin; nil if there is no such service.
	EngineAddress func() (string, error)
	// SchemasAddress returns the address of the Loader, the Mapper and the PackageResolver service, which plugins get in the handshake. It is called for
	// each plugin; nil if there are none.
	SchemasAddress func() (string, error)

	// Directory is the program's directory, in which plugins run; "" is the engine's own.
	Directory string
	// Project is the name of the project and RuntimeOptions are the options of its runtime; plugins get both in their
	// environment (protocol.md 1.5).
	Project        string
	RuntimeOptions map[string]string
	// Config is the stack's configuration, "namespace:name" -> plain text. Only the plugins that run dynamic providers get
	// it.
	Config map[string]string

	// ProjectPlugins, ProjectPackages, Home and Bundled define where plugins are searched for; see [Finder].
	ProjectPlugins  []ProjectPlugin
	ProjectPackages []ProjectPackage
	Home            string
	Bundled         string
	// Acquire installs a missing plugin; nil installs none.
	Acquire Acquire

	// StartWritten starts a plugin without an executable; nil if none can be started. It returns a *[LanguageHostedError] for
	// a plugin that another host serves.
	StartWritten func(context.Context, Written) (Server, error)
	// LogFlags are the arguments that plugins get before their own, except those that run dynamic providers.
	LogFlags []string
	// Allow is called before the executable of a plugin is started; an error prevents the start. nil allows all.
	Allow func(name string) error
	// Meant returns the known name that is most similar to that of a missing plugin, "" if none is near; nil returns none.
	Meant func(name string) string

	// LookupEnv reads the engine's environment, nil is os.LookupEnv; Environ is all of it, nil is os.Environ.
	LookupEnv func(string) (string, bool)
	Environ   func() []string

	// Output receives the output of plugins, from many goroutines; nil discards.
	Output func(Line)
	// Warn is called for plugins that are found in unusual places; nil discards.
	Warn func(message string)
	// Note is called when a plugin is slow to start, perhaps from many goroutines; nil discards.
	Note func(message string)
	// Log receives records about processes; nil discards.
	Log *slog.Logger

	// Shares is true if one process may serve a request of a schema and the provider of the same spec, whichever is first. A process that was
	// started for its schema then stays until [Host.EndUnused] or [Host.Close], unless a provider takes it. It is for plugins in source form, which
	// take seconds to start: the schemas of installed ones are stored.
	Shares bool
	// Keeps is true if what was started for one run serves later runs, too, until [Host.Close]. A provider that is closed in order leaves its process,
	// and one that is loaded later takes it if it has an equal spec and an equal configuration, without configuring it again. Providers of dynamic
	// resources are left out, because they run the program's own code. It needs Shares.
	Keeps bool
}

// Host starts provider plugins as processes, or attaches to those named by PULUMI_DEBUG_PROVIDERS. It satisfies
// providers.Host. Its methods may be called from many goroutines; the caller closes the results of Load.
type Host struct {
	options Options
	finder  Finder
	streams *streams
	starts  starts
	keeper  keeper
}

var _ providers.Host = (*Host)(nil)

// NewHost returns a host.
func NewHost(o Options) *Host {
	if o.LookupEnv == nil {
		o.LookupEnv = os.LookupEnv
	}
	if o.Environ == nil {
		o.Environ = os.Environ
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
	if o.Allow == nil {
		o.Allow = func(string) error { return nil }
	}
	if o.EngineAddress == nil {
		o.EngineAddress = nowhere
	}
	if o.SchemasAddress == nil {
		o.SchemasAddress = nowhere
	}
	return &Host{options: o, streams: &streams{}, finder: Finder{
		Project: o.ProjectPlugins, Packages: o.ProjectPackages, Home: o.Home, Bundled: o.Bundled, LookupEnv: o.LookupEnv, Warn: o.Warn,
	}}
}

// nowhere is the address of a service that does not exist.
func nowhere() (string, error) { return "", nil }

// Load starts the plugin that serves spec, shakes hands, and parameterizes it if spec requires it. The returned
// provider has not been configured. Errors are a *[MissingError] if the plugin is missing and was not installed.
func (h *Host) Load(ctx context.Context, spec providers.Spec) (providers.Provider, error) {
	if err := h.finder.checkMade(spec); err != nil {
		return nil, err
	}
	spec = h.finder.Complete(spec)
	if spec.OnlySchema {
		if r, err := h.recall(ctx, spec); r != nil || err != nil {
			return r, err
		}
	}
	load := func() (*client, error) { return h.load(ctx, spec) }
	switch {
	case !h.options.Shares:
		return provider(load())
	case spec.OnlySchema:
		c, err := h.starts.borrow(ctx, spec, load)
		if err != nil {
			return nil, err
		}
		return &borrowed{Unimplemented: providers.Unimplemented{PackageName: spec.Package}, host: h, spec: spec, plugin: c}, nil
	}
	start := func() (*client, error) { return h.starts.take(ctx, spec, load) }
	if name, _ := PluginOf(spec); h.options.Keeps && !providers.IsDynamic(name) {
		return provider(h.keeper.take(h, spec, start))
	}
	return provider(start())
}

// provider returns the results of a start, without a provider if there is an error.
func provider[P providers.Provider](p P, err error) (providers.Provider, error) {
	if err != nil {
		return nil, err
	}
	return p, nil
}

// EndUnused ends the plugins that were started only for their schemas, unless the host keeps them: no operation takes over what was started for an
// earlier one, because the sources of a plugin may have changed since.
func (h *Host) EndUnused() error {
	if h.options.Keeps {
		return nil
	}
	return h.starts.endUnused(false)
}

// Close ends the plugins that no provider has, and starts no more for their schemas. The providers that Load has returned are closed by their callers.
func (h *Host) Close() error { return errors.Join(h.keeper.close(), h.starts.endUnused(true)) }

func (h *Host) load(ctx context.Context, spec providers.Spec) (*client, error) {
	c, err := h.connect(ctx, spec)
	if err != nil {
		return nil, err
	}
	if err := parameterizeAs(ctx, c, spec); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// PluginOf returns the name and the version of the plugin that serves a package, for [Finder.Find].
func PluginOf(spec providers.Spec) (name, version string) {
	name, version = spec.Package, spec.Version
	if spec.Plugin != "" {
		name = spec.Plugin
	}
	if git, ok := gitPluginName(spec.DownloadURL); ok {
		name = git
	}
	if p := spec.Parameterization; p != nil {
		name, version = p.Plugin, p.PluginVersion
	}
	return name, version
}

func (h *Host) connect(ctx context.Context, spec providers.Spec) (*client, error) {
	name, _ := PluginOf(spec)
	port, location, err := h.locate(ctx, spec)
	var missing *MissingError
	var written *LanguageHostedError
	switch {
	case port != 0:
		return h.attach(ctx, spec, name, port)
	case err == nil:
		return h.launch(ctx, spec, name, location)
	case h.options.StartWritten == nil:
	case errors.As(err, &written):
		return h.launchWritten(ctx, spec, name, written.Directory)
	case errors.As(err, &missing) && providers.IsDynamic(name):
		return h.launchWritten(ctx, spec, name, "")
	}
	return nil, err
}

func (h *Host) launch(ctx context.Context, spec providers.Spec, name string, at Location) (*client, error) {
	if err := h.options.Allow(name); err != nil {
		return nil, err
	}
	engine, err := h.options.EngineAddress()
	if err != nil {
		return nil, err
	}
	process, err := start(Command{
		Name: executableName(Resource, name), Version: at.Version, Executable: at.Executable, Args: h.arguments(engine),
		Directory: h.options.Directory, Environment: h.environment(name, spec), Output: h.options.Output,
	}, h.streams)
	if err != nil {
		return nil, err
	}
	h.options.Log.Debug("plugin started", "plugin", name, "executable", at.Executable, "pid", process.PID())
	return h.introduced(ctx, spec, name, process, place{at.Directory, at.Executable, at.Version})
}

// arguments are the arguments of a plugin.
func (h *Host) arguments(engine string) []string {
	return append(slices.Clone(h.options.LogFlags), engine)
}

// place is the location of a started plugin: its folder, and its path in messages; and the version there, "" if it is unknown.
type place struct{ directory, shown, version string }

// launchWritten starts a plugin without an executable. directory is the folder of its sources, "" for a provider of
// dynamic resources.
func (h *Host) launchWritten(ctx context.Context, spec providers.Spec, name, directory string) (*client, error) {
	engine, err := h.options.EngineAddress()
	if err != nil {
		return nil, err
	}
	args := h.arguments(engine)
	if providers.IsDynamic(name) {
		args = []string{engine}
	}
	server, err := h.options.StartWritten(ctx, Written{
		Kind: Resource, Name: name, Directory: directory, Args: args,
		Environment: h.environment(name, spec), Output: h.options.Output,
	})
	if err != nil {
		return nil, err
	}
	h.options.Log.Debug("plugin started", "plugin", name, "directory", directory)
	return h.introduced(ctx, spec, name, server, place{directory, directory, ""})
}

// introduced makes a client of a plugin that has been started, and ends the plugin if that fails.
func (h *Host) introduced(ctx context.Context, spec providers.Spec, name string, process Server, at place) (*client, error) {
	c, err := h.introduce(ctx, spec, name, process, at)
	if err != nil {
		process.Kill()
		return nil, err
	}
	return c, nil
}

// slowStart is the time after which a start is worth a message. It is not a limit: some take minutes (protocol.md 1.6).
const slowStart = 10 * time.Second

// introduce makes a client of a process that has been started.
func (h *Host) introduce(
	ctx context.Context, spec providers.Spec, name string, p Server, at place,
) (*client, error) {
	slow := h.noteIfSlow(p, "written its port")
	port, err := p.Port(ctx)
	slow.Stop()
	if err != nil {
		return nil, err
	}
	return h.client(ctx, spec, name, port, p, at)
}

// noteIfSlow writes a message about a slow start, unless the timer is stopped before.
func (h *Host) noteIfSlow(p Server, missing string) *time.Timer {
	return time.AfterFunc(slowStart, func() {
		h.options.Note(fmt.Sprintf("plugin %s has not %s after %s, and is waited for%s", p.Title(), missing, slowStart, below(p.LastOutput())))
	})
}

// client dials a port and shakes hands. process is nil for an attached plugin.
func (h *Host) client(
	ctx context.Context, spec providers.Spec, name string, port int, process Server, at place,
) (*client, error) {
	introduction, err := h.introduction(at.directory)
	if err != nil {
		return nil, err
	}
	conn, err := Dial(ctx, port, grpc.WithDefaultCallOptions(grpc.ForceCodecV2(packed.NewCodec())))
	if err != nil {
		return nil, failedStart(ctx, name, process, err)
	}
	if process != nil {
		// A broken connection ends calls by itself, unless a child of the plugin keeps it open.
		process.OnExit(func() { _ = conn.Close() })
		defer h.noteIfSlow(process, "answered the handshake").Stop()
	}
	c := newClient(conn, spec, name, process)
	c.remote.version, c.remote.place, c.remote.note = cmp.Or(c.remote.version, at.version), at.shown, h.options.Note
	c.disablePreview = h.finder.isSet("PULUMI_DISABLE_PROVIDER_PREVIEW")
	f, err := handshake(ctx, c.remote.rpc, introduction)
	if err != nil {
		_ = conn.Close()
		return nil, failedStart(ctx, name, process, err)
	}
	c.features.Store(&f)
	h.logVersion(ctx, c)
	return c, nil
}

// introduction is the description of the engine for a plugin. directory is that of the plugin's executable; "" for a plugin
// that was attached, which recognises this from the empty directory (protocol.md 1.9).
func (h *Host) introduction(directory string) (*pulumirpc.ProviderHandshakeRequest, error) {
	engine, err := h.options.EngineAddress()
	if err != nil {
		return nil, err
	}
	schemas, err := h.options.SchemasAddress()
	if err != nil {
		return nil, err
	}
	return &pulumirpc.ProviderHandshakeRequest{
		EngineAddress:               engine,
		ConfigureWithUrn:            true,
		SupportsViews:               true,
		SupportsRefreshBeforeUpdate: !h.finder.isSet("PULUMI_DISABLE_REFRESH_BEFORE_UPDATE"),
		InvokeWithPreview:           true,
		AcceptsByteString:           true,
		SendsOldOutputsToCheck:      true,
		AcceptsOutputsInInvoke:      true,
		AcceptsOutputsInCall:        true,
		MapperTarget:                optional(schemas),
		LoaderTarget:                optional(schemas),
		ResolverTarget:              optional(schemas),
		RootDirectory:               optional(directory),
		ProgramDirectory:            optional(directory),
	}, nil
}

// logVersion logs the plugin's own version. A plugin need not have one.
func (h *Host) logVersion(ctx context.Context, c *client) {
	if !h.options.Log.Enabled(ctx, slog.LevelDebug) {
		return
	}
	info, err := c.remote.rpc.GetPluginInfo(ctx, &emptypb.Empty{})
	h.options.Log.Debug("plugin connected", "plugin", c.remote.name, "version", info.GetVersion(), "error", err)
}

// failedStart is the error of a plugin that cannot be called. If the plugin has ended, that explains the error, unless ctx has ended: then the engine has
// given up, and waits for nothing. p is nil for a plugin that was attached.
func failedStart(ctx context.Context, name string, p Server, err error) error {
	if p == nil {
		return fmt.Errorf("plugin %s, which PULUMI_DEBUG_PROVIDERS names: %w", name, err)
	}
	if ctx.Err() == nil {
		if exit := ExitedSoon(p); exit != nil {
			return exit
		}
	}
	return fmt.Errorf("plugin %s: %w%s", p.Title(), err, below(p.LastOutput()))
}

// attachedPort reads PULUMI_DEBUG_PROVIDERS, "<package>:<port>,...".
func (h *Host) attachedPort(name string) (port int, ok bool, err error) {
	text := h.finder.env("PULUMI_DEBUG_PROVIDERS")
	if text == "" {
		return 0, false, nil
	}
	for item := range strings.SplitSeq(text, ",") {
		pkg, number, found := strings.Cut(strings.TrimSpace(item), ":")
		if !found || pkg != name {
			continue
		}
		p, err := strconv.ParseUint(number, 10, 16)
		if err != nil || p == 0 {
			return 0, false, fmt.Errorf("PULUMI_DEBUG_PROVIDERS has %q, which is not <package>:<port>", item)
		}
		return int(p), true, nil
	}
	return 0, false, nil
}

// attach uses a plugin that was not started by the engine (protocol.md 1.9).
func (h *Host) attach(ctx context.Context, spec providers.Spec, name string, port int) (*client, error) {
	c, err := h.client(ctx, spec, name, port, nil, place{})
	if err != nil {
		return nil, err
	}
	engine, err := h.options.EngineAddress()
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	_, err = c.remote.rpc.Attach(ctx, &pulumirpc.PluginAttach{Address: engine})
	if err != nil && status.Code(err) != codes.Unimplemented {
		_ = c.Close()
		return nil, fmt.Errorf("attach to plugin %s on port %d: %w", name, port, plain(err))
	}
	return c, nil
}

// environment is the engine's environment with the additions of protocol.md 1.5.
func (h *Host) environment(name string, spec providers.Spec) []string {
	more := map[string]string{}
	if h.options.Project != "" {
		more["PULUMI_PROJECT"] = h.options.Project
	}
	for option, value := range h.options.RuntimeOptions {
		more["PULUMI_RUNTIME_"+strings.ToUpper(option)] = value
	}
	if providers.IsDynamic(name) {
		config, err := json.Marshal(h.options.Config)
		if err == nil && h.options.Config != nil {
			more["PULUMI_CONFIG"] = string(config)
		}
	}
	if name == providers.DynamicNodejs && h.options.Project != "" {
		more["PULUMI_NODEJS_PROJECT"] = h.options.Project
	}
	for _, from := range slices.Sorted(maps.Keys(spec.Environment)) {
		if value, ok := h.options.LookupEnv(from); ok {
			more[spec.Environment[from]] = value
		}
	}
	return mergeEnvironment(h.options.Environ(), more)
}

// Prepare installs the plugin that serves spec if it is missing. The errors are those of [Host.Load].
func (h *Host) Prepare(ctx context.Context, spec providers.Spec) error {
	if err := h.finder.checkMade(spec); err != nil {
		return err
	}
	_, _, err := h.locate(ctx, h.finder.Complete(spec))
	return err
}

// locate returns the port at which the plugin that serves spec is attached, or else finds or installs it.
func (h *Host) locate(ctx context.Context, spec providers.Spec) (port int, at Location, err error) {
	name, version := PluginOf(spec)
	if port, attached, err := h.attachedPort(name); attached || err != nil {
		return port, at, err
	}
	acquire := h.options.Acquire
	if providers.IsDynamic(name) {
		acquire = nil // it is part of the program's SDK
	}
	at, err = h.finder.FindOrAcquire(ctx, Wanted{
		Kind: Resource, Name: name, Version: version, DownloadURL: spec.DownloadURL, Checksums: spec.Checksums,
		Recorded: spec.Recorded && spec.DownloadURL != "",
	}, acquire)
	if missing, is := err.(*MissingError); is && h.options.Meant != nil { //nolint:errorlint // made for this call
		missing.Meant = h.options.Meant(name)
	}
	return 0, at, err
}

// Installed reports whether a provider plugin of this name is installed, in any version, or attached, or the project names a
// git repository for it.
func (h *Host) Installed(name string) bool {
	if h.finder.IsQualified(name) {
		return true
	}
	if h.finder.Complete(providers.Spec{Package: name}).DownloadURL != "" {
		return true
	}
	if _, attached, err := h.attachedPort(name); attached || err != nil {
		return true
	}
	_, err := h.finder.Find(Resource, name, "")
	return !errors.As(err, new(*MissingError))
}

// recall returns the plugin that serves spec without starting it; nil if its schema cannot be stored. Only an installed plugin
// stays the same: one on the PATH, in the project or under a debugger may be built again at any time.
func (h *Host) recall(ctx context.Context, spec providers.Spec) (providers.Provider, error) {
	name, _ := PluginOf(spec)
	port, at, err := h.locate(ctx, spec)
	if errors.As(err, new(*MissingError)) && !providers.IsDynamic(name) {
		return nil, err // an installation was tried
	}
	if err != nil || port != 0 || at.Source != FromCache {
		return nil, nil //nolint:nilerr // load reports it, or starts what has no executable
	}
	return &recalled{Unimplemented: providers.Unimplemented{PackageName: spec.Package}, host: h, spec: spec, at: at}, nil
}

// Identify returns a text that is different whenever another executable would serve spec, or the same in another directory or environment. ok is
// false if that cannot be known without starting it: only an installed plugin stays the same, as for [Host.Load] with OnlySchema.
func (h *Host) Identify(spec providers.Spec) (identity string, ok bool) {
	spec = h.finder.Complete(spec)
	name, version := PluginOf(spec)
	if _, attached, err := h.attachedPort(name); attached || err != nil || providers.IsDynamic(name) {
		return "", false
	}
	at, err := h.finder.Find(Resource, name, version)
	if err != nil || at.Source != FromCache {
		return "", false
	}
	file, known := headerOf(at)
	return fmt.Sprintf("%+v %q %s", file, h.options.Directory, Circumstances(h.environment(name, spec))), known
}

// newClient returns a client without features.
func newClient(conn *grpc.ClientConn, spec providers.Spec, name string, process Server) *client {
	_, version := PluginOf(spec)
	c := &client{
		remote: &remote{rpc: pulumirpc.NewResourceProviderClient(conn), conn: conn, process: process, name: name, version: version},
		pkg:    spec.Package,
	}
	c.features.Store(&features{})
	return c
}

// Wanted is a plugin that is missing and needed.
type Wanted struct {
	Kind        Kind
	Name        string
	Version     string // "" for any
	DownloadURL string
	Checksums   map[string][]byte // "<os>-<arch>" -> SHA-256 of its archive
	Recorded    bool              // only the recorded state names DownloadURL
}

// Acquire installs a plugin where a [Finder] finds it. It may be called from many goroutines. An error that wraps
// [ErrNotAcquired] means that it did not try.
type Acquire func(ctx context.Context, w Wanted) error
