package install

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/providers/plugin"
)

// Options configure an [Installer].
type Options struct {
	// Home is PULUMI_HOME, whose folder "plugins" is the cache.
	Home string
	// LookupEnv reads the environment: tokens, overrides and the mirror. Nil is os.LookupEnv.
	LookupEnv func(name string) (string, bool)
	// Transport makes the requests; nil is one that uses the proxies of the environment.
	Transport http.RoundTripper
	// Stall is how long a server may send nothing; 0 is a minute.
	Stall time.Duration
	// Silence is how long a server may send nothing until that is reported; 0 is ten seconds.
	Silence time.Duration
	// Dependencies installs the dependencies of a plugin in source form, before the plugin can be found; nil installs nothing.
	// It may be called from many goroutines, for different plugins.
	Dependencies func(context.Context, Written) error
}

// Installer installs plugins. It may be used from many goroutines, and by many processes at once.
type Installer struct {
	options Options
	web     *web
	limits  limits
	once    await.Flight[string, outcome]
}

// outcome is the outcome of an installation.
type outcome struct {
	plugin Installed
	err    error
}

const defaultStall, defaultSilence = time.Minute, 10 * time.Second

// New returns an installer.
func New(o Options) *Installer {
	if o.LookupEnv == nil {
		o.LookupEnv = os.LookupEnv
	}
	if o.Stall == 0 {
		o.Stall = defaultStall
	}
	if o.Silence == 0 {
		o.Silence = defaultSilence
	}
	if o.Transport == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.ResponseHeaderTimeout = o.Stall
		t.OnProxyConnectResponse = checkProxy
		o.Transport = t
	}
	return &Installer{options: o, web: &web{transport: o.Transport, stall: o.Stall, pause: firstPause}, limits: standardLimits()}
}

func (i *Installer) cache() string { return filepath.Join(i.options.Home, "plugins") }

func (i *Installer) env(name string) string {
	value, _ := i.options.LookupEnv(name)
	return value
}

// Once is Install for callers that need a plugin rather than a new attempt: all calls for the same plugin get the same
// result, also if it is an error. Only an attempt that was cancelled is repeated.
func (i *Installer) Once(ctx context.Context, r Request) (Installed, error) {
	key := fmt.Sprintf("%s\x00%s\x00%s\x00%s", r.Kind, r.Name, r.Version, r.Source)
	for {
		o, err := i.once.Do(ctx, key, func() (outcome, error) {
			p, err := i.Install(ctx, r)
			return outcome{p, err}, ctx.Err()
		})
		if err == nil {
			return o.plugin, o.err
		}
		if ctx.Err() != nil {
			return Installed{}, context.Cause(ctx)
		}
		if errors.Is(err, await.ErrNoResult) {
			return Installed{}, err
		}
		// The attempt of another caller was cancelled.
	}
}

// Install installs a plugin, unless it is installed already. Several processes and goroutines that install the same plugin
// do it once. Errors are an *[Error], those of an invalid request, and the cause of ctx.
func (i *Installer) Install(ctx context.Context, r Request) (Installed, error) {
	r, err := r.checked()
	if err != nil {
		return Installed{}, err
	}
	if i.options.Home == "" {
		return Installed{}, errors.New("no folder for plugins: set PULUMI_HOME")
	}
	if r.File != "" {
		if r.Version == "" {
			return Installed{}, fmt.Errorf("name the version of the plugin in %s", r.File)
		}
		return i.install(ctx, r, []source{&local{r.File}})
	}
	// A plugin in the cache needs no source, and no network.
	if p := i.place(r); r.Version != "" && !r.Reinstall && p.complete() {
		return p.installed(true), nil
	}
	sources, err := i.sources(r)
	if err != nil {
		return Installed{}, &Error{r, []Try{{"its source", err}}}
	}
	if r.Version == "" {
		if r.Version, err = i.latest(ctx, r, sources); err != nil {
			return Installed{}, err
		}
	}
	return i.install(ctx, r, sources)
}

// Latest returns the newest version at the source of a plugin.
func (i *Installer) Latest(ctx context.Context, r Request) (string, error) {
	sources, err := i.sources(r)
	if err != nil {
		return "", &Error{r, []Try{{"its source", err}}}
	}
	return i.latest(ctx, r, sources)
}

func (i *Installer) latest(ctx context.Context, r Request, sources []source) (string, error) {
	failed := &Error{Request: r}
	for _, s := range sources {
		if _, isPage := s.(*releases); isPage {
			continue // the API of the same repository comes next
		}
		v, err := s.latest(ctx, r)
		if err == nil {
			return v, nil
		}
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		failed.Tries = append(failed.Tries, Try{s.place(), err})
	}
	return "", failed
}

func (p place) installed(present bool) Installed {
	return Installed{Kind: p.request.Kind, Name: p.request.Name, Version: p.request.Version, Directory: p.directory, Present: present}
}

