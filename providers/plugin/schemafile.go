package plugin

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/sluice-iac/sluice/internal/platform/files"
	"github.com/sluice-iac/sluice/providers"
)

// rememberedSchema is a file with the schema that an installed plugin has returned: a header line, and the schema. The reference
// implementation keeps its own files in the folder above. It also uses them for plugins that are not installed, so they are not
// read here.
type rememberedSchema struct {
	path  string // "" if the schema cannot be stored
	about schemaHeader
}

// schemaHeader identifies the executable that returned the schema, in its state at that time. See [headerOf].
type schemaHeader struct {
	Executable string `json:"executable"`
	Size       int64  `json:"size"`
	Modified   int64  `json:"modified"`  // nanoseconds
	Installed  int64  `json:"installed"` // when its folder was last changed
	SHA256     string `json:"sha256"`    // of the schema
}

// schemaFile returns the file for the schema of a plugin with the parameters of spec and extensions.
func schemaFile(home string, at Location, spec providers.Spec, extensions []providers.ParameterizeRequest) rememberedSchema {
	about, known := headerOf(at)
	if !known || home == "" {
		return rememberedSchema{}
	}
	name := filepath.Base(at.Directory)
	if p := spec.Parameterization; p != nil {
		name += "-" + digest(spec.Package, spec.Version, p.Value)
	}
	for _, e := range extensions {
		name += "-" + digest(e.Name, e.Version, e.Value)
	}
	return rememberedSchema{path: filepath.Join(home, "schemas", "sluice", name+".schema"), about: about}
}

// headerOf describes the present executable of an installed plugin. known is false if it cannot be looked at.
func headerOf(at Location) (h schemaHeader, known bool) {
	executable, err1 := os.Stat(at.Executable)
	folder, err2 := os.Stat(at.Directory)
	if err1 != nil || err2 != nil {
		return schemaHeader{}, false
	}
	return schemaHeader{
		Executable: at.Executable, Size: executable.Size(), Modified: executable.ModTime().UnixNano(), Installed: folder.ModTime().UnixNano(),
	}, true
}

func digest(name, version string, value []byte) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\x00%s\x00", name, version)
	sum.Write(value)
	return hex.EncodeToString(sum.Sum(nil)[:12])
}

func checksum(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// read returns the schema, if the file is whole and the plugin unchanged.
func (r rememberedSchema) read() (string, bool) {
	f, err := os.Open(r.path)
	if err != nil {
		return "", false
	}
	defer func() { _ = f.Close() }() // it is only read
	content, err := io.ReadAll(io.LimitReader(f, MaxMessageSize))
	if err != nil {
		return "", false
	}
	line, schema, found := strings.Cut(string(content), "\n")
	var about schemaHeader
	if !found || json.Unmarshal([]byte(line), &about) != nil {
		return "", false
	}
	want := r.about
	want.SHA256 = checksum(schema)
	return schema, about == want
}

// write replaces the file, if the schema is valid. Other processes may read or write it at the same time.
func (r rememberedSchema) write(schema string) error {
	if r.path == "" || !json.Valid([]byte(schema)) {
		return nil
	}
	about := r.about
	about.SHA256 = checksum(schema)
	line, err := json.Marshal(about)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(r.path), 0o700); err != nil {
		return err
	}
	return files.ReplacePrivate(r.path, files.Content([]byte(string(line)+"\n"+schema)))
}
