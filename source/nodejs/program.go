package nodejs

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-iac/sluice/internal/platform/files"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/direct"
	"github.com/sluice-iac/sluice/source/monitor"
	"github.com/sluice-iac/sluice/stages"
)

// Program is a Node.js or TypeScript program. It keeps nothing between runs.
type Program struct{ project source.Project }

// New returns the program of a project. Runtime options: nodeargs, packagemanager, typescript, tsconfig.
func New(p source.Project) *Program { return &Program{project: p} }

var _ source.Program = (*Program)(nil)

// Packages lists the packages that are installed for the program ([protocol.md 1.12]).
//
// [protocol.md 1.12]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#112-packages-and-parameterization
func (p *Program) Packages(context.Context) ([]stages.Package, error) {
	return packages(p.project.Directory)
}

// Run runs node. The end of ctx ends node and everything that it started.
func (p *Program) Run(ctx context.Context, host source.Host) error {
	if err := checkOptions(p.project); err != nil {
		return err
	}
	executable, err := executableOf(p.project, p.project.Program())
	if err != nil {
		return err
	}
	module, err := sdkModule(p.project, "run")
	if err != nil {
		return err
	}
	if err := checkProgram(p.project); err != nil {
		return err
	}
	monitor, engine, err := direct.Addresses(host, p.project)
	if err != nil {
		return err
	}
	info := host.Monitor.Info()
	env, err := direct.ConfigEnv(info)
	if err != nil {
		return err
	}
	var debug waiting
	if p.project.Debug {
		debug = waiting{direct.DebugAddress(usualPort), direct.Log(ctx, host)}
	}
	x, err := prepare(p.project, executable, p.project.Program(), compileCache(p.project), debug, p.arguments(module, monitor, engine, info)...)
	if err != nil {
		return err
	}
	defer x.done()
	return direct.Run(ctx, host, p.project, direct.Command{
		Executable: x.executable, Args: x.args, Env: append(env, x.env...), Hint: memoryHint, Debugger: x.debugger,
	})
}

// ServeMonitor implements [source.MonitorServer].
func (p *Program) ServeMonitor(ctx context.Context, m source.ServedMonitor) source.RunningService {
	return monitor.NewServer(ctx, m)
}

// Close does nothing: each run has its own process, which has ended when Run returns.
func (p *Program) Close() error { return nil }

func (p *Program) arguments(module, monitor, engine string, info stages.RunInfo) []string {
	args := []string{module, "--monitor", monitor}
	if engine != "" {
		args = append(args, "--engine", engine)
	}
	args = append(args,
		"--organization", info.Organization,
		"--project", info.Project,
		"--root-directory", p.project.Root,
		"--stack", info.Stack,
		"--pwd", p.project.Directory)
	if info.DryRun {
		args = append(args, "--dry-run")
	}
	args = append(args, "--parallel", strconv.Itoa(max(1, info.Parallel)), p.project.Entry)
	return append(args, p.project.Args...)
}

// nodeArguments accepts the option as one text or as a list.
func nodeArguments(option any) []string {
	switch v := option.(type) {
	case string:
		return strings.Fields(v)
	case []any:
		var args []string
		for _, a := range v {
			args = append(args, fmt.Sprint(a))
		}
		return args
	case []string:
		return append([]string(nil), v...)
	}
	return nil
}

// checkOptions refuses values of the runtime options that mean nothing.
func checkOptions(p source.Project) error {
	if p.Runtime == bun {
		return nil // it has none
	}
	if v, text := p.Options["typescript"], p.Option("typescript"); v != nil && text != "true" && text != "false" {
		return fmt.Errorf("the runtime option `typescript` is %q; it can be true or false", fmt.Sprint(v))
	}
	_, err := managerOf(p)
	return err
}

// options returns the environment variables with the runtime options that the SDK reads.
func options(p source.Project) []string {
	env := []string{fmt.Sprintf("PULUMI_NODEJS_TYPESCRIPT=%t", p.Option("typescript") != "false")}
	if tsconfig := p.Option("tsconfig"); tsconfig != "" {
		env = append(env, "PULUMI_NODEJS_TSCONFIG_PATH="+tsconfig)
	}
	return env
}

// memoryHint recognizes V8's message about its heap, and the crash that may come instead: the SDK enables V8's debugger, which tries to
// pause at the end of the heap and fails where it cannot.
func memoryHint(output string) string {
	full := strings.Contains(output, "JavaScript heap out of memory")
	paused := strings.Contains(output, "V8_Fatal") && strings.Contains(output, "v8::debug::BreakRightNow")
	if !full && !paused {
		return ""
	}
	return "node had too little memory: set the runtime option `nodeargs: --max-old-space-size=8192` (megabytes) in the project file"
}

// sdkModule returns the path of one of the SDK's entry points as Node.js resolves it: in the node_modules of the program's directory or of
// a directory above it.
func sdkModule(p source.Project, name string) (string, error) {
	if err := checkManifest(p.Directory); err != nil {
		return "", err
	}
	for dir := p.Directory; ; dir = filepath.Dir(dir) {
		module := filepath.Join(dir, "node_modules", "@pulumi", "pulumi", "cmd", name)
		if _, err := os.Stat(module); err == nil {
			return module, nil
		}
		if dir == filepath.Dir(dir) {
			return "", notInstalled(p)
		}
	}
}

// checkManifest refuses a package.json of the program that neither Node.js nor a package manager can read.
func checkManifest(directory string) error {
	m, found := manifestAbove(directory)
	if !found || m.unread {
		return nil
	}
	file := filepath.Join(m.directory, "package.json")
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var content map[string]json.RawMessage
	if err := json.Unmarshal(text, &content); err != nil {
		return fmt.Errorf("%s is not the description of a package: %w; correct it, or make it again with `npm init`", file, err)
	}
	return nil
}

