package java

import (
	"archive/zip"
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/source/internal/sdk"
)

// discovery is the class of the SDK that, with the argument "packages", prints the packages of the SDKs on the class path.
const discovery = "com.pulumi.bootstrap.internal.Main"

// used are the classes without which [discovery] prints nothing, itself first.
var used = []string{
	strings.ReplaceAll(discovery, ".", "/") + ".class", "com/google/gson/Gson.class", "com/google/common/reflect/ClassPath.class",
}

// errAskClass reports a class path about which only [discovery] itself can tell.
var errAskClass = errors.New("the class path has something that only Java can read")

// maxResource is the number of bytes of the largest plugin.json that is read.
const maxResource = 64 << 20

// manifests returns what [discovery] would print for a class path: of each folder com/…/NAME the plugin.json, and the version.txt in case that
// has no version. Like Java it takes the first file of a name, and ignores entries that do not exist. The error is errAskClass if the files are
// not of the usual form.
func manifests(classPath []string) ([]sdk.Manifest, error) {
	r := resources{texts: map[string]string{}}
	for _, entry := range classPath {
		if err := r.add(entry); err != nil {
			return nil, err
		}
	}
	switch {
	case !r.has[0]:
		return nil, nil // the program does not use the SDK
	case !r.has[1] || !r.has[2]:
		return nil, errAskClass
	}
	folders := map[string]bool{}
	for name := range r.texts {
		folders[path.Dir(name)] = true
	}
	var list []sdk.Manifest
	for folder := range folders {
		m, err := r.manifest(folder)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

// resources are the files of a class path that describe packages.
type resources struct {
	texts map[string]string // the contents by name
	has   [3]bool           // whether there is each of the used classes
	seen  []string          // the entries
}

// manifest returns the description of the package in a folder. What its plugin.json lacks comes from the folder.
func (r *resources) manifest(folder string) (sdk.Manifest, error) {
	var plugin struct {
		sdk.Manifest
		Name    *string `json:"name"`
		Version *string `json:"version"`
	}
	if text := strings.TrimSpace(r.texts[folder+"/plugin.json"]); text != "" && json.Unmarshal([]byte(text), &plugin) != nil {
		return sdk.Manifest{}, errAskClass // Gson accepts more than JSON
	}
	m := plugin.Manifest
	m.Name, m.Version = path.Base(folder), strings.TrimSpace(r.texts[folder+"/version.txt"])
	if plugin.Name != nil {
		m.Name = *plugin.Name
	}
	if plugin.Version != nil {
		m.Version = *plugin.Version
	}
	return m, nil
}

// add adds an entry of the class path, a jar or a folder, and those that the manifest of the jar names.
func (r *resources) add(entry string) error {
	if slices.Contains(r.seen, entry) {
		return nil
	}
	r.seen = append(r.seen, entry)
	info, err := os.Stat(entry)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return errAskClass
	case info.IsDir():
		return r.addAll(os.DirFS(entry))
	}
	jar, err := zip.OpenReader(entry)
	if err != nil {
		return errAskClass
	}
	defer func() { _ = jar.Close() }()
	var more []string
	for _, f := range jar.File {
		if strings.EqualFold(f.Name, "META-INF/MANIFEST.MF") {
			text, err := content(f.Open())
			if err != nil {
				return err
			}
			if more, err = named(filepath.Dir(entry), text); err != nil {
				return err
			}
			continue
		}
		if err := r.take(f.Name, f.Open); err != nil {
			return err
		}
	}
	for _, entry := range more {
		if err := r.add(entry); err != nil {
			return err
		}
	}
	return nil
}

// addAll adds a folder.
func (r *resources) addAll(folder fs.FS) error {
	return fs.WalkDir(folder, "com", func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return errAskClass
		case d.IsDir():
			return nil
		case !d.Type().IsRegular():
			return errAskClass // a link, perhaps to a folder
		}
		return r.take(name, func() (io.ReadCloser, error) { return folder.Open(name) })
	})
}

// take reads a file if it describes a package, and no other entry has had it.
func (r *resources) take(name string, open func() (io.ReadCloser, error)) error {
	if i := slices.Index(used, name); i >= 0 {
		r.has[i] = true
	}
	base := path.Base(name)
	if base != "plugin.json" && base != "version.txt" || !strings.HasPrefix(name, "com/") || strings.Count(name, "/") < 3 {
		return nil
	}
	if _, known := r.texts[name]; known {
		return nil
	}
	text, err := content(open())
	r.texts[name] = text
	return err
}

// content reads a file to its end.
func content(r io.ReadCloser, err error) (string, error) {
	if err != nil {
		return "", errAskClass
	}
	defer func() { _ = r.Close() }()
	text, err := io.ReadAll(io.LimitReader(r, maxResource))
	if err != nil {
		return "", errAskClass
	}
	return string(text), nil
}

// named returns the files that a jar's manifest names as its class path, relative to the directory of the jar.
func named(directory, manifest string) ([]string, error) {
	var value string
	var in bool
	lines := bufio.NewScanner(strings.NewReader(manifest))
	lines.Buffer(nil, maxResource)
	for lines.Scan() && lines.Text() != "" { // the first section is about the jar itself
		if rest, continued := strings.CutPrefix(lines.Text(), " "); continued {
			if in {
				value += rest
			}
			continue
		}
		name, text, _ := strings.Cut(lines.Text(), ": ")
		if in = strings.EqualFold(name, "Class-Path"); in {
			value = text
		}
	}
	if lines.Err() != nil {
		return nil, errAskClass
	}
	var list []string
	for _, field := range strings.Fields(value) {
		u, err := url.Parse(field)
		if err != nil || u.Scheme != "" && u.Scheme != "file" || u.Host != "" || u.Path == "" {
			return nil, errAskClass
		}
		if strings.Contains(u.Path, ":") {
			return nil, errAskClass // a drive of Windows
		}
		file := filepath.FromSlash(u.Path)
		if !filepath.IsAbs(file) {
			file = filepath.Join(directory, file)
		}
		list = append(list, filepath.Clean(file))
	}
	return list, nil
}