// install installs a plugin of a known version from the first source that has it.
func (i *Installer) install(ctx context.Context, r Request, sources []source) (Installed, error) {
	p := i.place(r)
	unlock, err := p.lock(ctx)
	if err != nil {
		return Installed{}, err
	}
	defer unlock()
	if !r.Reinstall && p.complete() {
		return p.installed(true), nil // by another process, in the meantime
	}
	if err := p.clean(); err != nil {
		return Installed{}, err
	}
	failed := &Error{Request: r}
	for _, s := range sources {
		at, err := i.from(ctx, p, s)
		if err == nil {
			r.observe(Progress{Phase: Complete})
			return p.installed(false), nil
		}
		_ = p.clean() // if this fails, the next attempt does it
		if ctx.Err() != nil {
			return Installed{}, context.Cause(ctx)
		}
		failed.Tries = append(failed.Tries, Try{at, err})
		if errors.As(err, new(*ChecksumError)) || errors.As(err, new(*DependenciesError)) || errors.As(err, new(*os.PathError)) {
			break // another source would not help
		}
	}
	return Installed{}, failed
}

// from installs a plugin from one source, and returns the URL or path that it tried.
func (i *Installer) from(ctx context.Context, p place, s source) (at string, err error) {
	a, err := s.find(ctx, p.request)
	if err != nil {
		return s.place(), err
	}
	switch s := s.(type) {
	case *local:
		return a.place(), i.fromFile(ctx, p, s.path)
	case inGit:
		return s.place(), i.put(ctx, p, func(half string) error { return s.checkOut(ctx, p.request, half) })
	}
	file := a.file
	if file == "" {
		file = p.download()
		if err := i.fetch(ctx, p, a.call); err != nil {
			return a.place(), err
		}
	}
	want, from, err := i.expected(ctx, p.request, a)
	if err == nil {
		err = i.put(ctx, p, func(half string) error {
			err := i.unpackFile(ctx, p, file, half, want, from)
			if err == nil && from != "" {
				p.request.observe(Progress{Phase: Verified, URL: from})
			}
			return err
		})
	}
	if a.file == "" && ctx.Err() == nil {
		p.forget() // it is installed, or it is not the right file
	}
	return a.place(), err
}

func (i *Installer) fetch(ctx context.Context, p place, c call) error {
	d := &download{web: i.web, call: c, file: p.download(), progress: func(done, total int64) {
		p.request.observe(Progress{Phase: Downloading, URL: shown(c.url), Done: done, Total: total})
	}}
	d.silence = time.AfterFunc(i.options.Silence, func() {
		p.request.observe(Progress{Phase: Downloading, URL: shown(c.url), Silent: i.options.Silence})
	})
	d.patience = i.options.Silence
	defer d.silence.Stop()
	return d.run(ctx)
}

// put makes the plugin's folder in a temporary place, and moves it to its final place when it is whole.
func (i *Installer) put(ctx context.Context, p place, fill func(half string) error) error {
	if err := os.Mkdir(p.half(), 0o700); err != nil {
		return err
	}
	if err := fill(p.half()); err != nil {
		return err
	}
	program := filepath.Join(p.half(), p.request.executable())
	if info, err := os.Stat(program); err == nil && info.Mode().IsRegular() {
		if err := os.Chmod(program, info.Mode().Perm()|0o700); err != nil {
			return err
		}
	}
	if !p.usable(p.half()) {
		return fmt.Errorf("it has no %s in its first folder", p.request.executable())
	}
	return p.commit(func() error { return i.dependencies(ctx, p) })
}

// unpackFile checks and unpacks the same open file, even if its name gets another file meanwhile.
func (i *Installer) unpackFile(ctx context.Context, p place, file, to string, want []byte, from string) error {
	f, err := os.Open(file)
	if err != nil {
		return absent(err)
	}
	defer f.Close()
	if err := verify(ctx, f, want, from); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	p.request.observe(Progress{Phase: Unpacking})
	return unpack(ctx, f, to, i.limits)
}

// absent returns the error of a missing file without its name, which messages have already.
func absent(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return errors.New("there is no such file")
	}
	return err
}

// dependencies installs the dependencies of the plugin in its place, if it is one in source form.
func (i *Installer) dependencies(ctx context.Context, p place) error {
	if _, executable := plugin.Executable(p.directory, p.request.Kind, p.request.Name); executable || i.options.Dependencies == nil {
		return nil
	}
	folder, _ := plugin.SourceFolder(p.directory, p.request.Kind, p.request.Name) // it is usable
	p.request.observe(Progress{Phase: Completing})
	var last plugin.Tail
	err := i.options.Dependencies(ctx, Written{
		Kind: p.request.Kind, Name: p.request.Name, Directory: folder, Said: last.Add,
	})
	if err == nil || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &DependenciesError{Output: last.Text("its last output was:"), Err: err}
}
