package about

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
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
	case language == "bun":
		findTool(ctx, &r, "bun", "--version")
	case language == "java":
		findTool(ctx, &r, "java", "--version")
	case language == "go":
		findTool(ctx, &r, "go", "version")
	case language == "python":
		findTool(ctx, &r, "python3", "--version")
	default:
		r.Missing = "pulumi-language-" + language
	}
	return r
}

// patience limits how long a tool may take to print its version. On a busy machine, the first start of Gradle takes more
// than ten seconds.
const patience = time.Minute

// askRuntime returns the tools that the runtime of the project uses.
func askRuntime(ctx context.Context, project *workspace.Project, options host.PluginOptions) ([]toolReport, error) {
	directory, entry, err := source.Locate(project.Directory(), project.Main)
	if err != nil {
		return nil, err
	}
	runtime, err := host.NewRuntime(project.Runtime, options)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tools, err := runtime.About(ctx, source.Project{
		Runtime: project.Runtime, Options: project.RuntimeOptions, Root: project.Directory(), Directory: directory, Entry: entry,
	})
	out := make([]toolReport, 0, len(tools))
	for _, t := range tools {
		out = append(out, toolReport(t))
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("not all tools for programs in %s have reported their versions within %s", project.Runtime, patience)
	}
	return out, err
}

var versionNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[0-9]+(\.[0-9]+)+`) })

// findTool sets the tool of a runtime, found on PATH.
func findTool(ctx context.Context, r *runtimeReport, name string, args ...string) {
	path, err := exec.LookPath(name)
	if err != nil {
		r.Missing = name
		return
	}
	r.How, r.Executable = runsDirect, path
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if out, err := exec.CommandContext(ctx, path, args...).Output(); err == nil {
		r.Version = versionNumber().FindString(string(out))
	}
}
