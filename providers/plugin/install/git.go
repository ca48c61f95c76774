package install

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/sluice-iac/sluice/providers/plugin"
)

// repository is a git repository with a plugin in source form. It is fetched by the command git, with the user's configuration:
// credentials, proxies, other URLs.
type repository struct {
	source plugin.GitSource
	env    func(name string) string
}

func (g *repository) place() string { return shown(g.source.Repository) }

// latest returns the highest version among the tags v<version>, a stable one if there is one, or else the last commit of the default
// branch.
func (g *repository) latest(ctx context.Context, _ Request) (string, error) {
	text, err := g.git(ctx, "", "ls-remote", "--", g.source.Repository, "HEAD", "refs/tags/*")
	if err != nil {
		return "", err
	}
	var best *semver.Version
	head := ""
	for line := range strings.Lines(text) {
		hash, ref, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if ref == "HEAD" {
			head = hash
		}
		tag, is := strings.CutPrefix(strings.TrimSuffix(ref, "^{}"), "refs/tags/v")
		v, err := semver.StrictNewVersion(tag)
		if !is || err != nil {
			continue
		}
		stable := v.Prerelease() == ""
		if best == nil || stable == (best.Prerelease() == "") && v.GreaterThan(best) || stable && best.Prerelease() != "" {
			best = v
		}
	}
	switch {
	case best != nil:
		return best.String(), nil
	case head != "":
		return plugin.CommitVersion + head, nil
	}
	return "", errors.New("the repository has neither commits nor tags")
}

// checkOut puts the files of a version into an empty folder, and nothing else of the repository.
func (g *repository) checkOut(ctx context.Context, r Request, to string) error {
	if len(r.Checksums[platform()]) > 0 {
		return errors.New("a git repository has no archive with a checksum; the hash of a commit is a version that does not change")
	}
	r.observe(Progress{Phase: Downloading, URL: g.place()})
	if _, err := g.git(ctx, to, "init", "--quiet", "--template="); err != nil {
		return err
	}
	commit, err := g.fetch(ctx, r.Version, to)
	if err != nil {
		return err
	}
	if _, err := g.git(ctx, to, "checkout", "--quiet", "--detach", commit); err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(filepath.Join(to, ".git")), staysInside(to)); err != nil {
		return err
	}
	if _, is := plugin.SourceFolder(to, r.Kind, r.Name); !is {
		return fmt.Errorf("there is no %s in %s", plugin.Manifest(r.Kind), inRepository(g.source.Path))
	}
	return nil
}

func inRepository(path string) string {
	if path == "" {
		return "the repository's first folder"
	}
	return "the repository's folder " + path
}

// fetch fetches a version, and returns its commit.
func (g *repository) fetch(ctx context.Context, version, to string) (string, error) {
	if hash, is := strings.CutPrefix(version, plugin.CommitVersion); is {
		return g.fetchCommit(ctx, hash, to)
	}
	ref := "refs/tags/v" + version
	if version == "0.0.0" {
		ref = "HEAD"
	}
	_, err := g.git(ctx, to, "fetch", "--quiet", "--depth=1", "--", g.source.Repository, ref)
	if err != nil && strings.Contains(err.Error(), "couldn't find remote ref") {
		return "", fmt.Errorf("the repository has no tag v%s", version)
	}
	return "FETCH_HEAD", err
}

// fetchCommit fetches the commit with that hash, which may be the beginning of one. A server may refuse to send a single commit.
func (g *repository) fetchCommit(ctx context.Context, hash, to string) (string, error) {
	if strings.Trim(hash, "0123456789abcdefABCDEF") != "" || len(hash) < 4 {
		return "", fmt.Errorf("%q is not the hash of a commit", hash)
	}
	if len(hash) == 40 || len(hash) == 64 {
		if _, err := g.git(ctx, to, "fetch", "--quiet", "--depth=1", "--", g.source.Repository, hash); err == nil {
			return hash, nil
		}
	}
	_, err := g.git(ctx, to, "fetch", "--quiet", "--", g.source.Repository, "+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*")
	if err != nil {
		return "", err
	}
	// A tag may have a name that looks like a hash.
	whole, err := g.git(ctx, to, "rev-parse", "--verify", "--quiet", "--end-of-options", hash+"^{commit}")
	whole = strings.TrimSpace(whole)
	if err != nil || !strings.HasPrefix(whole, strings.ToLower(hash)) {
		return "", fmt.Errorf("the repository has no commit %s, or several that begin like that", hash)
	}
	return whole, nil
}

