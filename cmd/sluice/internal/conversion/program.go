package conversion

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/dependencies"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/packages"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/plugins"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/templates"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/internal/text/similar"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/convert"
	"github.com/sluice-iac/sluice/source/engine"
)

// Options define the conversion of a program.
type Options struct {
	From         string   // the tool
	Language     string   // the target language; "pcl" for the converter's output
	Out          string   // the folder to write to
	Name         string   // of the project; "" is that of the converted project, or of the folder
	Mappings     []string // files with mappings of names
	Args         []string // for the converter
	Strict       bool
	GenerateOnly bool // install nothing
	Force        bool // write over files that exist
}

// pcl is the language that converters write and that generators read.
const pcl = "pcl"

// Program converts the program in the working directory.
func Program(ctx context.Context, t *terminal.Terminal, o Options) error {
	j, err := newJob(t, o)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	err = j.run(ctx)
	switch {
	case err == nil || ctx.Err() == nil:
		return err
	case j.written:
		return exit.Cancelledf("interrupted; the program is in %s, and `sluice install` in that folder installs what it needs", j.out)
	}
	return exit.Cancelledf("interrupted; nothing is written to %s", j.out)
}

// job is the conversion of a program.
type job struct {
	Options
	terminal *terminal.Terminal
	plugins  host.PluginOptions
	mappings map[string][]byte
	source   string // the absolute folder of the program
	out      string // the absolute folder to write to
	work     string // a temporary folder
	written  bool   // something has been written to out
}

// newJob checks the options.
func newJob(t *terminal.Terminal, o Options) (*job, error) {
	o.From, o.Language = Tool(o.From), runtimeOf(o.Language)
	switch {
	case o.Language == "":
		return nil, exit.Usagef("missing --language: write one of typescript, python, go, csharp, java, yaml or pcl")
	case o.From == "":
		return nil, exit.Usagef("missing --from: write one of yaml, terraform, pcl or another converter")
	case o.Name != "" && !workspace.IsProjectName(o.Name):
		return nil, exit.Usagef("--name: %q is not a project name: use up to 100 letters, digits, underscores, periods and hyphens", o.Name)
	}
	mapped, err := mappings(o.Mappings)
	if err != nil {
		return nil, err
	}
	places, err := plugins.Find(t)
	if err != nil {
		return nil, err
	}
	j := &job{Options: o, terminal: t, mappings: mapped, plugins: places.Options()}
	if j.source, err = os.Getwd(); err != nil {
		return nil, err
	}
	if j.out, err = filepath.Abs(o.Out); err != nil {
		return nil, err
	}
	if info, err := os.Stat(j.out); err == nil && !info.IsDir() {
		return nil, exit.Usagef("--out: %s is not a folder", o.Out)
	}
	return j, nil
}

// runtimeOf returns the runtime for a user's name of a language.
func runtimeOf(language string) string {
	name := packages.Language(language)
	if name == "pulumi" {
		return pcl
	}
	return name
}

// checkLanguage refuses a language for which there is no generator and whose name is similar to another one. Any other missing
// generator may be installed when it is needed.
func (j *job) checkLanguage() error {
	known := append([]string{pcl, "yaml", "typescript", "javascript", "csharp", "golang"}, packages.Languages()...)
	near := similar.Name(j.Language, known)
	if slices.Contains(known, j.Language) || near == "" {
		return nil
	}
	if _, err := j.plugins.Finder().Find(plugin.Language, j.Language, ""); err == nil || !errors.As(err, new(*plugin.MissingError)) {
		return err
	}
	return exit.Usagef("--language: unknown language %q; did you mean %s?", j.Language, near)
}

func (j *job) run(ctx context.Context) error {
	var err error
	if j.work, err = os.MkdirTemp("", "sluice-convert-"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(j.work) }() // the folder is temporary
	if err := j.checkLanguage(); err != nil {
		return err
	}
	given, err := j.toPCL(ctx)
	if err != nil {
		return err
	}
	if j.Language == pcl {
		return j.put(given)
	}
	written, err := j.generate(ctx, given)
	if err != nil {
		return j.keep(ctx, given, err)
	}
	return j.finish(ctx, written)
}

// toPCL converts the program, and returns the folder of the converter's output.
func (j *job) toPCL(ctx context.Context) (string, error) {
	if j.From == pcl {
		if !hasPCL(j.source) {
			return "", exit.Usagef("nothing to convert: there are no PCL files (*.pp) in %s", j.source)
		}
		return j.source, nil
	}
	given := filepath.Join(j.work, pcl)
	if err := os.Mkdir(given, 0o755); err != nil {
		return "", err
	}
	c, err := open(ctx, j.terminal, j.From, j.mappings, j.plugins)
	if err != nil {
		return "", err
	}
	said, err := c.Program(ctx, convert.Program{Directory: j.source, Target: given, Project: j.out, Args: j.Args})
	_ = c.Close() // an error of an ending plugin changes nothing
	if err != nil {
		return "", err
	}
	switch {
	case !show(j.terminal, said):
		return "", fmt.Errorf("the program could not be converted: %w", errReported)
	case j.Language == pcl && !isEmpty(given), hasPCL(given):
		return given, nil
	}
	return "", exit.Usagef("nothing to convert: the converter %s found no program in %s", j.From, j.source)
}

