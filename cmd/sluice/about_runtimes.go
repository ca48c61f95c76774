package main

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/sluice-iac/sluice"
)

// runtimeAbout says how the programs of a language would be run.
type runtimeAbout struct {
	Language   string `json:"language"`
	How        string `json:"how"` // one of the constants
	Executable string `json:"executable,omitempty"`
	Version    string `json:"version,omitempty"` // of the tool that runs them
	Missing    string `json:"missing,omitempty"` // what would have to be installed
}

// How programs are run.
const (
	runsBuiltIn = "built in"
	runsDirect  = "directly"
	runsPlugin  = "language plugin"
	runsNot     = "not"
)

// runtimesAbout lists the languages that sluice knows, those that have a plugin, and that of the project.
func runtimesAbout(ctx context.Context, project *projectAbout, installed []sluice.InstalledPlugin) []runtimeAbout {
	plugins := map[string]string{}
	languages := []string{"yaml", "nodejs", "go", "python"}
	note := func(language string) {
		if language != "" && !slices.Contains(languages, language) {
			languages = append(languages, language)
		}
	}
	for _, p := range installed {
		// "python-exec" and the like are helpers of a plugin.
		if p.Kind == sluice.LanguagePlugin && plugins[p.Name] == "" && !strings.Contains(p.Name, "-") {
			plugins[p.Name] = p.Location.Executable
			note(p.Name)
		}
	}
	if project != nil {
		note(project.Runtime)
	}
	out := make([]runtimeAbout, 0, len(languages))
	for _, language := range languages {
		out = append(out, howRun(ctx, language, plugins[language]))
	}
	return out
}

func howRun(ctx context.Context, language, plugin string) runtimeAbout {
	r := runtimeAbout{Language: language, How: runsNot}
	switch {
	case language == "yaml":
		r.How = runsBuiltIn
	case plugin != "":
		r.How, r.Executable = runsPlugin, plugin
	case language == "nodejs":
		r.tool(ctx, "node", "--version")
	case language == "go":
		r.tool(ctx, "go", "version")
	default:
		r.Missing = "pulumi-language-" + language
	}
	return r
}

var versionNumber = regexp.MustCompile(`[0-9]+(\.[0-9]+)+`)

// tool has programs run with a tool that is on the PATH.
func (r *runtimeAbout) tool(ctx context.Context, name string, args ...string) {
	path, err := exec.LookPath(name)
	if err != nil {
		r.Missing = name
		return
	}
	r.How, r.Executable = runsDirect, path
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if out, err := exec.CommandContext(ctx, path, args...).Output(); err == nil {
		r.Version = versionNumber.FindString(string(out))
	}
}

// settings are the names of the variables that sluice may read.
func (c *cli) settings() []string {
	out := []string{}
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, "PULUMI_") || strings.HasPrefix(name, "SLUICE_") {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
