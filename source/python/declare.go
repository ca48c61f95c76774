package python

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"

	"github.com/sluice-iac/sluice/internal/platform/files"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
)

// pyproject is the file with the dependencies of a program for uv and poetry.
type pyproject struct {
	Project projectTable `toml:"project"`
	Tool    toolTable    `toml:"tool"`
}

type projectTable struct {
	Name           string   `toml:"name"`
	Version        string   `toml:"version"`
	RequiresPython string   `toml:"requires-python,omitempty"`
	Dependencies   []string `toml:"dependencies"`
}

// toolTable contains the setting that the program itself is not a package to install. uv needs no setting: the build system is missing.
type toolTable struct {
	Poetry struct {
		PackageMode bool `toml:"package-mode"`
	} `toml:"poetry"`
}

// declare makes a pyproject.toml beside the requirements.txt of a program that has none, because uv and poetry read only a pyproject.toml.
// The requirements.txt stays (decision 0034).
func declare(ctx context.Context, p source.Project, t toolchain, output func(plugin.Line)) error {
	folder := required(p.Directory)
	if folder == "" || checkDeclared(p, t) == nil {
		return nil // there is no requirements.txt, or it is not needed
	}
	old, made := filepath.Join(folder, "requirements.txt"), filepath.Join(folder, "pyproject.toml")
	text, err := os.ReadFile(old)
	if err != nil {
		return err
	}
	file := pyproject{Project: projectTable{Name: packageName(folder), Version: "0.1.0", RequiresPython: presentPython(ctx)}}
	if file.Project.Dependencies, err = requirements(string(text)); err != nil {
		return fmt.Errorf("%s: %w", old, err)
	}
	var b bytes.Buffer
	enc := toml.NewEncoder(&b)
	enc.Indent = ""
	if err := enc.Encode(file); err != nil {
		return err
	}
	if err := os.WriteFile(made, b.Bytes(), 0o666); err != nil {
		return err
	}
	if output != nil {
		output(plugin.Line{Piece: plugin.Piece{Text: fmt.Sprintf("made %s from requirements.txt; %s reads only the former: keep what the program needs there", made, t)}})
	}
	return nil
}

// required returns the folder with the requirements.txt of a program: its own or one above, within its repository; "" if there is none.
func required(directory string) string {
	for dir := directory; ; dir = filepath.Dir(dir) {
		switch {
		case files.IsThere(filepath.Join(dir, "requirements.txt")):
			return dir
		case files.IsThere(filepath.Join(dir, ".git")) || dir == filepath.Dir(dir):
			return ""
		}
	}
}

// comment matches a comment in requirements.txt: a number sign at the beginning or after a space.
var comment = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|\s)#.*$`) })

// requirements returns the requirements of a requirements.txt. It refuses options, files and addresses, which the list of a pyproject.toml
// cannot contain.
func requirements(text string) ([]string, error) {
	list := []string{}
	for i, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		line = strings.TrimSpace(comment().ReplaceAllString(line, ""))
		switch {
		case line == "":
		case strings.HasPrefix(line, "-") || strings.HasPrefix(line, ".") || strings.HasPrefix(line, "/") || strings.HasSuffix(line, "\\") || strings.Contains(line, " --"):
			return nil, fmt.Errorf("line %d, `%s`, is more than the name of a package and its versions; write a pyproject.toml by hand", i+1, line)
		default:
			list = append(list, line)
		}
	}
	return list, nil
}

var notInPackageNames = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^A-Za-z0-9._-]+`) })

// packageName returns a name for the package in a folder.
func packageName(folder string) string {
	if name := strings.Trim(notInPackageNames().ReplaceAllString(filepath.Base(folder), "-"), "-._"); name != "" {
		return name
	}
	return "program"
}

// presentPython returns the version range that begins with the Python on the PATH, "" if there is none: poetry and uv fetch others.
func presentPython(ctx context.Context) string {
	path, err := ambient()
	if err != nil {
		return ""
	}
	out, err := exec.CommandContext(ctx, path, "-c", "import sys; print('>=%d.%d' % sys.version_info[:2])").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
