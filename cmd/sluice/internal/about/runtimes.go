package about

import (
	"context"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/providers/plugin"
)

// lookAtRuntimes lists the languages that sluice supports, those that have a plugin, and that of the project.
func lookAtRuntimes(ctx context.Context, project *projectReport, installed []plugin.Listing) []runtimeReport {
	plugins := map[string]string{}
	languages := []string{"yaml", "nodejs", "go", "python", "java"}
	note := func(language string) {
		if language != "" && !slices.Contains(languages, language) {
			languages = append(languages, language)
		}
	}
	for _, p := range installed {
		// "python-exec" and the like are helpers of a plugin.
		if p.Kind == plugin.Language && plugins[p.Name] == "" && !strings.Contains(p.Name, "-") {
			plugins[p.Name] = p.Location.Executable
			note(p.Name)
		}
	}
	if project != nil {
		note(project.Runtime)
	}
	out := make([]runtimeReport, 0, len(languages))
	for _, language := range languages {
		out = append(out, howRun(ctx, language, plugins[language]))
	}
	return out
}

func howRun(ctx context.Context, language, plugin string) runtimeReport {
	r := runtimeReport{Language: language, How: runsNot}
	switch {
	case language == "yaml":
		r.How = runsBuiltIn
	case plugin != "":
		r.How, r.Executable = runsPlugin, plugin
	case language == "nodejs":
		findTool(ctx, &r, "node", "--version")
	case language == "java":
		findTool(ctx, &r, "java", "--version")
	case language == "go":
		findTool(ctx, &r, "go", "version")
	default:
		r.Missing = "pulumi-language-" + language
	}
	return r
}

var versionNumber = regexp.MustCompile(`[0-9]+(\.[0-9]+)+`)

// findTool sets the tool on the PATH that runs the programs.
func findTool(ctx context.Context, r *runtimeReport, name string, args ...string) {
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
