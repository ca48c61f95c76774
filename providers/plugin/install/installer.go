package install

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
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
	o, err := i.once.Do(ctx, key, func() (outcome, error) {
		p, err := i.Install(ctx, r)
		return outcome{p, err}, context.Cause(ctx)
	})
	if err != nil {
		return Installed{}, err
	}
	return o.plugin, o.err
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

// latest returns the newest version at the first of the sources that knows it.
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
		Kind: p.request.Kind, Name: p.request.Name, Directory: folder, Output: last.Add,
	})
	if err == nil || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &DependenciesError{Output: last.Text("its last output was:"), Err: err}
}

// Acquire returns the function that installs plugins on demand, unless the environment forbids it.
func (i *Installer) Acquire(m Messages) plugin.Acquire {
	return func(ctx context.Context, w plugin.Wanted) error {
		if err := i.Forbidden(); err != nil {
			return err
		}
		if w.Recorded {
			if err := i.mayObtain(w); err != nil {
				return err
			}
		}
		_, err := i.Once(ctx, Request{
			Kind: w.Kind, Name: w.Name, Version: w.Version, Source: w.DownloadURL, Checksums: w.Checksums,
			Observe: (&progressMessages{messages: m}).observe,
		})
		return err
	}
}

// mayObtain refuses a download that only the recorded state requires, unless the user has configured the sources of such
// plugins.
func (i *Installer) mayObtain(w plugin.Wanted) error {
	if i.env(mirrorVariable) != "" {
		return nil
	}
	from, err := Request{Kind: w.Kind, Name: w.Name, Source: w.DownloadURL}.from()
	if err != nil {
		return err
	}
	if overridden, err := override(from, i.env(overridesVariable)); err != nil || overridden != from {
		return err
	}
	return fmt.Errorf("%w, as only the recorded state says that it comes from %s", plugin.ErrNotAcquired, w.DownloadURL)
}

// Forbidden returns the error of an automatic installation if the environment forbids them, otherwise nil.
func (i *Installer) Forbidden() error {
	if forbidden, _ := strconv.ParseBool(i.env(AcquisitionVariable)); forbidden {
		return fmt.Errorf("%w, as %s is set", plugin.ErrNotAcquired, AcquisitionVariable)
	}
	return nil
}

// expected returns the checksum that an archive must have, and its origin: the request, or else the source. It is nil if
// neither has one. A list that exists and cannot be read is an error.
func (i *Installer) expected(ctx context.Context, r Request, a asset) (want []byte, from string, err error) {
	if given := r.Checksums[platform()]; len(given) > 0 {
		return given, "", nil
	}
	if a.sum != nil {
		return a.sum, a.from, nil
	}
	for _, c := range a.lists {
		list, err := i.web.document(ctx, c)
		if isAbsent(err) {
			continue
		}
		if err != nil {
			return nil, "", fmt.Errorf("its checksums at %s cannot be read: %w", shown(c.url), err)
		}
		if want, err := listed(list, r.archive()); want != nil || err != nil {
			return want, shown(c.url), err
		}
	}
	return nil, "", nil
}

// fromFile installs an archive, an executable or a folder.
func (i *Installer) fromFile(ctx context.Context, p place, path string) error {
	want := p.request.Checksums[platform()]
	info, err := os.Stat(path)
	if err != nil {
		return absent(err)
	}
	if info.IsDir() {
		if len(want) > 0 {
			return errors.New("a folder has no checksum to compare")
		}
		return i.put(ctx, p, func(half string) error { return os.CopyFS(half, os.DirFS(path)) })
	}
	if !info.Mode().IsRegular() {
		return errors.New("it is neither a file nor a folder")
	}
	isArchive, err := isArchive(path)
	if err != nil {
		return err
	}
	return i.put(ctx, p, func(half string) error {
		if isArchive {
			return i.unpackFile(ctx, p, path, half, want, "")
		}
		return copyProgram(ctx, path, filepath.Join(half, p.request.executable()+ending()), want)
	})
}

func ending() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}

func copyProgram(ctx context.Context, from, to string, want []byte) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := verify(ctx, in, want, ""); err != nil {
		return err
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, &attentive{ctx, in})
	return errors.Join(err, out.Close())
}

func (i *Installer) place(r Request) place {
	return place{filepath.Join(i.cache(), string(r.Kind)+"-"+r.Name+"-v"+r.Version), r}
}

// Remove removes a plugin from the cache: the folder that a [plugin.Listing] of the cache names.
func (i *Installer) Remove(ctx context.Context, l plugin.Listing) error {
	directory := l.Location.Directory
	if l.Location.Source != plugin.FromCache || filepath.Dir(directory) != i.cache() ||
		!strings.HasPrefix(filepath.Base(directory), string(l.Kind)+"-"+l.Name) {
		return fmt.Errorf("%s is not in the cache of plugins", directory)
	}
	p := place{directory, Request{Kind: l.Kind, Name: l.Name, Version: l.Version}}
	unlock, err := p.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := os.WriteFile(p.partial(), nil, 0o600); err != nil {
		return err
	}
	if err := errors.Join(p.clean(), os.RemoveAll(directory)); err != nil {
		return err
	}
	p.forget()
	removeAll(directory+".lastused", p.partial())
	return nil
}

