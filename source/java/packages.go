package java

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source/internal/sdk"
	"github.com/sluice-iac/sluice/stages"
)

// discovery is the class of the SDK that, with the argument "packages", prints the packages of the SDKs on the class path.
const discovery = "com.pulumi.bootstrap.internal.Main"

// Packages lists the packages of providers whose SDKs are on the program's class path (protocol.md 1.12). Like the language plugin it
// returns nothing if it cannot read them, for example from a program that does not compile: the run of the program reports the reason.
func (p *Program) Packages(ctx context.Context) ([]stages.Package, error) {
	b, java, err := p.prepare(ctx)
	if err != nil {
		return nil, err
	}
	printed, err := p.discover(ctx, b, java)
	if err != nil {
		return nil, err
	}
	var found []sdk.Manifest
	if json.Unmarshal([]byte(printed), &found) != nil {
		return nil, nil
	}
	var list []stages.Package
	for _, f := range found {
		if f.Resource && f.Name != "" {
			f.Version = strings.TrimSpace(f.Version)
			list = append(list, f.Package("", ""))
		}
	}
	sdk.Sort(list)
	return list, nil
}

// discover returns the SDK's output about the class path. If the SDK cannot be run, the result is any other text.
func (p *Program) discover(ctx context.Context, b build, java jdk) (string, error) {
	switch b.tool {
	case gradle:
		args, done, err := b.launch(discovery, []string{"packages"})
		if err != nil {
			return "", err
		}
		defer done()
		return p.output(ctx, b.executable, b.directory, args...)
	case jar:
		return p.output(ctx, java.java, p.project.Directory, "-cp", b.jar, discovery, "packages")
	}
	folder, err := os.MkdirTemp("", "sluice-java-")
	if err != nil {
		return "", fmt.Errorf("list the packages of %s: %w", p.project.Program(), err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	file := filepath.Join(folder, "classpath")
	_, err = p.output(ctx, b.executable, b.directory, append(slices.Clone(quiet), "dependency:build-classpath",
		"-Dmdep.outputFile="+file, "-Dmdep.includeScope=runtime")...)
	if err != nil {
		return "", err
	}
	path, err := os.ReadFile(file)
	if err != nil {
		return "", nil // Maven could not find the dependencies
	}
	return p.output(ctx, java.java, p.project.Directory, "-cp", strings.TrimSpace(string(path)), discovery, "packages")
}

// output returns the standard output of a command, whatever its exit status.
func (p *Program) output(ctx context.Context, executable, directory string, args ...string) (string, error) {
	stdout, _, _, err := plugin.Output(ctx, plugin.Command{
		Name: filepath.Base(executable), Executable: executable, Args: args, Directory: directory, Environment: os.Environ(),
	})
	return stdout, err
}