// notInstalled returns the error of a program whose SDK is missing.
func notInstalled(p source.Project) error {
	m, err := managerOf(p)
	if err != nil {
		return err
	}
	command := m.name + " install"
	if !namesSDK(p.Directory) {
		command = m.adds("@pulumi/pulumi")
	}
	return fmt.Errorf("the package @pulumi/pulumi is not installed in %s or above; run `%s` there", p.Directory, command)
}

// namesSDK reports whether a package.json in a directory or above names the SDK, so that an installation includes the SDK. A package.yaml
// may name it.
func namesSDK(directory string) bool {
	for {
		m, found := manifestAbove(directory)
		if !found || m.unread || m.namesSDK {
			return found
		}
		directory = filepath.Dir(m.directory)
		if directory == m.directory {
			return false
		}
	}
}

// extensions are the extensions that the SDK appends to the name of an entry point.
var extensions = [...]string{"", ".ts", ".js", ".mts", ".cts", ".mjs", ".cjs", ".tsx", ".json"}

// checkProgram refuses a program that does not exist. If the project has no `main`, the SDK finds the program through the manifest of its
// package, which may be above it.
func checkProgram(p source.Project) error {
	m, found := manifestAbove(p.Directory)
	if p.Entry != "." || !found || m.entry == "" && !m.unread {
		return checkEntry(p)
	}
	if m.unread || files.IsThere(filepath.Join(m.directory, m.entry)) || hasModule(filepath.Join(p.Directory, p.Entry)) {
		return nil
	}
	return fmt.Errorf("there is no program: package.json in %s names %s as its `%s`, which does not exist; "+
		"write it, or build it, or name another file", m.directory, m.entry, m.field)
}

// checkEntry refuses an entry point that does not exist. The SDK would report it with the stack of its own loader.
func checkEntry(p source.Project) error {
	path := filepath.Join(p.Directory, p.Entry)
	if hasModule(path) {
		return nil
	}
	if main := mainOf(path); main != "" && main != "." {
		return fmt.Errorf("there is no program: package.json in %s names %s as its `main`, which does not exist; "+
			"write it, or build it, or name another file", path, main)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "index")
	}
	return fmt.Errorf("there is no program: %s does not exist (looked for .ts, .js and the like); "+
		"write one, or name it with `main` in the project file or in package.json", path)
}

// manifest is the description of a program in its package.
type manifest struct {
	directory    string
	entry, field string // the file and its field: "main" or "exports"; "" if there is none
	unread       bool   // it is a package.yaml, which is not read here but by the SDK
	namesSDK     bool   // the package depends on the SDK
}

// manifestAbove finds the manifest of a directory's package as the SDK does: in the directory or above.
func manifestAbove(directory string) (manifest, bool) {
	for dir := directory; ; dir = filepath.Dir(dir) {
		m := manifest{directory: dir}
		if b, err := os.ReadFile(filepath.Join(dir, "package.json")); err == nil {
			m.entry, m.field = entryOf(b)
			m.namesSDK = dependsOnSDK(b)
			return m, true
		}
		if files.IsThere(filepath.Join(dir, "package.yaml")) {
			m.unread = true
			return m, true
		}
		if dir == filepath.Dir(dir) {
			return manifest{}, false
		}
	}
}

// dependsOnSDK reports whether the SDK is among the dependencies of a package.json.
func dependsOnSDK(text []byte) bool {
	var file struct{ Dependencies, DevDependencies, OptionalDependencies, PeerDependencies map[string]any }
	if json.Unmarshal(text, &file) != nil {
		return false
	}
	for _, group := range []map[string]any{file.Dependencies, file.DevDependencies, file.OptionalDependencies, file.PeerDependencies} {
		if _, named := group["@pulumi/pulumi"]; named {
			return true
		}
	}
	return false
}

// entryOf returns the program that a package.json names, and the field with its name: `exports`, else `main`.
func entryOf(text []byte) (entry, field string) {
	var file struct {
		Main    any
		Exports any
	}
	if json.Unmarshal(text, &file) != nil {
		return "", ""
	}
	at := file.Exports
	if paths, is := at.(map[string]any); is {
		at = paths["."]
	}
	if conditions, is := at.(map[string]any); is {
		at = cmp.Or(conditions["default"], conditions["require"], conditions["import"])
	}
	if entry, is := at.(string); is {
		return entry, "exports"
	}
	if entry, is := file.Main.(string); is && file.Exports == nil && entry != "" {
		return entry, "main"
	}
	return "", ""
}

// hasModule reports whether Node.js or its loader for TypeScript finds a module at a path, which may lack its extension. The module of a
// directory is the main of its package.json, else its index.
func hasModule(path string) bool {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		main := mainOf(path)
		return main != "" && main != "." && hasModule(filepath.Join(path, main)) || hasFile(filepath.Join(path, "index"))
	}
	return hasFile(path)
}

func hasFile(path string) bool {
	return slices.ContainsFunc(extensions[:], func(extension string) bool {
		info, err := os.Stat(path + extension)
		return err == nil && !info.IsDir()
	})
}

// mainOf returns the main of a directory's package.json, "" if it has none.
func mainOf(directory string) string {
	b, err := os.ReadFile(filepath.Join(directory, "package.json"))
	if err != nil {
		return ""
	}
	var file struct {
		Main string `json:"main"`
	}
	if json.Unmarshal(b, &file) != nil {
		return ""
	}
	return file.Main
}
