package python

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/sluice-iac/sluice/internal/platform/files"
)

// listing finds the SDKs of packages in the files of a virtual environment. It finds what packages.py finds, without starting an interpreter,
// which would delay every run. It gives up wherever only the interpreter can know what is installed.
type listing struct{ found []installed }

// list returns the SDKs in an environment, as packages.py prints them. ok is false if only the interpreter can tell. directory is that of the
// program, in which Python looks, too.
func list(e environment, directory string) (found []installed, ok bool) {
	site, ok := sitePackages(e)
	if !ok {
		return nil, false
	}
	folders, ok := searched(site)
	if !ok {
		return nil, false
	}
	var l listing
	for _, folder := range append(folders, directory) {
		if !l.folder(folder) {
			return nil, false
		}
	}
	return l.found, true
}

// interpreterName matches the file of an interpreter, which has its version.
var interpreterName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^python(\d+\.\d+)$`) })

// sitePackages returns the folder in which an environment has its packages. ok is false if there may be more of them, or elsewhere.
func sitePackages(e environment) (site string, ok bool) {
	if e.folder == "" || os.Getenv("PYTHONPATH") != "" || os.Getenv("PYTHONSAFEPATH") != "" || !isClosed(filepath.Join(e.folder, "pyvenv.cfg")) {
		return "", false
	}
	places := []string{filepath.Join(e.folder, "Lib", "site-packages")}
	if runtime.GOOS != "windows" {
		if info, err := os.Lstat(filepath.Join(e.folder, "lib64")); err == nil && info.Mode()&fs.ModeSymlink == 0 {
			return "", false
		}
		var err error
		if places, err = filepath.Glob(filepath.Join(e.folder, "lib", "python*", "site-packages")); err != nil {
			return "", false // the name of the folder is a pattern
		}
	}
	if len(places) != 1 {
		return "", false
	}
	site = places[0]
	if real, err := filepath.EvalSymlinks(e.python); err != nil {
		return "", false
	} else if m := interpreterName().FindStringSubmatch(filepath.Base(real)); m != nil && filepath.Base(filepath.Dir(site)) != "python"+m[1] {
		return "", false
	}
	for _, customized := range []string{"sitecustomize", "sitecustomize.py"} {
		if files.IsThere(filepath.Join(site, customized)) {
			return "", false
		}
	}
	return site, true
}

// isClosed reports whether the configuration of a virtual environment leaves out what is installed outside of it.
func isClosed(config string) bool {
	text, err := os.ReadFile(config)
	if err != nil {
		return false
	}
	closed := false
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(line, "=")
		if strings.EqualFold(strings.TrimSpace(key), "include-system-site-packages") {
			closed = strings.EqualFold(strings.TrimSpace(value), "false")
		}
	}
	return closed
}

// searched returns a folder with packages, and those that the files in it add. ok is false if one of them runs code that may add any.
func searched(site string) (folders []string, ok bool) {
	entries, err := os.ReadDir(site)
	if err != nil {
		return nil, false
	}
	folders = []string{site}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".pth") || strings.HasPrefix(name, ".") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(site, name))
		if err != nil {
			return nil, false
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimRight(line, " \t\r\n")
			switch {
			case strings.TrimSpace(line) == "", strings.HasPrefix(line, "#"):
			case strings.HasPrefix(line, "import ") || strings.HasPrefix(line, "import\t"):
				if !isHarmless(name) {
					return nil, false
				}
			default:
				folder := filepath.FromSlash(line)
				if !filepath.IsAbs(folder) {
					folder = filepath.Join(site, folder)
				}
				if info, err := os.Stat(folder); err == nil && !info.IsDir() {
					return nil, false // an archive
				} else if err == nil && !slices.Contains(folders, folder) {
					folders = append(folders, folder)
				}
			}
		}
	}
	return folders, true
}

// isHarmless reports whether the code in a file of paths adds no distributions: that of setuptools and virtualenv, of packages that are installed
// from their sources, and of packages that share a namespace.
func isHarmless(name string) bool {
	return name == "distutils-precedence.pth" || name == "_virtualenv.pth" || strings.HasPrefix(name, "__editable__.") || strings.HasSuffix(name, "-nspkg.pth")
}

// folder adds the SDKs that are installed in a folder. It reports whether it can tell.
func (l *listing) folder(folder string) bool {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return false
	}
	for _, e := range entries {
		path, can := filepath.Join(folder, e.Name()), true
		switch lower := strings.ToLower(e.Name()); {
		case strings.HasSuffix(lower, ".dist-info"):
			can = l.distribution(folder, path)
		case strings.HasSuffix(lower, ".egg-info"):
			can = isNoSDK(path)
		case strings.HasSuffix(lower, ".egg"), lower == "egg-info":
			can = false // older forms
		}
		if !can {
			return false
		}
	}
	return true
}

// isSDKName reports whether the folder of a distribution has the name of an SDK.
func isSDKName(info string) bool {
	return strings.HasPrefix(strings.ReplaceAll(strings.ToLower(filepath.Base(info)), "_", "-"), "pulumi-")
}

// isNoSDK reports whether a distribution in the old form, which the sources of a program often have, is certainly no SDK.
func isNoSDK(info string) bool {
	sources, err := os.ReadFile(filepath.Join(info, "SOURCES.txt"))
	return err == nil && !isSDKName(info) && !bytes.Contains(sources, []byte(manifestName)) &&
		!files.IsThere(filepath.Join(info, "RECORD")) && !files.IsThere(filepath.Join(info, "installed-files.txt"))
}

// manifestName is the name of the file with the manifest of an SDK.
const manifestName = "pulumi-plugin.json"

// distribution adds the SDK that an installed distribution is, if it is one. It reports whether it can tell.
func (l *listing) distribution(folder, info string) bool {
	record, err := os.ReadFile(filepath.Join(info, "RECORD"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	manifest, ok := manifestIn(folder, string(record))
	switch {
	case !ok:
		return false
	case manifest == "" && !isSDKName(info):
		return true
	}
	f, ok := metadataOf(filepath.Join(info, "METADATA"))
	if !ok {
		return false
	}
	switch {
	case manifest != "":
		text, err := os.ReadFile(manifest)
		if err != nil || json.Unmarshal(text, &f.Manifest) != nil {
			return false
		}
	case !strings.HasPrefix(f.Distribution, "pulumi-") || f.Distribution == "pulumi-policy":
		return true
	default:
		f.Resource = true
	}
	l.found = append(l.found, f)
	return true
}

// manifestIn returns the manifest among the files of a distribution in a folder, "" if it has none. ok is false if the list cannot be read.
func manifestIn(folder, record string) (manifest string, ok bool) {
	for line := range strings.Lines(record) {
		if !strings.Contains(line, manifestName) {
			continue
		}
		path, _, _ := strings.Cut(strings.TrimSpace(line), ",")
		if strings.HasPrefix(path, `"`) {
			return "", false
		}
		file := filepath.Join(folder, filepath.FromSlash(path))
		if info, err := os.Stat(file); strings.Count(path, "/") == 1 && filepath.Base(file) == manifestName && err == nil && !info.IsDir() {
			return file, true
		}
	}
	return "", true
}

