// Package provenance describes the origin of an operation: the commit of the program, and the job of a CI service. The names are those of Pulumi's
// history.
//
// It decides nothing, and its failures have no effect: unknown values are left out.
//
// Invariant: a description contains no credential. Of the address of a repository, only the host, owner and name are kept.
package provenance

import (
	"cmp"
	"context"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/sourcegraph/conc"

	"github.com/sluice-iac/sluice/providers/plugin"
)

// The names in a description.
const (
	head, headName, dirty          = "git.head", "git.headName", "git.dirty"
	committer, committerEmail      = "git.committer", "git.committer.email"
	author, authorEmail            = "git.author", "git.author.email"
	vcsOwner, vcsRepo, vcsKind     = "vcs.owner", "vcs.repo", "vcs.kind"
	vcsRoot                        = "vcs.root"
	ciSystem, ciBuild, ciNumber    = "ci.system", "ci.build.id", "ci.build.number"
	ciType, ciURL, ciHead, ciPulls = "ci.build.type", "ci.build.url", "ci.pr.headSHA", "ci.pr.number"
)

// Of describes the origin of an operation on the program in a directory, and returns the title of the commit, "" if it is unknown. The directory is
// "" if the program is elsewhere.
func Of(ctx context.Context, directory string, lookup func(string) (string, bool)) (described map[string]string, title string) {
	env := func(name string) string {
		text, _ := lookup(name)
		return text
	}
	j := jobOf(env)
	described = j.described()
	var commit map[string]string
	if _, is := rootOf(directory, ".git"); is {
		commit, title = repository{directory}.described(ctx, j)
	} else if root, is := rootOf(directory, ".hg"); is && hasMercurial() {
		commit, title = mercurial{root, directory}.described(ctx, j)
	} else {
		commit, title = given(env, j), firstLine(cmp.Or(env("PULUMI_GIT_COMMIT_MESSAGE"), j.message))
	}
	maps.Copy(described, commit)
	return described, title
}

// rootOf returns the nearest directory, from the given one upwards, that has an entry of this name. The directory may be "".
func rootOf(directory, name string) (root string, is bool) {
	for directory != "" {
		if _, err := os.Stat(filepath.Join(directory, name)); err == nil {
			return directory, true
		}
		above := filepath.Dir(directory)
		if above == directory {
			break
		}
		directory = above
	}
	return "", false
}

// given describes, from variables, a program that is in no repository.
func given(env func(string) string, j job) map[string]string {
	out := map[string]string{}
	for name, text := range map[string]string{
		vcsOwner: env("PULUMI_VCS_REPO_OWNER"), vcsRepo: env("PULUMI_VCS_REPO_NAME"), vcsKind: env("PULUMI_VCS_REPO_KIND"),
		vcsRoot: env("PULUMI_VCS_REPO_ROOT"), head: env("PULUMI_GIT_HEAD"), headName: cmp.Or(env("PULUMI_GIT_HEAD_NAME"), j.branch),
		committer: env("PULUMI_GIT_COMMITTER"), committerEmail: env("PULUMI_GIT_COMMITTER_EMAIL"), author: env("PULUMI_GIT_AUTHOR"),
		authorEmail: env("PULUMI_GIT_AUTHOR_EMAIL"),
	} {
		if text != "" {
			out[name] = text
		}
	}
	return out
}

// repository is a directory in a repository of git.
type repository struct{ directory string }

// described runs several git commands at once.
func (r repository) described(ctx context.Context, j job) (map[string]string, string) {
	const separator = "%x00"
	format := strings.Join([]string{"%H", "%cn", "%ce", "%an", "%ae", "%B"}, separator)
	var commit, place, changes, origin string
	var known bool
	var asking conc.WaitGroup
	asking.Go(func() { commit, _ = r.git(ctx, "log", "-1", "--no-show-signature", "--format="+format) })
	asking.Go(func() { place, _ = r.git(ctx, "rev-parse", "--show-prefix", "--symbolic-full-name", "HEAD") })
	asking.Go(func() { changes, known = r.git(ctx, "status", "--porcelain", "-z") })
	asking.Go(func() { origin, _ = r.git(ctx, "config", "--get", "remote.origin.url") })
	asking.Wait()

	out := map[string]string{}
	fields := strings.SplitN(strings.TrimSpace(commit), "\x00", 6)
	if len(fields) != 6 {
		return out, "" // there is no commit yet
	}
	for i, name := range []string{head, committer, committerEmail, author, authorEmail} {
		out[name] = fields[i]
	}
	lines := strings.Split(strings.Trim(place, "\n"), "\n") // at the root, the first line is empty
	branch, prefix := lines[len(lines)-1], strings.Join(lines[:len(lines)-1], "")
	if branch == "HEAD" {
		branch = j.branch
	}
	if branch != "" {
		out[headName] = branch
	}
	if known {
		out[dirty] = strconv.FormatBool(changes != "")
	}
	if owner, name, kind, is := hosted(strings.TrimSpace(origin)); is {
		out[vcsOwner], out[vcsRepo], out[vcsKind] = owner, name, kind
	}
	if origin != "" {
		out[vcsRoot] = cmp.Or(strings.TrimSuffix(prefix, "/"), ".")
	}
	return out, firstLine(cmp.Or(strings.TrimSpace(fields[5]), j.message))
}

// git returns the output of git, and whether it succeeded. It changes nothing, not even the index, and starts no program that the repository names.
func (r repository) git(ctx context.Context, args ...string) (string, bool) {
	path, err := exec.LookPath("git")
	if err != nil {
		return "", false
	}
	environment := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains([]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"}, name) // set by a hook that called
	})
	text, _, exit, err := plugin.Output(ctx, plugin.Command{
		Name: "git", Executable: path, Directory: r.directory, Environment: append(environment, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0"),
		Args: append([]string{"-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull}, args...),
	})
	return text, err == nil && exit.Code == 0
}

func firstLine(text string) string {
	if at := strings.IndexAny(text, "\r\n"); at >= 0 {
		return text[:at]
	}
	return text
}

const azure = "dev.azure.com"

// asCopied matches the address of a repository in the form of scp: "git@github.com:owner/name.git".
var asCopied = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:[^@/]+@)?([^:/]+):(.+)$`) })

// oldAzure matches the host of an organization that has kept its former address.
var oldAzure = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([a-zA-Z0-9-]+)\.visualstudio\.com$`) })

// hosted returns the owner, the name and the host of a repository. is reports whether its address contains them.
func hosted(address string) (owner, name, kind string, is bool) {
	path := ""
	if u, err := url.Parse(address); err == nil && u.Scheme != "" && u.Host != "" {
		if u.Scheme != "https" && u.Scheme != "http" && u.Scheme != "ssh" {
			return "", "", "", false
		}
		kind, path = u.Host, u.Path
		if u.Scheme == "ssh" {
			kind = u.Hostname()
		}
	} else if m := asCopied().FindStringSubmatch(address); m != nil && !strings.Contains(address, "://") {
		kind, path = m[1], m[2]
	}
	path = strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	if kind == "ssh."+azure {
		_, path, _ = strings.Cut(path, "/") // drop the version of the protocol
		kind = azure
	}
	if m := oldAzure().FindStringSubmatch(kind); m != nil {
		return m[1], path, azure, path != ""
	}
	owner, name, is = strings.Cut(path, "/")
	if kind == azure && is && !strings.Contains(name, "_git") {
		project, repo, found := strings.Cut(name, "/")
		name, is = project+"/_git/"+repo, found
	}
	return owner, name, kind, is && owner != "" && name != ""
}
