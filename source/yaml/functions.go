package yaml

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
	"github.com/sluice-iac/sluice/source/yaml/internal/syntax"
)

// call evaluates a function of the language (protocol.md 11.7).
func (e *evaluation) call(c *ast.Call) (property.Value, error) {
	args, err := e.evalAll(c.Args)
	if err != nil {
		return property.Null, err
	}
	switch c.Function {
	case "fn::secret":
		return peeled{secret: true}.wrap(args[0]), nil
	case "fn::unsecret":
		return args[0].StripSecrets(), nil
	case "fn::select":
		return e.selected(c, args)
	case "fn::singleOrNone":
		return e.singleOrNone(c, args[0])
	case "fn::length":
		return e.length(c, args[0])
	case "fn::pulumiResourceName", "fn::pulumiResourceType":
		return e.resourceFact(c, args[0])
	case "fn::stackReference":
		return e.stackReference(c, args)
	case "fn::assetArchive":
		return e.assetArchive(c, args[0])
	}
	// The others need all of their arguments, and what they return is as secret and as dependent as these together.
	var whole peeled
	plain := make([]property.Value, len(args))
	unknown := false
	for i, a := range args {
		v, p := flat(a)
		plain[i], unknown = v, unknown || v.IsUnknown()
		whole.secret, whole.deps = whole.secret || p.secret, union(whole.deps, p.deps)
	}
	if unknown {
		return whole.wrap(property.Computed()), nil
	}
	v, err := e.plainCall(c, plain, whole.secret)
	if err != nil {
		return property.Null, err
	}
	return whole.wrap(v), nil
}

// plainCall is call for arguments that are known. secret tells that they must not be shown.
func (e *evaluation) plainCall(c *ast.Call, args []property.Value, secret bool) (property.Value, error) {
	switch c.Function {
	case "fn::join":
		return e.join(c, args)
	case "fn::toJSON":
		return e.toJSON(c, args[0])
	}
	for i, a := range args {
		if !a.IsString() {
			return property.Null, e.wants(c, i, "a string", a)
		}
	}
	s := args[0].AsString()
	switch c.Function {
	case "fn::split":
		var parts []property.Value
		for _, part := range strings.Split(args[1].AsString(), s) {
			parts = append(parts, property.String(part))
		}
		return property.ArrayOf(parts...), nil
	case "fn::toBase64":
		return property.String(base64.StdEncoding.EncodeToString([]byte(s))), nil
	case "fn::fromBase64":
		return e.fromBase64(c, s)
	case "fn::sha1":
		sum := sha1.Sum([]byte(s))
		return property.String(hex.EncodeToString(sum[:])), nil
	case "fn::readFile", "fn::filebase64", "fn::filebase64sha256":
		return e.readFile(c, s, secret)
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
	panic("the function " + c.Function + " is not implemented")
}

// wants is the error of an argument of another type.
func (e *evaluation) wants(c *ast.Call, i int, what string, got property.Value) error {
	return e.fail(c.Args[i].Range(), "", "%s takes %s here, not %s", c.Function, what, describe(got))
}

func (e *evaluation) join(c *ast.Call, args []property.Value) (property.Value, error) {
	if !args[0].IsString() && !args[0].IsNull() {
		return property.Null, e.wants(c, 0, "a string", args[0])
	}
	if !args[1].IsArray() {
		return property.Null, e.wants(c, 1, "a list of strings", args[1])
	}
	var parts []string
	for i, item := range args[1].AsArray().All() {
		if !item.IsString() {
			at := c.Args[1].Range()
			if list, ok := c.Args[1].(*ast.List); ok {
				at = list.Items[i].Range()
			}
			return property.Null, e.fail(at, "", "fn::join takes a list of strings, and element %d is %s", i, describe(item))
		}
		parts = append(parts, item.AsString())
	}
	return property.String(strings.Join(parts, args[0].AsString())), nil
}

func (e *evaluation) toJSON(c *ast.Call, v property.Value) (property.Value, error) {
	x, ok := toGo(v)
	if !ok {
		return property.Null, e.fail(c.Args[0].Range(), "", "fn::toJSON takes data, and there is an asset or a resource in it")
	}
	b, err := json.Marshal(x)
	if err != nil {
		return property.Null, e.fail(c.Args[0].Range(), "", "fn::toJSON: %v", err)
	}
	return property.String(string(bytes.TrimSpace(b))), nil
}

func (e *evaluation) fromBase64(c *ast.Call, s string) (property.Value, error) {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return property.Null, e.fail(c.Args[0].Range(), "", "fn::fromBase64: %v", err)
	}
	if !utf8.Valid(b) {
		return property.Null, e.fail(c.Args[0].Range(), "", "what fn::fromBase64 decodes is not text in UTF-8")
	}
	return property.String(string(b)), nil
}

