package about

import (
	"os"
	"slices"
	"strings"
)

// Report describes the project, stack, plugins and tools of a directory. It has Pulumi's keys where Pulumi reports
// the same.
type Report struct {
	CLI              cliReport       `json:"cliAbout"`
	Host             hostReport      `json:"host"`
	Project          *projectReport  `json:"project"`      // null outside a project
	Stack            *stackReport    `json:"currentStack"` // null if none is selected
	Backend          *backendReport  `json:"backend"`
	Home             string          `json:"home"`
	Runtime          *runtimeReport  `json:"runtime"` // of the project
	Runtimes         []runtimeReport `json:"runtimes"`
	Plugins          []pluginReport  `json:"plugins"`
	BuiltinProviders []string        `json:"builtinProviders"`
	Environment      []string        `json:"environment"` // names only, because the values may be secret
	Errors           []string        `json:"errors"`
}

type cliReport struct {
	Version       string `json:"version"`
	PulumiVersion string `json:"pulumiVersion"` // the version of Pulumi that sluice is compatible with
	GoVersion     string `json:"goVersion"`
	GoCompiler    string `json:"goCompiler"`
	Commit        string `json:"commit,omitempty"`
}

type hostReport struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
}

type projectReport struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Runtime     string `json:"runtime"`
	File        string `json:"file"`
}

type stackReport struct {
	Name       string           `json:"name"`
	FullName   string           `json:"fullyQualifiedName"`
	Resources  []resourceReport `json:"resources"`
	PendingOps []resourceReport `json:"pendingOps"`
}

type resourceReport struct {
	Type string `json:"type"`
	URN  string `json:"urn"`
}

type backendReport struct {
	URL           string   `json:"url"`
	User          string   `json:"user"`
	Organizations []string `json:"organizations"`
}

type pluginReport struct {
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Path    string `json:"path"`
	Source  string `json:"source"` // project, path, cache
}

// runtimeReport describes how the programs of a language would run.
type runtimeReport struct {
	Language   string `json:"language"`
	How        string `json:"how"` // one of the constants
	Executable string `json:"executable,omitempty"`
	Version    string `json:"version,omitempty"` // of the tool that runs them
	Missing    string `json:"missing,omitempty"` // what must be installed
	// Tools take part in running the program of the project; nil for other languages.
	Tools []toolReport `json:"tools,omitempty"`
}

// toolReport is an executable.
type toolReport struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Path    string `json:"path,omitempty"`
}

// The ways in which programs run.
const (
	runsBuiltIn = "built in"
	runsDirect  = "directly"
	runsPlugin  = "language plugin"
	runsNot     = "not"
)

// variables returns the names of the variables that sluice may read.
func variables() []string {
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