// git runs the command git in a folder, and returns its output. If a server refuses, git is run once more with the token for its host
// from the environment.
func (g *repository) git(ctx context.Context, directory string, args ...string) (string, error) {
	path, err := exec.LookPath("git")
	if err != nil {
		return "", errors.New("the command git was not found on your $PATH; install it, for plugins that are in git repositories")
	}
	run := func(more []string) (string, error) {
		stdout, stderr, exit, err := plugin.Output(ctx, plugin.Command{
			Name: "git", Executable: path, Directory: directory, Environment: append(gitEnvironment(), more...),
			Args: append([]string{"-c", "core.hooksPath=" + os.DevNull, "-c", "core.autocrlf=false"}, args...),
		})
		if err == nil && exit.Code != 0 {
			said := strings.ReplaceAll(strings.TrimSpace(stderr), g.source.Repository, g.place()) // there may be a password in it
			err = fmt.Errorf("`git %s` ended with %s: %s", args[0], exit.Status, said)
		}
		return stdout, err
	}
	out, err := run(nil)
	if token := g.token(); err != nil && token != nil && ctx.Err() == nil && slices.Contains(args, g.source.Repository) {
		return run(token)
	}
	return out, err
}

// stall is the number of seconds in which a server may send nothing; stallRate is the rate that counts as nothing, in
// bytes per second.
const stall, stallRate = 60, 1

// gitEnvironment is the environment without its variables about a repository, such as those in a hook of git.
func gitEnvironment() []string {
	env := slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains([]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX"}, name)
	})
	return append(env, "GIT_TERMINAL_PROMPT=0", "GCM_INTERACTIVE=never", "LC_ALL=C",
		"GIT_HTTP_LOW_SPEED_TIME="+strconv.Itoa(stall), "GIT_HTTP_LOW_SPEED_LIMIT="+strconv.Itoa(stallRate))
}

// The variables with tokens for the hosts of plugins.
const (
	EnvGitHubToken = "GITHUB_TOKEN"
	EnvGitLabToken = "GITLAB_TOKEN"
)

// tokens are the variables with the tokens of hosts, and the user names that belong to them.
var tokens = map[string]struct{ variable, user string }{
	"github.com": {EnvGitHubToken, "x-access-token"},
	"gitlab.com": {EnvGitLabToken, "oauth2"},
}

// token returns the variables that make git send the token to the repository's host, and to no other one; nil if there is none. It
// does not use arguments, which every user of the machine can read.
func (g *repository) token() []string {
	u, err := url.Parse(g.source.Repository)
	if err != nil || u.User != nil {
		return nil
	}
	t := tokens[u.Host]
	secret := g.env(t.variable)
	if secret == "" {
		return nil
	}
	n, _ := strconv.Atoi(g.env("GIT_CONFIG_COUNT")) // 0 if there is none
	return []string{
		"GIT_CONFIG_COUNT=" + strconv.Itoa(n+1),
		fmt.Sprintf("GIT_CONFIG_KEY_%d=http.https://%s/.extraHeader", n, u.Host),
		fmt.Sprintf("GIT_CONFIG_VALUE_%d=Authorization: Basic %s", n, base64.StdEncoding.EncodeToString([]byte(t.user+":"+secret))),
	}
}

// staysInside refuses links that lead out of a folder.
func staysInside(directory string) error {
	root, err := os.OpenRoot(directory)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.Type()&fs.ModeSymlink == 0 {
			return err
		}
		if _, err := root.Stat(filepath.FromSlash(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the repository is refused: its entry %q is a link that leads out of the plugin's folder", name)
		}
		return nil
	})
}
