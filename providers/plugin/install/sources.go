package install

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// source is a place where plugins are published.
type source interface {
	// place names the source in messages.
	place() string
	// latest returns the newest version, without "v".
	latest(ctx context.Context, r Request) (string, error)
	// find returns the archive of a plugin with a given version.
	find(ctx context.Context, r Request) (asset, error)
}

// asset is one published archive.
type asset struct {
	file string // its path on this machine; "" if it has to be fetched
	call call   // fetches it
	sum  []byte // its published SHA-256 checksum; nil if it is not known yet
	from string // the origin of sum

	lists []call // possible places of a list of checksums
}

// place is the name of the asset in messages.
func (a asset) place() string {
	if a.file != "" {
		return a.file
	}
	return shown(a.call.url)
}

// errLatest is the error of sources that do not list versions.
var errLatest = errors.New("this source does not list versions; write the version to install")

// The public places of plugins.
const (
	publicAPI   = "api.github.com"
	publicOwner = "pulumi"
	publicHost  = "https://get.pulumi.com/releases/plugins"
)

// The variables of the environment that change where plugins come from.
const (
	// mirrorVariable names a folder or a URL that replaces every source.
	mirrorVariable    = "SLUICE_PLUGIN_MIRROR"
	overridesVariable = "PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES"
)

// template is a server with one archive at each URL.
type template struct {
	installer *Installer
	text      string
	public    bool // the public download host, which publishes no checksums
}

func (t *template) place() string { return shown(t.text) }

func (t *template) latest(context.Context, Request) (string, error) { return "", errLatest }

func (t *template) find(_ context.Context, r Request) (asset, error) {
	base := strings.NewReplacer("${NAME}", r.Name, "${VERSION}", r.Version, "${OS}", runtime.GOOS, "${ARCH}", runtime.GOARCH).Replace(t.text)
	base = strings.TrimRight(base, "/") + "/"
	a := asset{call: call{url: base + r.archive()}}
	if !t.public {
		for _, name := range r.checksumFiles() {
			a.lists = append(a.lists, call{url: base + name})
		}
	}
	return a, nil
}

// folder is a folder with archives.
type folder struct{ path string }

func (f *folder) place() string { return f.path }

// latest returns the highest version of a plugin in the folder; a stable one if there is one.
func (f *folder) latest(_ context.Context, r Request) (string, error) {
	before, after, _ := strings.Cut(Request{Kind: r.Kind, Name: r.Name, Version: "*"}.archive(), "*")
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return "", err
	}
	var best *semver.Version
	for _, e := range entries {
		text, isPlugin := strings.CutPrefix(e.Name(), before)
		text, isArchive := strings.CutSuffix(text, after)
		v, err := semver.StrictNewVersion(text)
		if !isPlugin || !isArchive || err != nil {
			continue
		}
		stable := v.Prerelease() == ""
		if best == nil || stable == (best.Prerelease() == "") && v.GreaterThan(best) || stable && best.Prerelease() != "" {
			best = v
		}
	}
	if best == nil {
		return "", fmt.Errorf("there is no %s*%s", before, after)
	}
	return best.String(), nil
}

func (f *folder) find(_ context.Context, r Request) (asset, error) {
	a := asset{file: filepath.Join(f.path, r.archive())}
	for _, name := range r.checksumFiles() {
		list, err := os.ReadFile(filepath.Join(f.path, name))
		if err != nil {
			continue // there need not be one
		}
		if a.sum, err = listed(list, r.archive()); a.sum != nil || err != nil {
			a.from = name
			return a, err
		}
	}
	return a, nil
}

// inGit is a git repository as a source. It has no archives: versions are checked out.
type inGit struct{ *repository }

func (inGit) find(context.Context, Request) (asset, error) { return asset{}, nil }

// releases is the page of a public repository on GitHub.
type releases struct{ *github }

func (g *releases) place() string {
	return "https://github.com/" + g.owner + "/" + g.repository + "/releases"
}

