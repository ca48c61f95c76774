package plugin

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/Masterminds/semver/v3"
)

// GitScheme is the beginning of the download URLs of plugins that are in git repositories.
const GitScheme = "git://"

// GitSource is a folder of a git repository with a plugin in source form ([protocol.md 1.4]).
//
// [protocol.md 1.4]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#14-versions-in-the-cache
type GitSource struct {
	Repository string // its URL, "https://github.com/org/repo.git"; with the given user and password
	Path       string // of the folder, "" for the root of the repository
}

// ParseGitSource parses "git://host/org/repo[/path]". Another scheme, or none, means the same. The repository is fetched over
// HTTPS.
func ParseGitSource(text string) (GitSource, error) {
	_, rest, has := strings.Cut(text, "://")
	if !has {
		rest = text
	}
	u, err := url.Parse("https://" + rest)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return GitSource{}, fmt.Errorf("%q is not of the form git://<host>/<organization>/<repository>[/<path>]", text)
	}
	path := strings.Trim(u.Path, "/")
	if strings.Contains("/"+path+"/", "/../") || strings.Contains("/"+path+"/", "/./") {
		return GitSource{}, fmt.Errorf("%q leads out of a repository", text)
	}
	repository, folder := splitRepository(u.Hostname(), path)
	if repository == "" {
		return GitSource{}, fmt.Errorf("%q names no repository; it has the form git://<host>/<organization>/<repository>[/<path>]", text)
	}
	u.Path, u.RawPath = "/"+repository, ""
	return GitSource{Repository: u.String(), Path: folder}, nil
}

const repositoryEnding = ".git"

// splitRepository splits the path of a URL at the end of its repository: that is after ".git", or else after the second element.
func splitRepository(host, path string) (repository, folder string) {
	parts := strings.Split(path, "/")
	switch at := strings.LastIndex(path+"/", repositoryEnding+"/"); {
	case host == "dev.azure.com":
		return path, "" // there is no rule for its folders
	case host == "gist.github.com" && len(parts) == 2 && parts[1] != "":
		return strings.TrimSuffix(parts[1], repositoryEnding) + repositoryEnding, ""
	case at > 0:
		at += len(repositoryEnding)
		return path[:at], strings.Trim(path[at:], "/")
	case len(parts) < 2 || parts[0] == "" || parts[1] == "":
		return "", ""
	}
	return parts[0] + "/" + parts[1] + repositoryEnding, strings.Join(parts[2:], "/")
}

// Name is the local name of the plugin: host, repository and path, with "_" for "/", and without a user ([protocol.md 1.4]).
//
// [protocol.md 1.4]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#14-versions-in-the-cache
func (g GitSource) Name() string {
	_, rest, _ := strings.Cut(g.Repository, "://")
	if at := strings.LastIndex(strings.SplitN(rest, "/", 2)[0], "@"); at >= 0 {
		rest = rest[at+1:]
	}
	if g.Path != "" {
		rest += "/" + g.Path
	}
	return strings.ReplaceAll(rest, "/", "_")
}

// gitPluginName is the local name of the plugin at a git download URL. A malformed URL gets a name that no plugin has.
func gitPluginName(downloadURL string) (string, bool) {
	rest, is := strings.CutPrefix(downloadURL, GitScheme)
	if !is {
		return "", false
	}
	g, err := ParseGitSource(downloadURL)
	if err != nil {
		return strings.ReplaceAll(strings.Trim(rest, "/"), "/", "_"), true
	}
	return g.Name(), true
}

// ErrNoGitSource is the error for a text that is not a source in a git repository, but perhaps a name.
var ErrNoGitSource = errors.New("it names no git repository")

var (
	hasHost  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[^./][^/]*\.[a-z]+(:[0-9]+)?/`) })
	isCommit = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-fA-F]{4,64}$`) })
)

// CommitVersion is the prefix of versions that stand for a commit; its hash follows ([protocol.md 1.4]).
//
// [protocol.md 1.4]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#14-versions-in-the-cache
const CommitVersion = "0.0.0-x"

// ParsePackageSource parses the source of a package that is in a git repository, "github.com/org/repo[/path][@version]", into the
// download URL and the version of its plugin; the version is "" if the source has none. A commit's hash is a version as well. The
// error is [ErrNoGitSource] for other texts.
func ParsePackageSource(text string) (downloadURL, version string, err error) {
	source, isURL := text, false
	for _, scheme := range []string{GitScheme, "https://"} {
		if rest, is := strings.CutPrefix(text, scheme); is {
			source, isURL = rest, true
		}
	}
	if !isURL && !hasHost().MatchString(source) {
		return "", "", ErrNoGitSource
	}
	if at := strings.LastIndexByte(source, '@'); at > strings.LastIndexByte(source, '/') {
		source, version = source[:at], source[at+1:]
		if version, err = gitVersion(version); err != nil {
			return "", "", fmt.Errorf("%s: %w", text, err)
		}
	}
	if _, err := ParseGitSource(source); err != nil {
		return "", "", err
	}
	return GitScheme + source, version, nil
}

func gitVersion(text string) (string, error) {
	// A commit may consist of digits alone, but a text in the form of a version is one.
	if v, err := semver.NewVersion(text); err == nil && strings.Contains(text, ".") {
		return v.String(), nil
	}
	if isCommit().MatchString(text) {
		return CommitVersion + text, nil
	}
	return "", fmt.Errorf("%q is neither a version, such as 1.2.3, nor the hash of a commit", text)
}

// SourceFolder returns the folder with the sources of a plugin in source form, and whether it exists. It is the folder of the
// installation, or a folder below it if the plugin comes from a folder of a git repository.
func SourceFolder(directory string, k Kind, name string) (string, bool) {
	_, rest, inFolder := strings.Cut(name, repositoryEnding+"_")
	if !inFolder {
		return directory, isWritten(directory, k)
	}
	return folderNamed(directory, k, rest)
}

// folderNamed finds the folder whose path below directory, with "_" for "/", is that name.
func folderNamed(directory string, k Kind, name string) (string, bool) {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return "", false
	}
	for _, e := range entries {
		rest, begins := strings.CutPrefix(name, e.Name())
		folder := filepath.Join(directory, e.Name())
		if !begins || !e.IsDir() {
			continue
		}
		if rest == "" && isWritten(folder, k) {
			return folder, true
		}
		if rest, deeper := strings.CutPrefix(rest, "_"); deeper {
			if found, ok := folderNamed(folder, k, rest); ok {
				return found, true
			}
		}
	}
	return "", false
}
