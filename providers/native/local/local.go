// Package local is the built-in provider of the package "local": files on this machine, with the shapes and rules of the
// public package of that name. Relative paths are relative to the program's directory.
//
// Invariant: a file whose content has changed counts as vanished, and is written again.
package local

import (
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/native"
	"github.com/sluice-iac/sluice/urn"
)

// Name is the package's name.
const Name = "local"

// Package describes the package.
func Package(o native.Options) native.Package {
	d := disk{options: o}
	return native.Package{
		Name: Name, Version: "0.1.6", Doc: "Files on this machine.",
		Resources: []native.Resource{
			d.file("local:index/file:File", "0777", false), d.file("local:index/sensitiveFile:SensitiveFile", "0700", true),
		},
		Functions: []native.Function{
			d.get("local:index/getFile:getFile", false), d.get("local:index/getSensitiveFile:getSensitiveFile", true),
		},
	}
}

type disk struct{ options native.Options }

func text(name, doc string) native.Field {
	return native.Field{Name: name, Type: native.Of(native.KindString), Doc: doc}
}

// contents returns the inputs for the content. Exactly one of them must be set.
func contents(sensitive bool) []native.Field {
	fields := []native.Field{
		text("content", "The content as text."), text("contentBase64", "The content in base64."),
		text("source", "A file whose content to take."),
	}
	if sensitive {
		fields[0].Secret, fields[1].Secret = true, true
		return fields
	}
	secret := text("sensitiveContent", "The content as text that is secret; the old way to say SensitiveFile.")
	secret.Secret, secret.Old = true, "SensitiveFile"
	return append(fields, secret)
}

func (d disk) file(typ urn.Type, mode string, sensitive bool) native.Resource {
	r := native.Resource{
		Type: typ, Doc: "A file with a given content.", Inputs: contents(sensitive), Computed: hashFields(),
		Create: d.create, Read: d.read,
		Delete: func(_ context.Context, c native.Call) error {
			// A replacement that no input demands is not compared, so that its new file is written first.
			if c.Successor.Has("filename") && d.isSamePath(c.Inputs, c.Successor) {
				return nil
			}
			return remove(d.options.Path(c.Inputs.Text("filename")))
		},
	}
	filename := text("filename", "Where the file is.")
	filename.Required = true
	directory, file := text("directoryPermission", "The mode of directories that are made for it, in octal digits."), text("filePermission", "Its mode, in octal digits.")
	directory.Default, file.Default = native.Text(mode), native.Text(mode)
	r.Inputs = append(r.Inputs, filename, directory, file)
	for i := range r.Inputs {
		r.Inputs[i].Replace = true
	}
	given := contents(sensitive)
	r.Check = func(in native.Values) []providers.CheckFailure { return check(in, given) }
	// A file that is written first to the same place would be deleted with the old file.
	r.Diff = func(c native.Call, answer *providers.DiffResponse) {
		answer.DeleteBeforeReplace = d.isSamePath(c.State, c.Inputs)
	}
	return r
}

func (d disk) isSamePath(a, b native.Values) bool {
	return d.options.Path(a.Text("filename")) == d.options.Path(b.Text("filename"))
}

// remove deletes a file that may be missing.
func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func check(in native.Values, given []native.Field) []providers.CheckFailure {
	var failures []providers.CheckFailure
	n := 0
	for _, f := range given {
		if !in.Value(f.Name).IsNull() {
			n++
		}
	}
	if n != 1 {
		failures = append(failures, providers.CheckFailure{
			Property: "content", Reason: "give exactly one of content, contentBase64, source and sensitiveContent",
		})
	}
	for _, name := range []string{"filePermission", "directoryPermission"} {
		if m, err := strconv.ParseUint(in.Text(name), 8, 32); in.Has(name) && (err != nil || m > 0o7777) {
			failures = append(failures, providers.CheckFailure{
				Property: name, Reason: fmt.Sprintf("%s is %q; write octal digits such as 0644", name, in.Text(name)),
			})
		}
	}
	return failures
}