func (g *releases) find(_ context.Context, r Request) (asset, error) {
	base := g.place() + "/download/v" + url.PathEscape(r.Version) + "/"
	a := asset{call: call{url: base + r.archive(), accept: "application/octet-stream"}}
	for _, name := range r.checksumFiles() {
		a.lists = append(a.lists, call{url: base + name, accept: "application/octet-stream"})
	}
	return a, nil
}

// github is the API of GitHub for one repository.
type github struct {
	installer               *Installer
	host, owner, repository string
	secret                  credential
}

func (g *github) place() string {
	return "https://" + g.host + "/repos/" + g.owner + "/" + g.repository + "/releases"
}

// release is the description of a release.
type release struct {
	Tag    string `json:"tag_name"`
	Assets []struct {
		Name   string `json:"name"`
		URL    string `json:"url"`
		Digest string `json:"digest"` // "sha256:<hex>"; "" in older releases
	} `json:"assets"`
}

func (g *github) release(ctx context.Context, which string) (release, error) {
	return describe(ctx, g.installer.web, call{url: g.place() + "/" + which, accept: "application/json", secret: g.secret})
}

func describe(ctx context.Context, w *web, c call) (release, error) {
	var r release
	text, err := w.document(ctx, c)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("the response is not the description of a release: %w", err)
	}
	if r.Tag == "" {
		return r, errors.New("the response is not the description of a release: it has no tag")
	}
	return r, nil
}

func (g *github) latest(ctx context.Context, _ Request) (string, error) {
	r, err := g.release(ctx, "latest")
	if err != nil {
		return "", err
	}
	return versionOf(r.Tag)
}

func versionOf(tag string) (string, error) {
	v, err := semver.NewVersion(tag)
	if err != nil {
		return "", fmt.Errorf("the latest release is %q, which is not a version", tag)
	}
	return v.String(), nil
}

func (g *github) find(ctx context.Context, r Request) (asset, error) {
	described, err := g.release(ctx, "tags/v"+url.PathEscape(r.Version))
	if err != nil {
		return asset{}, err
	}
	if described.Tag != "v"+r.Version {
		return asset{}, fmt.Errorf("the response describes the release %q instead of v%s", described.Tag, r.Version)
	}
	fetch := func(url string) call { return call{url: url, accept: "application/octet-stream", secret: g.secret} }
	var a asset
	for _, name := range append([]string{r.archive()}, r.checksumFiles()...) {
		for _, there := range described.Assets {
			switch {
			case there.Name != name:
			case name == r.archive():
				a.call = fetch(there.URL)
				if digest, ok := strings.CutPrefix(there.Digest, "sha256:"); ok {
					a.from = g.place()
					a.sum, err = sum(digest)
				}
			default:
				a.lists = append(a.lists, fetch(there.URL))
			}
		}
	}
	if a.call.url == "" {
		return a, fmt.Errorf("the release v%s has no %s", r.Version, r.archive())
	}
	return a, err
}

// gitlab is the API of GitLab for one project.
type gitlab struct {
	installer     *Installer
	host, project string
}

func (g *gitlab) place() string {
	return "https://" + g.host + "/api/v4/projects/" + g.project + "/releases"
}

func (g *gitlab) call(path, accept string) call {
	c := call{url: g.place() + "/" + path, accept: accept}
	if token := g.installer.env(EnvGitLabToken); token != "" {
		c.secret = credential{"https://" + g.host, "Bearer " + token}
	}
	return c
}

func (g *gitlab) latest(ctx context.Context, _ Request) (string, error) {
	r, err := describe(ctx, g.installer.web, g.call("permalink/latest", "application/json"))
	if err != nil {
		return "", err
	}
	return versionOf(r.Tag)
}

func (g *gitlab) find(_ context.Context, r Request) (asset, error) {
	base := "v" + url.PathEscape(r.Version) + "/downloads/"
	a := asset{call: g.call(base+r.archive(), "application/octet-stream")}
	for _, name := range r.checksumFiles() {
		a.lists = append(a.lists, g.call(base+name, "application/octet-stream"))
	}
	return a, nil
}
