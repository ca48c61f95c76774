package worker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"go.yaml.in/yaml/v3"

	"github.com/sluice-iac/sluice/fleet/server"
	"github.com/sluice-iac/sluice/fleet/spec"
	"github.com/sluice-iac/sluice/internal/platform/private"
)

// stack is a stack in a folder of this machine.
type stack struct {
	spec.Stack
	directory string
}

// folders are the folders of stacks on this machine.
type folders struct {
	root   string      // of the fleet
	home   server.Home // for checkouts
	sluice *sluice
}

// locate returns a stack with its folder on this machine, which is below the folder of the fleet, or below a checkout, even if links are followed.
func (f *folders) locate(ctx context.Context, s spec.Stack) (stack, error) {
	root := f.root
	if s.Git != "" {
		checkout, err := f.checkOut(ctx, s)
		if err != nil {
			return stack{}, err
		}
		root = checkout
	}
	directory, err := below(root, s.Directory)
	if err != nil {
		return stack{}, err
	}
	if !spec.HasProject(directory) {
		return stack{}, fmt.Errorf("%s has no Pulumi.yaml", directory)
	}
	return stack{s, directory}, nil
}

// checkOut returns a folder with a revision of a repository. The workers of this machine share it.
func (f *folders) checkOut(ctx context.Context, s spec.Stack) (string, error) {
	git := func(folder string, args ...string) (string, error) {
		return git(ctx, f.sluice.environment(s.Name), folder, args...)
	}
	sum := sha256.Sum256([]byte(s.Git + "\n" + s.Ref))
	folder := f.home.Path("git", hex.EncodeToString(sum[:8]))
	if err := private.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	lock := flock.New(folder + ".lock")
	if _, err := lock.TryLockContext(ctx, 100*time.Millisecond); err != nil {
		return "", err
	}
	defer func() { _ = lock.Unlock() }() // the system releases it too
	if _, err := os.Stat(filepath.Join(folder, ".git")); errors.Is(err, os.ErrNotExist) {
		if _, err := git(folder, "init", "--quiet"); err != nil {
			return "", err
		}
	}
	if _, err := git(folder, "fetch", "--quiet", "--depth", "1", "--no-tags", "--no-recurse-submodules", "--", s.Git, s.Ref); err != nil {
		return "", err
	}
	wanted, err := git(folder, "rev-parse", "FETCH_HEAD")
	if err != nil {
		return "", err
	}
	if is, err := git(folder, "rev-parse", "--verify", "--quiet", "HEAD"); err == nil && is == wanted {
		return folder, nil
	}
	_, err = git(folder, "checkout", "--quiet", "--force", "--detach", "FETCH_HEAD")
	return folder, err
}

// git runs git without hooks, prompts and transports that run programs.
func git(ctx context.Context, environment []string, folder string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, "git", append([]string{
		"-C", folder, "-c", "core.hooksPath=" + os.DevNull, "-c", "protocol.allow=never", "-c", "protocol.https.allow=always",
		"-c", "protocol.ssh.allow=always", "-c", "protocol.file.allow=always", "-c", "core.symlinks=true",
	}, args...)...)
	// Variables set by a git hook, or by another git command that has called, are about another repository.
	environment = slices.DeleteFunc(environment, func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains([]string{
			"GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX",
		}, name)
	})
	c.Env = append(environment, "GIT_TERMINAL_PROMPT=0", "GIT_SSH_COMMAND=ssh -o BatchMode=yes")
	out, said := &limited{most: mostSaid}, &limited{most: mostSaid}
	c.Stdout, c.Stderr = out, said
	if err := c.Run(); err != nil {
		text := err.Error()
		if s := strings.TrimSpace(said.text()); s != "" {
			text = s
		}
		return "", fmt.Errorf("git %s: %s", args[0], text)
	}
	return strings.TrimSpace(out.text()), nil
}

func below(root, directory string) (string, error) {
	if directory != "" && !filepath.IsLocal(filepath.FromSlash(directory)) {
		return "", fmt.Errorf("the folder %q is not below that of the fleet", directory)
	}
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return "", err
	}
	is, err := filepath.EvalSymlinks(filepath.Join(real, filepath.FromSlash(directory)))
	if err != nil {
		return "", fmt.Errorf("the folder of the stack: %w", err)
	}
	if rel, err := filepath.Rel(real, is); err != nil || rel != "." && !filepath.IsLocal(rel) {
		return "", fmt.Errorf("the folder %q is a link that leaves that of the fleet", directory)
	}
	return is, nil
}

// projectOf returns the name of the project in a folder.
func projectOf(directory string) (string, error) {
	text, err := os.ReadFile(spec.ProjectFile(directory))
	if err != nil {
		return "", err
	}
	var project struct{ Name string }
	if err := yaml.Unmarshal(text, &project); err != nil {
		return "", fmt.Errorf("%s: %w", spec.ProjectFile(directory), err)
	}
	return project.Name, nil
}
