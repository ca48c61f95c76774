package install

import (
	"fmt"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/urn"
)

// Request names the plugin to install, and how.
type Request struct {
	Kind    plugin.Kind
	Name    string
	Version string // with or without a leading "v"; "" is the latest that the source has
	// Source is a plugin download URL (protocol.md 1.11). "" is the public place of the name. A git URL determines the name.
	Source string
	// Checksums are the SHA-256 sums of the archive, by "<os>-<arch>". The archive of a system that is not listed is checked
	// against the source's published checksum, if there is one.
	Checksums map[string][]byte
	// File is an archive, an executable or a folder to install instead of downloading from a source. It needs a version.
	File string
	// Reinstall replaces an installation that is there.
	Reinstall bool
	// Observe is called with the progress of the installation, perhaps from several goroutines; nil discards.
	Observe func(Progress)
}

// Progress is the progress of an installation.
type Progress struct {
	Plugin string // "resource random 4.16.0"
	Phase  Phase
	URL    string // of the download or of the checksum; "" in other phases
	Done   int64  // bytes
	Total  int64  // bytes, 0 if the server does not send it
	// Silent is the time in which nothing has come; 0 while data comes. It is reported once for each silence, from another
	// goroutine.
	Silent time.Duration
}

// Phase is a part of an installation.
type Phase string

// The phases, in their order. If the plugin was installed already there are none.
const (
	Waiting     Phase = "waiting" // for another process that installs the same plugin
	Downloading Phase = "downloading"
	Unpacking   Phase = "unpacking"
	Verified    Phase = "verified"   // the archive has the published checksum
	Completing  Phase = "completing" // installing the dependencies of a plugin in source form
	Complete    Phase = "complete"
)

// Installed is a plugin in the cache.
type Installed struct {
	Kind      plugin.Kind
	Name      string
	Version   string
	Directory string
	Present   bool // it was there already
}

// platform is the system of the plugins, in the form of checksums.
func platform() string { return runtime.GOOS + "-" + runtime.GOARCH }

// checked returns the request with its version in canonical form. It refuses invalid names.
func (r Request) checked() (Request, error) {
	kinds := []plugin.Kind{plugin.Resource, plugin.Language, plugin.Analyzer, plugin.Converter, plugin.Tool}
	if !slices.Contains(kinds, r.Kind) {
		return r, fmt.Errorf("unknown kind of plugin %q; there are resource, language, analyzer, converter and tool", r.Kind)
	}
	if strings.HasPrefix(r.Source, plugin.GitScheme) {
		g, err := plugin.ParseGitSource(r.Source)
		if err != nil {
			return r, err
		}
		r.Name = g.Name()
	}
	if err := urn.CheckPluginName(r.Name); err != nil {
		return r, err
	}
	if r.Version == "" {
		return r, nil
	}
	v, err := semver.NewVersion(r.Version)
	if err != nil {
		return r, fmt.Errorf("%q is not a version such as 1.2.3", r.Version)
	}
	r.Version = v.String()
	return r, nil
}

// Title names the plugin in messages: "resource random 4.16.0".
func (r Request) Title() string {
	return strings.TrimSpace(string(r.Kind) + " " + r.Name + " " + r.Version)
}

// executable is the name of the plugin's program, without an ending.
func (r Request) executable() string { return "pulumi-" + string(r.Kind) + "-" + r.Name }

// archive is the name under which the plugin is published.
func (r Request) archive() string {
	return r.executable() + "-v" + r.Version + "-" + platform() + ".tar.gz"
}

// repository is the name of the plugin's repository on GitHub.
func (r Request) repository() string {
	switch {
	case r.Kind == plugin.Converter && r.Name == "yaml":
		return "pulumi-yaml"
	case r.Kind == plugin.Converter:
		return "pulumi-converter-" + r.Name
	case r.Kind == plugin.Tool && !strings.HasPrefix(r.Name, "pulumi-tool-"):
		return "pulumi-tool-" + r.Name
	}
	return "pulumi-" + r.Name
}

// checksumFiles are the names of the files in which checksums are published beside the archives of a release.
func (r Request) checksumFiles() []string {
	return []string{"pulumi-" + r.Name + "_" + r.Version + "_checksums.txt", "checksums.txt"}
}

func (r Request) observe(p Progress) {
	if r.Observe != nil {
		p.Plugin = r.Title()
		r.Observe(p)
	}
}

// from returns the URL of the plugin's source that overrides are matched against: for a git repository its own URL.
func (r Request) from() (string, error) {
	switch {
	case r.Source == "":
		return "github://" + publicAPI + "/" + publicOwner + "/" + r.repository(), nil
	case strings.HasPrefix(r.Source, plugin.GitScheme):
		g, err := plugin.ParseGitSource(r.Source)
		return g.Repository, err
	}
	return r.Source, nil
}

// shown is a URL without the password that may be in it, and without its query, which may be a signature.
func shown(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	if u.RawQuery != "" {
		u.RawQuery = "…"
	}
	return u.Redacted()
}