// readFile reads a file, relative to the program's directory.
func (e *evaluation) readFile(c *ast.Call, path string, secret bool) (property.Value, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(e.program.project.Directory, path)
	}
	b, err := os.ReadFile(path)
	if failure := (*fs.PathError)(nil); secret && errors.As(err, &failure) {
		err = failure.Err
	}
	if err != nil {
		return property.Null, e.fail(c.Args[0].Range(), "", "%s: %v", c.Function, err)
	}
	switch c.Function {
	case "fn::filebase64":
		return property.String(base64.StdEncoding.EncodeToString(b)), nil
	case "fn::filebase64sha256":
		sum := sha256.Sum256(b)
		return property.String(base64.StdEncoding.EncodeToString(sum[:])), nil
	}
	return property.String(string(b)), nil
}

// selected returns an element of a list. What is known of the list is enough.
func (e *evaluation) selected(c *ast.Call, args []property.Value) (property.Value, error) {
	index, p := flat(args[0])
	list := peel(args[1])
	if index.IsUnknown() || list.inner.IsUnknown() {
		return p.wrap(list.wrap(property.Computed())), nil
	}
	if !index.IsNumber() {
		return property.Null, e.wants(c, 0, "a number", index)
	}
	i := index.AsNumber()
	if i < 0 || i != math.Trunc(i) || i > math.MaxInt32 {
		return property.Null, e.fail(c.Args[0].Range(), "", "the index of fn::select must be a whole number from 0 on")
	}
	if !list.inner.IsArray() {
		return property.Null, e.wants(c, 1, "a list", list.inner)
	}
	v, err := e.walk(args[1], []syntax.Step{{Index: int(i), IsIndex: true}}, &syntax.Access{Range: c.Args[1].Range()})
	if err != nil {
		return property.Null, err
	}
	return p.wrap(v), nil
}

func (e *evaluation) singleOrNone(c *ast.Call, v property.Value) (property.Value, error) {
	p := peel(v)
	switch {
	case p.inner.IsUnknown():
		return v, nil
	case !p.inner.IsArray():
		return property.Null, e.wants(c, 0, "a list", p.inner)
	}
	switch list := p.inner.AsArray(); list.Len() {
	case 0:
		return p.wrap(property.Null), nil
	case 1:
		return p.wrap(list.At(0)), nil
	default:
		return property.Null, e.fail(c.Args[0].Range(), "", "fn::singleOrNone takes a list of at most one element, and this has %d", list.Len())
	}
}

// length counts elements, properties, or the characters that people see.
func (e *evaluation) length(c *ast.Call, v property.Value) (property.Value, error) {
	plain, p := flat(v)
	n := 0
	switch {
	case plain.IsUnknown():
		return p.wrap(property.Computed()), nil
	case plain.IsArray():
		n = plain.AsArray().Len()
	case plain.IsMap():
		n = plain.AsMap().Len()
	case plain.IsString():
		n = uniseg.GraphemeClusterCount(plain.AsString())
	default:
		return property.Null, e.wants(c, 0, "a list, an object or a string", plain)
	}
	return p.wrap(property.Number(float64(n))), nil
}

func (e *evaluation) resourceFact(c *ast.Call, v property.Value) (property.Value, error) {
	p := peel(v)
	if p.inner.IsUnknown() {
		return v, nil
	}
	if !p.inner.IsReference() {
		return property.Null, e.wants(c, 0, "a resource", p.inner)
	}
	u := p.inner.AsReference().URN
	if c.Function == "fn::pulumiResourceType" {
		return property.String(string(u.Type())), nil
	}
	return property.String(u.Name()), nil
}

func (e *evaluation) assetArchive(c *ast.Call, v property.Value) (property.Value, error) {
	p := peel(v)
	members := map[string]property.Value{}
	for name, member := range p.inner.AsMap().All() {
		plain, q := flat(member)
		p.secret, p.deps = p.secret || q.secret, union(p.deps, q.deps)
		switch {
		case plain.IsUnknown():
			return p.wrap(property.Computed()), nil
		case !plain.IsAsset() && !plain.IsArchive():
			return property.Null, e.wants(c, 0, "assets and archives", plain)
		}
		members[name] = plain
	}
	return p.wrap(property.MemberArchive(property.NewMap(members))), nil
}
