// Package archive is the built-in provider of the package "archive": zip and tar files of contents, files and
// directories. It has the shapes and rules of the public package of that name, and its archives have the same bytes.
// Relative paths are relative to the program's directory.
//
// Invariant: the same contents and modes always give the same bytes; an archive is never half written.
package archive

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/internal/platform/files"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/native"
)

// Name is the package's name.
const Name = "archive"

// Package describes the package.
func Package(o native.Options) native.Package {
	d := disk{options: o}
	return native.Package{
		Name: Name, Version: "0.3.5", Doc: "Archives of files.",
		Resources: []native.Resource{d.file()}, Functions: []native.Function{d.get()},
	}
}

type disk struct{ options native.Options }

func text(name, doc string) native.Field {
	return native.Field{Name: name, Type: native.Of(native.KindString), Doc: doc}
}

func needed(f native.Field) native.Field { f.Required = true; return f }

// inputs returns the inputs of a resource or a function; source is the name of the type of a content.
func inputs(source string) []native.Field {
	fields := []native.Field{
		{Name: "excludes", Type: native.ArrayOf(native.Of(native.KindString)), Doc: "Patterns of paths in sourceDir to leave out: * stands for any text without a slash, ** for any path."},
		text("outputFileMode", "The mode of files in the archive, such as 0644; their own by default."),
		needed(text("outputPath", "Where the archive is.")),
		text("sourceContent", "The content of the only file."), text("sourceContentFilename", "The name of the only file."),
		text("sourceDir", "A directory to put into the archive."), text("sourceFile", "A file to put into the archive."),
		{
			Name: "sources", Doc: "Files to put into the archive.",
			Type: native.ArrayOf(native.Record("archive:index/"+source+":"+source, needed(text("content", "")), needed(text("filename", "")))),
		},
		needed(text("type", "zip or tar.gz.")),
	}
	for i := range fields {
		fields[i].Replace = true
	}
	return append(fields, native.Field{
		Name: "excludeSymlinkDirectories", Type: native.Of(native.KindBoolean), Doc: "Whether to leave out links to directories.",
	})
}

func outputs() []native.Field {
	fields := []native.Field{{Name: "outputSize", Type: native.Of(native.KindInteger), Doc: "How many bytes the archive has."}}
	for _, name := range []string{"outputMd5", "outputSha", "outputSha256", "outputBase64sha256", "outputSha512", "outputBase64sha512"} {
		fields = append(fields, text(name, "A hash of the archive."))
	}
	for i := range fields {
		fields[i].Required, fields[i].Derived = true, true
	}
	return fields
}

func (d disk) file() native.Resource {
	return native.Resource{
		Type: "archive:index/file:File", Doc: "An archive, which is written when the resource is made, changed or refreshed, and never deleted.",
		Inputs: inputs("FileSource"), Computed: outputs(), Check: check, Diff: forgetOrder,
		Create: func(_ context.Context, c native.Call) (native.Made, error) {
			made, err := d.write(c.Inputs)
			if err != nil {
				return native.Made{}, err
			}
			return native.Made{ID: made["outputSha"].AsString(), Outputs: made}, nil
		},
		Update: func(_ context.Context, c native.Call) (native.Outputs, error) { return d.write(c.Inputs) },
		Read: func(_ context.Context, c native.Call) (native.Found, error) {
			made, err := d.write(c.Inputs)
			if err != nil {
				return native.Found{}, err
			}
			return native.Found{ID: made["outputSha"].AsString(), Outputs: made}, nil
		},
	}
}

func (d disk) get() native.Function {
	in := inputs("getFileSource")
	return native.Function{
		Token: "archive:index/getFile:getFile", Doc: "Writes an archive, in previews too.",
		Inputs: in, Outputs: append(append(outputs(), needed(text("id", "The SHA-1 of the archive."))), in...),
		Call: func(_ context.Context, c native.Call) (native.Outputs, error) {
			var reasons []error
			for _, f := range check(c.Inputs) {
				reasons = append(reasons, errors.New(f.Reason))
			}
			if err := errors.Join(reasons...); err != nil {
				return nil, err
			}
			made, err := d.write(c.Inputs)
			if err == nil {
				made["id"] = made["outputSha"]
			}
			return made, err
		},
	}
}

// members lists the files that the inputs define, in the order in which they are written.
func (d disk) members(in native.Values) ([]member, error) {
	switch {
	case in.Has("sourceDir"):
		w := walk{excludes: in.Texts("excludes"), follow: !in.Bool("excludeSymlinkDirectories")}
		w.output, _ = os.Stat(d.options.Path(in.Text("outputPath"))) // it may be missing
		if err := w.directory("", d.options.Path(in.Text("sourceDir"))); err != nil {
			return nil, err
		}
		if len(w.found) == 0 {
			return nil, fmt.Errorf("the archive of %s would be empty", in.Text("sourceDir"))
		}
		return w.found, nil
	case in.Has("sourceFile"):
		path := d.options.Path(in.Text("sourceFile"))
		info, err := os.Stat(path)
		if err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s is not a file", path)
		}
		return []member{{name: filepath.Base(path), path: path, info: info}}, err
	case in.Has("sourceContentFilename"):
		return []member{{name: filepath.ToSlash(in.Text("sourceContentFilename")), content: in.Text("sourceContent")}}, nil
	}
	contents := map[string]string{}
	for _, s := range in.List("sources") {
		contents[s.AsMap().At("filename").AsString()] = s.AsMap().At("content").AsString()
	}
	var out []member
	for name, content := range contents {
		out = append(out, member{name: filepath.ToSlash(name), content: content})
	}
	slices.SortFunc(out, func(a, b member) int { return strings.Compare(a.name, b.name) })
	return out, nil
}