// sources returns the possible sources of a plugin, in the order in which they are tried.
func (i *Installer) sources(r Request) ([]source, error) {
	if mirror := i.env(mirrorVariable); mirror != "" {
		s, err := i.mirror(mirror)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", mirrorVariable, err)
		}
		return []source{s}, nil
	}
	from, err := r.from()
	if err != nil {
		return nil, err
	}
	overridden, err := override(from, i.env(overridesVariable))
	if err != nil {
		return nil, err
	}
	if overridden == from && r.Source != "" {
		overridden = r.Source
	}
	list, err := i.sourcesAt(overridden, r)
	if err == nil && r.Source == "" && overridden == from {
		list = append(list, &template{i, publicHost, true})
	}
	return list, err
}

// override replaces a URL by that of the first expression that matches it: "regexp=URL,...". $1 and ${name} in the URL are
// the groups of the match.
func override(from, overrides string) (string, error) {
	for entry := range strings.SplitSeq(overrides, ",") {
		expression, to, ok := strings.Cut(entry, "=")
		if strings.TrimSpace(entry) == "" {
			continue
		}
		if !ok || to == "" {
			return "", fmt.Errorf("%s: %q is not of the form <regular expression>=<URL>", overridesVariable, entry)
		}
		e, err := regexp.Compile(expression)
		if err != nil {
			return "", fmt.Errorf("%s: %w", overridesVariable, err)
		}
		if at := e.FindStringSubmatchIndex(from); at != nil {
			return string(e.ExpandString(nil, variables.Replace(to), from, at)), nil
		}
	}
	return from, nil
}

// variables protects the variables of URL templates, which are not groups.
var variables = strings.NewReplacer("${NAME}", "$${NAME}", "${VERSION}", "$${VERSION}", "${OS}", "$${OS}", "${ARCH}", "$${ARCH}")

// sourcesAt returns the sources for a plugin download URL.
func (i *Installer) sourcesAt(text string, r Request) ([]source, error) {
	u, err := url.Parse(text)
	if err != nil && strings.HasPrefix(text, "http") {
		u, err = url.Parse(strings.NewReplacer("${", "", "}", "").Replace(text)) // braces are not allowed in hosts
	}
	if err != nil {
		return nil, fmt.Errorf("%q is not a URL for plugins: %w", text, err)
	}
	switch u.Scheme {
	case "http", "https":
		return []source{&template{i, text, false}}, nil
	case "github":
		return i.github(u, r)
	case "gitlab":
		project := strings.Trim(u.Path, "/")
		if u.Host == "" || project == "" {
			return nil, fmt.Errorf("%q is not of the form gitlab://<host>/<project>", text)
		}
		return []source{&gitlab{i, u.Host, url.PathEscape(project)}}, nil
	case "file":
		return []source{&folder{filepath.FromSlash(u.Path)}}, nil
	case "git":
		g, err := plugin.ParseGitSource(text)
		return []source{inGit{&repository{g, i.env}}}, err
	}
	return nil, fmt.Errorf("plugins do not come from %q; a source begins with github://, gitlab://, git://, https:// or file://", text)
}

// mirror returns the source that replaces all others: a folder, or a URL template.
func (i *Installer) mirror(text string) (source, error) {
	switch {
	case strings.HasPrefix(text, "http://"), strings.HasPrefix(text, "https://"):
		return &template{i, text, false}, nil
	case strings.HasPrefix(text, "file://"):
		text = strings.TrimPrefix(text, "file://")
	case strings.Contains(text, "://"):
		return nil, fmt.Errorf("%q is neither a folder nor a URL that begins with https://", text)
	}
	if info, err := os.Stat(text); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%q is not a folder", text)
	}
	return &folder{text}, nil
}

// github returns the sources for a repository on GitHub. Public files are at a URL that needs no call of the API, whose
// number of calls is limited.
func (i *Installer) github(u *url.URL, r Request) ([]source, error) {
	owner, repository, _ := strings.Cut(strings.Trim(u.Path, "/"), "/")
	if u.Host == "" || owner == "" || strings.Contains(repository, "/") {
		return nil, fmt.Errorf("%q is not of the form github://<host>/<organization>/<repository>", u)
	}
	if repository == "" {
		repository = r.repository()
	}
	api := &github{installer: i, host: u.Host, owner: owner, repository: repository}
	if token := i.env(EnvGitHubToken); token != "" {
		api.secret = credential{"https://" + u.Host, "token " + token}
	}
	if u.Host != publicAPI {
		return []source{api}, nil
	}
	return []source{&releases{api}, api}, nil
}

// isAbsent reports whether an error means that the server has no such file. Object stores answer 403 if their files may not
// be listed.
func isAbsent(err error) bool {
	var e *StatusError
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code {
	case http.StatusNotFound, http.StatusForbidden, http.StatusGone, http.StatusUnauthorized:
		return true
	}
	return false
}
