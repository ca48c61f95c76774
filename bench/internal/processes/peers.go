package processes

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/sluice-iac/sluice/bench/shape"
)

// The peers: comparable programs, by their names on PATH.
const (
	Pulumi    = "pulumi"
	Terraform = "terraform"
	OpenTofu  = "tofu"
)

// peer is a comparable program.
type peer struct{ name, path, version string }

type peers map[string]peer

// findPeers returns the peers on PATH that report a version. A link named pulumi that leads to sluice is not one.
func findPeers(ctx context.Context) peers {
	found := peers{}
	for _, name := range []string{Pulumi, Terraform, OpenTofu} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if target, err := filepath.EvalSymlinks(path); err == nil && strings.HasPrefix(filepath.Base(target), "sluice") {
			continue
		}
		cmd := exec.CommandContext(ctx, path, "version")
		cmd.Env = append(os.Environ(), "CHECKPOINT_DISABLE=1", "PULUMI_SKIP_UPDATE_CHECK=true")
		said, err := cmd.Output()
		if err != nil {
			continue
		}
		first, _, _ := strings.Cut(strings.TrimSpace(string(said)), "\n")
		words := strings.Fields(first) // "Terraform v1.11.4", "v3.248.0"
		if len(words) == 0 {
			continue
		}
		found[name] = peer{name, path, words[len(words)-1]}
	}
	return found
}

// setting is a way to call Pulumi. The zero setting is the default.
type setting struct {
	suffix      string // of its name in reports
	environment []string
}

// parallelDiff makes Pulumi call Diff for several resources at once.
func parallelDiff() setting {
	return setting{suffix: "-parallel-diff", environment: []string{"PULUMI_PARALLEL_DIFF=true"}}
}

// pulumi returns a probe of Pulumi's command line on a stack of its own.
func (b *workbench) pulumi(p peer, stack string, l load, s setting, args ...string) probe {
	return b.in(b.project(l.client), append(b.pulumiEnvironment(l), s.environment...), p.path, append(args, "--non-interactive", "--stack", stack)...)
}

// pulumiEnvironment is that of sluice, except for the home and the state.
func (b *workbench) pulumiEnvironment(l load) []string {
	return append(b.environment(l),
		"PULUMI_HOME="+filepath.Join(b.directory, "home-pulumi"), "PULUMI_BACKEND_URL=file://"+filepath.ToSlash(filepath.Join(b.directory, "state-pulumi")))
}

// pulumiStack makes a missing stack of Pulumi.
func (b *workbench) pulumiStack(ctx context.Context, p peer, stack string) error {
	for _, d := range []string{"home-pulumi", "state-pulumi"} {
		if err := os.MkdirAll(filepath.Join(b.directory, d), 0o755); err != nil {
			return err
		}
	}
	_, err := b.in(b.project(shape.ClientThin), b.pulumiEnvironment(load{}), p.path, "stack", "select", "--create", stack, "--non-interactive")(ctx)
	return err
}

// terraform returns a probe of Terraform or OpenTofu in a directory with a configuration. It uses no settings of the
// user.
func (b *workbench) terraform(p peer, directory string, args ...string) probe {
	environment := append(os.Environ(), "TF_CLI_CONFIG_FILE="+filepath.Join(b.directory, "terraform.rc"), "TF_IN_AUTOMATION=1", "CHECKPOINT_DISABLE=1", "TF_DATA_DIR=.terraform")
	return b.in(directory, environment, p.path, args...)
}