// metadataOf reads the name and the version of a distribution.
func metadataOf(file string) (f installed, ok bool) {
	opened, err := os.Open(file)
	if err != nil {
		return f, false
	}
	defer opened.Close()
	lines := bufio.NewScanner(opened)
	for lines.Scan() && lines.Text() != "" {
		key, value, _ := strings.Cut(lines.Text(), ":")
		switch value = strings.TrimSpace(value); {
		case strings.EqualFold(key, "Name") && f.Distribution == "":
			f.Distribution = strings.ReplaceAll(strings.ToLower(value), "_", "-")
		case strings.EqualFold(key, "Version") && f.Installed == "":
			f.Installed = value
		}
	}
	return f, lines.Err() == nil && f.Distribution != "" && f.Installed != ""
}

// release matches a version of PEP 440 in the forms that SDKs use.
var release = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^v?(\d+(?:\.\d+)*)(?:[._-]?(a|b|rc|alpha|beta|c)[._-]?(\d*))?(?:[._-]?(?:post|dev)[._-]?\d*)?(?:\+.*)?$`)
})

// preReleases are the names of pre-releases in semantic versions.
var preReleases = map[string]string{"a": "alpha", "alpha": "alpha", "b": "beta", "beta": "beta", "c": "rc", "rc": "rc"}

// semantic returns the semantic version from which the version of an installed package was made: "4.1.0a1" was "4.1.0-alpha.1". It returns
// "" for any other text.
func semantic(version string) string {
	m := release().FindStringSubmatch(strings.ToLower(version))
	if m == nil {
		return ""
	}
	parts := strings.Split(m[1], ".")
	for len(parts) < 3 {
		parts = append(parts, "0")
	}
	out := strings.Join(parts[:3], ".")
	if m[2] != "" {
		out += "-" + preReleases[m[2]]
		if m[3] != "" {
			out += "." + m[3]
		}
	}
	return out
}
