package processes

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// The peers: comparable programs, by their names on PATH.
const (
	Pulumi    = "pulumi"
	Terraform = "terraform"
	OpenTofu  = "tofu"
)

// peer is a comparable program.
type peer struct {
	name, path string
	version    string // the first line of what it says about it: "Terraform v1.11.4", "v3.248.0"
}

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
		if first = strings.TrimSpace(first); first == "" {
			continue
		}
		found[name] = peer{name, path, first}
	}
	return found
}

// setting is a way to call Pulumi. The zero setting is the default.
type setting struct {
	suffix      string // of its name in reports
	environment []string
}