// write makes the archive and returns its outputs.
func (d disk) write(in native.Values) (native.Outputs, error) {
	members, err := d.members(in)
	if err != nil {
		return nil, err
	}
	path := d.options.Path(in.Text("outputPath"))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	var outputs native.Outputs
	err = files.Replace(path, 0o644, func(f *os.File) (err error) {
		outputs, err = fill(f, in, members)
		return err
	})
	if err != nil {
		return nil, err
	}
	return outputs, nil
}

// fill writes the archive and computes its hashes.
func fill(f *os.File, in native.Values, members []member) (native.Outputs, error) {
	m5, s1, s256, s512 := md5.New(), sha1.New(), sha256.New(), sha512.New()
	to := io.MultiWriter(f, m5, s1, s256, s512)
	m, err := mode(in)
	if err != nil {
		return nil, err
	}
	if in.Text("type") == "zip" {
		err = writeZip(to, members, fs.FileMode(m))
	} else {
		err = writeTar(to, members, int64(m))
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	encode := base64.StdEncoding.EncodeToString
	return native.Outputs{
		"outputSize": native.Int(info.Size()), "outputMd5": native.Text(hex.EncodeToString(m5.Sum(nil))),
		"outputSha":    native.Text(hex.EncodeToString(s1.Sum(nil))),
		"outputSha256": native.Text(hex.EncodeToString(s256.Sum(nil))), "outputBase64sha256": native.Text(encode(s256.Sum(nil))),
		"outputSha512": native.Text(hex.EncodeToString(s512.Sum(nil))), "outputBase64sha512": native.Text(encode(s512.Sum(nil))),
	}, nil
}

func writeZip(to io.Writer, members []member, mode fs.FileMode) error {
	z := zip.NewWriter(to)
	for _, m := range members {
		if err := addToZip(z, m, mode); err != nil {
			return err
		}
	}
	return z.Close()
}

func addToZip(z *zip.Writer, m member, mode fs.FileMode) error {
	if m.info == nil {
		w, err := z.Create(m.name)
		if err != nil {
			return err
		}
		_, err = io.WriteString(w, m.content)
		return err
	}
	h, err := zip.FileInfoHeader(m.info)
	if err != nil {
		return err
	}
	h.Name, h.Method = m.name, zip.Deflate
	//lint:ignore SA1019 the public package has these bytes for no time
	h.SetModTime(time.Time{})
	if mode != 0 {
		h.SetMode(mode)
	}
	w, err := z.CreateHeader(h)
	if err != nil {
		return err
	}
	return m.copyTo(w)
}

func writeTar(to io.Writer, members []member, mode int64) error {
	z := gzip.NewWriter(to)
	t := tar.NewWriter(z)
	for _, m := range members {
		h := &tar.Header{Name: m.name, Size: int64(len(m.content))}
		if m.info != nil {
			h.Size, h.Mode = m.info.Size(), int64(m.info.Mode())
		}
		if mode != 0 {
			h.Mode = mode
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if err := m.copyTo(t); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), z.Close())
}

func check(in native.Values) []providers.CheckFailure {
	var failures []providers.CheckFailure
	fail := func(name, format string, args ...any) {
		failures = append(failures, providers.CheckFailure{Property: name, Reason: fmt.Sprintf(format, args...)})
	}
	given := func(name string) bool { return !in.Value(name).IsNull() }
	n := 0
	for _, name := range []string{"sources", "sourceContentFilename", "sourceFile", "sourceDir"} {
		if given(name) {
			n++
		}
	}
	if n != 1 {
		fail("sources", "give exactly one of sources, sourceContentFilename with sourceContent, sourceFile and sourceDir")
	}
	if given("sourceContent") != given("sourceContentFilename") {
		fail("sourceContent", "sourceContent and sourceContentFilename go together")
	}
	if given("excludes") && (given("sourceFile") || given("sourceContentFilename")) {
		fail("excludes", "excludes is for sourceDir")
	}
	if t := in.Text("type"); in.Has("type") && t != "zip" && t != "tar.gz" {
		fail("type", "type is %q; there are zip and tar.gz", t)
	}
	if _, err := mode(in); err != nil {
		fail("outputFileMode", "outputFileMode is %q; write octal digits such as 0644", in.Text("outputFileMode"))
	}
	return failures
}

// mode returns the mode of the files in the archive; 0 keeps the mode of each file.
func mode(in native.Values) (uint32, error) {
	if in.Text("outputFileMode") == "" {
		return 0, nil
	}
	m, err := strconv.ParseUint(in.Text("outputFileMode"), 0, 32)
	return uint32(m), err
}

// forgetOrder removes the differences of lists that differ only in their order.
func forgetOrder(c native.Call, answer *providers.DiffResponse) {
	for _, name := range []string{"excludes", "sources"} {
		if sameElements(c.State.List(name), c.Inputs.List(name)) && !c.Inputs.Value(name).IsUnknown() {
			native.Forget(answer, name)
		}
	}
}

func sameElements(a, b []property.Value) bool {
	has := func(l []property.Value, v property.Value) bool {
		return slices.ContainsFunc(l, func(other property.Value) bool { return property.Equal(v, other) })
	}
	lacks := func(l []property.Value) func(property.Value) bool {
		return func(v property.Value) bool { return v.HasUnknowns() || !has(l, v) }
	}
	return !slices.ContainsFunc(a, lacks(b)) && !slices.ContainsFunc(b, lacks(a))
}
