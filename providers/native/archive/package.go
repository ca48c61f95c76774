// Package archive is the built-in provider of the package "archive": zip and tar files of contents, files and
// directories. It has the shapes and rules of the public package of that name, and its archives have the same bytes.
// Relative paths are relative to the program's directory.
//
// Invariant: the same contents and modes always give the same bytes; an archive is never half written.
package archive

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

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
			return native.Found{Exists: true, ID: made["outputSha"].AsString(), Outputs: made}, nil
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