func (d disk) content(in native.Values) ([]byte, error) {
	switch {
	case in.Has("contentBase64"):
		b, err := base64.StdEncoding.DecodeString(in.Text("contentBase64"))
		if err != nil {
			return nil, fmt.Errorf("contentBase64: %w", err)
		}
		return b, nil
	case in.Has("source"):
		return property.ReadFile(d.options.Path(in.Text("source")))
	}
	return []byte(in.Text("content") + in.Text("sensitiveContent")), nil
}

func mode(in native.Values, name string) fs.FileMode {
	m, _ := strconv.ParseUint(in.Text(name), 8, 32) // checked
	return fs.FileMode(m)
}

func (d disk) create(_ context.Context, c native.Call) (native.Made, error) {
	content, err := d.content(c.Inputs)
	if err != nil {
		return native.Made{}, err
	}
	path := d.options.Path(c.Inputs.Text("filename"))
	if err := os.MkdirAll(filepath.Dir(path), mode(c.Inputs, "directoryPermission")); err != nil {
		return native.Made{}, err
	}
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
		_ = os.Remove(path) // a file that is there keeps its mode when it is written
	}
	if err := os.WriteFile(path, content, mode(c.Inputs, "filePermission")); err != nil {
		return native.Made{}, err
	}
	outputs := hashes(content)
	return native.Made{ID: outputs["contentSha1"].AsString(), Outputs: outputs}, nil
}

func (d disk) read(_ context.Context, c native.Call) (native.Found, error) {
	content, err := property.ReadFile(d.options.Path(c.Inputs.Text("filename")))
	if errors.Is(err, fs.ErrNotExist) {
		return native.Found{Absent: true}, nil
	}
	return native.Found{Absent: hashes(content)["contentSha1"].AsString() != c.ID}, err
}

func hashFields() []native.Field {
	var out []native.Field
	for _, name := range []string{
		"contentBase64sha256", "contentBase64sha512", "contentMd5", "contentSha1", "contentSha256", "contentSha512",
	} {
		f := text(name, "A hash of the content.")
		f.Required = true
		out = append(out, f)
	}
	return out
}

func hashes(content []byte) native.Outputs {
	m, s1, s256, s512 := md5.Sum(content), sha1.Sum(content), sha256.Sum256(content), sha512.Sum512(content)
	return native.Outputs{
		"contentMd5": native.Text(hex.EncodeToString(m[:])), "contentSha1": native.Text(hex.EncodeToString(s1[:])),
		"contentSha256": native.Text(hex.EncodeToString(s256[:])), "contentSha512": native.Text(hex.EncodeToString(s512[:])),
		"contentBase64sha256": native.Text(base64.StdEncoding.EncodeToString(s256[:])),
		"contentBase64sha512": native.Text(base64.StdEncoding.EncodeToString(s512[:])),
	}
}

func (d disk) get(token string, sensitive bool) native.Function {
	needed := func(name, doc string) native.Field {
		f := text(name, doc)
		f.Required = true
		return f
	}
	filename := needed("filename", "Where the file is.")
	content, encoded := needed("content", "The content."), needed("contentBase64", "The content in base64.")
	content.Secret, encoded.Secret = sensitive, sensitive
	return native.Function{
		Token: token, Doc: "Reads a file.", Inputs: []native.Field{filename},
		Outputs: append(hashFields(), filename, content, encoded, needed("id", "The SHA-1 of the content.")),
		Call: func(_ context.Context, c native.Call) (native.Outputs, error) {
			b, err := property.ReadFile(d.options.Path(c.Inputs.Text("filename")))
			if err != nil {
				return nil, err
			}
			out := hashes(b)
			out["id"], out["content"] = out["contentSha1"], native.Text(string(b))
			out["contentBase64"] = native.Text(base64.StdEncoding.EncodeToString(b))
			return out, nil
		},
	}
}
