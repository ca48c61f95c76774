package functions

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source/yaml/internal/values"
)

// callPlain calls a function whose arguments are known and have no marks. If secret is true, mistakes must not show the arguments.
func callPlain(name string, args []property.Value, directory string, secret bool) (property.Value, *Mistake) {
	switch name {
	case "fn::join":
		return join(args[0], args[1])
	case "fn::toJSON":
		return toJSON(args[0])
	case "fn::toYAML":
		return toYAML(args[0])
	}
	for i, a := range args {
		if !a.IsString() {
			return wants(name, i, "a string", a)
		}
	}
	s := args[0].AsString()
	switch name {
	case "fn::split":
		var parts []property.Value
		for _, part := range strings.Split(args[1].AsString(), s) {
			parts = append(parts, property.String(part))
		}
		return property.ArrayOf(parts...), nil
	case "fn::toBase64":
		return encoded(base64.StdEncoding.EncodeToString([]byte(s)))
	case "fn::fromBase64":
		return fromBase64(s)
	case "fn::fromJSON":
		return fromJSON(s, secret)
	case "fn::sha1":
		sum := sha1.Sum([]byte(s))
		return property.String(hex.EncodeToString(sum[:])), nil
	case "fn::readFile", "fn::filebase64", "fn::filebase64sha256":
		if !filepath.IsAbs(s) {
			s = filepath.Join(directory, s)
		}
		return readFile(name, s, secret)
	case "fn::stringAsset":
		return property.TextAsset(s), nil
	case "fn::fileAsset":
		return property.PathAsset(s), nil
	case "fn::remoteAsset":
		return property.URIAsset(s), nil
	case "fn::fileArchive":
		return property.PathArchive(s), nil
	case "fn::remoteArchive":
		return property.URIArchive(s), nil
	}
	panic("the function " + name + " is not implemented")
}

func join(separator, list property.Value) (property.Value, *Mistake) {
	if !separator.IsString() && !separator.IsNull() {
		return wants("fn::join", 0, "a string", separator)
	}
	if !list.IsArray() {
		return wants("fn::join", 1, "a list of strings", list)
	}
	var parts []string
	size := 0
	for i, item := range list.AsArray().All() {
		if !item.IsString() {
			text := fmt.Sprintf("fn::join takes a list of strings, and element %d is %s", i, values.Describe(item))
			return property.Null, &Mistake{Argument: 1, Element: i, Text: text}
		}
		parts = append(parts, item.AsString())
		if size += len(item.AsString()) + len(separator.AsString()); size > values.MaxSize {
			return property.Null, &Mistake{Argument: 1, Element: i, Text: fmt.Sprintf("the text becomes longer than %d MiB here", values.MaxSize>>20)}
		}
	}
	return property.String(strings.Join(parts, separator.AsString())), nil
}

func toJSON(v property.Value) (property.Value, *Mistake) {
	x, ok := property.ToGo(v)
	if !ok {
		return wrong(0, "fn::toJSON takes data, and there is an asset or a resource in it")
	}
	b, err := json.Marshal(x)
	if err != nil {
		return wrong(0, "fn::toJSON: %v", err)
	}
	return encoded(string(bytes.TrimSpace(b)))
}

// toYAML writes data as a document of YAML. The keys of objects are sorted.
func toYAML(v property.Value) (property.Value, *Mistake) {
	x, ok := property.ToGo(v)
	if !ok {
		return wrong(0, "fn::toYAML takes data, and there is an asset or a resource in it")
	}
	var b strings.Builder
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(x); err != nil {
		return wrong(0, "fn::toYAML: %v", err)
	}
	return encoded(b.String())
}

// fromJSON reads a document of JSON. If the text is secret, the mistake does not contain it.
func fromJSON(s string, secret bool) (property.Value, *Mistake) {
	var x any
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	err := d.Decode(&x)
	if err == nil && d.More() {
		err = errors.New("there is more text after the value")
	}
	var v property.Value
	if err == nil {
		x, err = exactNumbers(x)
	}
	if err == nil {
		v, err = property.FromGo(x)
	}
	switch {
	case err == nil:
		return v, nil
	case secret:
		return wrong(0, "what fn::fromJSON reads is not JSON; it is secret, so it is not shown where")
	}
	return wrong(0, "fn::fromJSON: %v", err)
}

// exactNumbers converts the numbers in decoded JSON. Numbers are float64 everywhere, which cannot hold all large integers.
func exactNumbers(x any) (any, error) {
	var err error
	switch x := x.(type) {
	case json.Number:
		if i, notInteger := x.Int64(); notInteger == nil && int64(float64(i)) != i {
			return nil, fmt.Errorf("the number %s is too large to be kept exactly; put it in quotes", x)
		}
		return x.Float64()
	case []any:
		for i := range x {
			if x[i], err = exactNumbers(x[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(x)) {
			if x[k], err = exactNumbers(x[k]); err != nil {
				return nil, err
			}
		}
	}
	return x, nil
}

// encoded limits the size of an encoding: encodings of encodings grow without end.
func encoded(text string) (property.Value, *Mistake) {
	if len(text) > values.MaxSize {
		return wrong(0, "the text becomes longer than %d MiB here", values.MaxSize>>20)
	}
	return property.String(text), nil
}

func fromBase64(s string) (property.Value, *Mistake) {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return wrong(0, "fn::fromBase64: %v", err)
	}
	if !utf8.Valid(b) {
		return wrong(0, "what fn::fromBase64 decodes is not text in UTF-8")
	}
	return property.String(string(b)), nil
}

// readFile reads a file. If the path is secret, the mistake does not contain it.
func readFile(name, path string, secret bool) (property.Value, *Mistake) {
	text, err := encodeFile(name, path)
	if failure := (*fs.PathError)(nil); secret && errors.As(err, &failure) {
		err = failure.Err
	}
	if err != nil {
		return wrong(0, "%s: %v", name, err)
	}
	return property.String(text), nil
}

func encodeFile(name, path string) (string, error) {
	if name == "fn::filebase64sha256" {
		return hashFile(path)
	}
	b, err := property.ReadFile(path)
	if err != nil {
		return "", err
	}
	if name == "fn::filebase64" {
		return base64.StdEncoding.EncodeToString(b), nil
	}
	return string(b), nil
}

// hashFile reads a file of any size.
func hashFile(path string) (string, error) {
	f, err := property.AssetReader{}.Open(context.Background(), property.Asset{Kind: property.KindPath, Path: path})
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(sum.Sum(nil)), nil
}