// generate writes the program in its language, and returns the folder with it.
func (j *job) generate(ctx context.Context, given string) (string, error) {
	fmt.Fprintf(j.terminal.Err, "Converting to %s\n", j.Language)
	project, name, err := projectOf(given, j.Name, workspace.ProjectNameFrom(filepath.Base(j.source)))
	if err != nil {
		return "", err
	}
	j.Name = name
	written := filepath.Join(j.work, "written")
	if err := os.Mkdir(written, 0o755); err != nil {
		return "", err
	}
	said, err := host.GenerateProgram(ctx, j.Language, convert.Generation{
		Directory: given, Target: written, Project: project, Strict: j.Strict,
	}, j.plugins)
	if err != nil {
		return "", err
	}
	if !show(j.terminal, said) {
		return "", fmt.Errorf("the program could not be written in the language %s: %w", j.Language, errReported)
	}
	if isEmpty(written) {
		return "", fmt.Errorf("pulumi-language-%s has written nothing; this is a bug in the plugin", j.Language)
	}
	if unpublished := parameterized(given); len(unpublished) > 0 {
		j.terminal.Warn("the program uses packages with parameters, for which there are no published SDKs: %s; "+
			"`sluice package add` generates them", strings.Join(unpublished, ", "))
	}
	return written, addAssets(given, written, j.out)
}

// keep copies the PCL of a program to a permanent folder, and adds the path to err. PCL that the user has written stays where it
// is.
func (j *job) keep(ctx context.Context, given string, err error) error {
	if missing := (*plugin.MissingError)(nil); errors.As(err, &missing) {
		err = withoutGenerator(missing)
	}
	if ctx.Err() != nil || j.From == pcl {
		return err
	}
	place, saveErr := savePCL(given, j.out)
	if saveErr != nil {
		return errors.Join(err, saveErr)
	}
	again := fmt.Sprintf("%s convert -C %s --from pcl --language %s --out %s", j.terminal.Command(), format.ShellQuote(place), j.Language, format.ShellQuote(j.out))
	if j.Name != "" {
		again += " --name " + format.ShellQuote(j.Name)
	}
	return fmt.Errorf("%w\nthe program is converted to PCL, which is in %s; to go on from there:\n  %s", err, place, again)
}

// withoutGenerator explains a missing language plugin. Some are published only as a part of Pulumi's command line.
func withoutGenerator(missing *plugin.MissingError) error {
	if !slices.Contains([]string{"nodejs", "python", "go"}, missing.Name) {
		return fmt.Errorf("programs in this language are written by its language plugin: %w", missing)
	}
	return fmt.Errorf("programs in this language are written by its language plugin: %v\n"+
		"it is a part of Pulumi's command line: unpack %s, and put pulumi-language-%s from there on your $PATH",
		missing, archive(), missing.Name)
}

// archive returns the address of Pulumi's command line, in the version that sluice is compatible with.
func archive() string {
	system, machine, ending := runtime.GOOS, runtime.GOARCH, "tar.gz"
	if machine == "amd64" {
		machine = "x64"
	}
	if system == "windows" {
		ending = "zip"
	}
	return fmt.Sprintf("https://get.pulumi.com/releases/sdk/pulumi-v%s-%s-%s.%s", engine.CompatibilityVersion, system, machine, ending)
}

// finish copies the program to the folder that the user chose, and installs its dependencies.
func (j *job) finish(ctx context.Context, written string) error {
	if err := j.put(written); err != nil {
		return err
	}
	if j.GenerateOnly {
		return nil
	}
	project, err := workspace.FindProject(j.out)
	if err != nil {
		return fmt.Errorf("the program is in %s, but what it needs is not installed: %w", j.out, err)
	}
	if err := install(ctx, j.terminal, project); err != nil {
		return fmt.Errorf("the program is in %s, but what it needs could not be installed: %w\n`sluice install` in that folder tries again", j.out, err)
	}
	return nil
}

// put copies files to the folder that the user chose.
func (j *job) put(from string) error {
	n, err := put(from, j.out, j.Force)
	if errors.As(err, new(*templates.ExistsError)) {
		return fmt.Errorf("nothing is written to %s: %w", j.out, err)
	}
	if err != nil {
		return fmt.Errorf("write to %s: %w", j.out, err)
	}
	j.written = true
	fmt.Fprintf(j.terminal.Out, "Wrote %s to %s\n", format.Files(n), j.out)
	return nil
}

// install installs the dependencies of a program.
func install(ctx context.Context, t *terminal.Terminal, projectFile string) error {
	project, err := workspace.ReadProject(projectFile)
	if err != nil {
		return err
	}
	directory, entry, err := source.Locate(project.Directory(), project.Main)
	if err != nil {
		return err
	}
	options, err := dependencies.Options(t, project)
	if err != nil {
		return err
	}
	return dependencies.Install(ctx, t, source.Project{
		Runtime: project.Runtime, Options: project.RuntimeOptions, Root: project.Directory(), Directory: directory, Entry: entry,
	}, options)
}

// projectOf returns the project file of a program in PCL as JSON, and the name of the project: chosen if it is set, else
// the name in the file, else otherwise.
func projectOf(folder, chosen, otherwise string) (text, name string, err error) {
	fields := map[string]any{}
	for _, file := range projectFiles {
		data, err := os.ReadFile(filepath.Join(folder, file))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", "", err
		}
		if err := yaml.Unmarshal(data, &fields); err != nil {
			return "", "", fmt.Errorf("the project file %s of the converted program: %w", file, err)
		}
		break
	}
	if fields == nil {
		fields = map[string]any{} // the file is empty
	}
	own, _ := fields["name"].(string)
	name = cmp.Or(chosen, own, otherwise)
	fields["name"] = name
	encoded, err := json.Marshal(fields)
	return string(encoded), name, err
}
