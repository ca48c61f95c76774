package processes

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/sluice-iac/sluice/bench/internal/results"
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
	version    string // the first line of what it says about it: "Terraform v1.11.4", "v3.274.1"
}

func (p peer) tool() tool {
	if p.name == Pulumi {
		return tool{path: p.path, profiling: "--profiling"}
	}
	return tool{path: p.path}
}

// peers are those that cases have asked for so far.
type peers struct {
	report *results.Report
	found  map[string]*peer // nil for one that is not there
}

// find returns a peer that a case is about to measure, and records its version in the report, or that it, or another program that it needs, is missing.
// It is on PATH and reports a version; a link named pulumi that leads to sluice is not one.
func (p *peers) find(ctx context.Context, name string, needs ...string) (peer, bool) {
	if _, known := p.found[name]; !known {
		p.found[name] = nil
		if path, err := exec.LookPath(name); err == nil && !leadsToSluice(path) {
			if said := says(ctx, path, "version"); said != "" {
				p.found[name] = &peer{name, path, said}
			}
		}
	}
	if p.found[name] == nil {
		p.report.Miss(name)
		return peer{}, false
	}
	for _, other := range needs {
		if _, err := exec.LookPath(other); err != nil {
			p.report.Miss(other)
			return peer{}, false
		}
	}
	p.report.Versions[name] = p.found[name].version
	return *p.found[name], true
}

// interpreter records the version of what runs the programs of a client, or that it is missing, and reports whether it is there.
func (p *peers) interpreter(ctx context.Context, name string) bool {
	if name == "" {
		return true
	}
	path, err := exec.LookPath(name)
	if err != nil {
		p.report.Miss(name)
		return false
	}
	if said := says(ctx, path, "--version"); said != "" {
		p.report.Versions[name] = said
	}
	return true
}

func leadsToSluice(path string) bool {
	target, err := filepath.EvalSymlinks(path)
	return err == nil && strings.HasPrefix(filepath.Base(target), "sluice")
}

// says returns the first line of what a program prints, "" if it fails.
func says(ctx context.Context, path, argument string) string {
	cmd := exec.CommandContext(ctx, path, argument)
	cmd.Env = append(os.Environ(), "CHECKPOINT_DISABLE=1", "PULUMI_SKIP_UPDATE_CHECK=true")
	said, err := cmd.Output()
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(said)), "\n")
	return strings.TrimSpace(first)
}

// setting is a way to call Pulumi. The zero setting is the default.
type setting struct {
	suffix      string // of its name in reports
	environment []string
}
