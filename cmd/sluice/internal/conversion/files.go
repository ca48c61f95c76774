package conversion

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/templates"
)

// projectFiles are the names of project files. The project file of a program in PCL is not copied to its translation.
var projectFiles = []string{"Pulumi.yaml", "Pulumi.yml", "Pulumi.json"}

// put copies the files of a folder to another one, and returns how many there are. If files with other content exist there and
// force is not set, it copies nothing and returns a [*templates.ExistsError]. For a link it copies the file that the link leads
// to.
func put(from, to string, force bool) (int, error) {
	files, err := list(from, to)
	if err != nil {
		return 0, err
	}
	var there []string
	for _, name := range files {
		same, err := areSame(filepath.Join(from, name), filepath.Join(to, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || !same {
			there = append(there, name)
		}
	}
	if len(there) > 0 && !force {
		return 0, &templates.ExistsError{Files: there}
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return 0, err
	}
	for _, name := range files {
		if err := copyFile(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
			return 0, err
		}
	}
	return len(files), nil
}

// list returns the relative paths of the files in a folder, in ascending order. It leaves out the folder except, and files of
// version control systems.
func list(folder, except string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != folder && (path == except || d.Name() == ".git"):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			return fmt.Errorf("%s: not a regular file", path)
		}
		name, err := filepath.Rel(folder, path)
		files = append(files, name)
		return err
	})
	slices.Sort(files)
	return files, err
}

// areSame reports whether two files have the same content.
func areSame(a, b string) (bool, error) {
	other, err := os.ReadFile(b)
	if err != nil {
		return false, err
	}
	one, err := os.ReadFile(a)
	return bytes.Equal(one, other), err
}

// copyFile copies a file with its permissions. It does nothing if both are the same.
func copyFile(from, to string) error {
	if same, err := areSame(from, to); same && err == nil {
		return nil
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was only read
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, info.Mode().Perm()|0o200)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// addAssets copies to a generated program the files of the program in PCL that are neither PCL nor the project file. It keeps
// files that the generator has written.
func addAssets(given, written, out string) error {
	files, err := list(given, out)
	if err != nil {
		return err
	}
	for _, name := range files {
		to := filepath.Join(written, name)
		if isPCL(name) || slices.Contains(projectFiles, name) {
			continue
		}
		if _, err := os.Lstat(to); err == nil {
			continue
		}
		if err := copyFile(filepath.Join(given, name), to); err != nil {
			return err
		}
	}
	return nil
}

// savePCL copies PCL to a new folder below out, and returns its path.
func savePCL(given, out string) (string, error) {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return "", err
	}
	place := filepath.Join(out, pcl)
	err := os.Mkdir(place, 0o755)
	if errors.Is(err, fs.ErrExist) {
		place, err = os.MkdirTemp(out, pcl+"-")
	}
	if err != nil {
		return "", err
	}
	_, err = put(given, place, false)
	return place, err
}

func isPCL(name string) bool { return strings.EqualFold(filepath.Ext(name), ".pp") }

// hasPCL reports whether a folder has PCL files that are not empty.
func hasPCL(folder string) bool {
	files, _ := list(folder, "") // a partial list is enough
	return slices.ContainsFunc(files, func(name string) bool {
		text, err := os.ReadFile(filepath.Join(folder, name))
		return isPCL(name) && err == nil && len(bytes.TrimSpace(text)) > 0
	})
}

// parameterizedPackage matches the declaration of a package with a parameter.
var parameterizedPackage = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^package\s+"?([^"\s{]+)"?\s*\{[^{}]*\bparameterization\s*\{`)
})

// parameterized returns the names of the packages that the PCL in a folder declares with parameters.
func parameterized(folder string) []string {
	files, _ := list(folder, "") // a partial list is enough
	var names []string
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(folder, file))
		if err != nil || !isPCL(file) {
			continue
		}
		for _, found := range parameterizedPackage().FindAllStringSubmatch(string(text), -1) {
			names = append(names, found[1])
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// isEmpty reports whether there is no file in a folder.
func isEmpty(folder string) bool {
	files, err := list(folder, "")
	return err == nil && len(files) == 0
}
