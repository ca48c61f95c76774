package functions

import (
	"fmt"
	"math"

	"github.com/rivo/uniseg"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source/yaml/internal/values"
)

// Mistake describes a wrong argument.
type Mistake struct {
	Argument int
	Element  int // of a list argument; -1 for the argument as a whole
	Text     string
}

// Call calls a function with the exact number of its arguments. Files are relative to the directory.
func Call(name string, args []property.Value, directory string) (property.Value, *Mistake) {
	switch name {
	case "fn::secret":
		return values.Secret(args[0]), nil
	case "fn::unsecret":
		return args[0].StripSecrets(), nil
	case "fn::select":
		return element(args[0], args[1])
	case "fn::singleOrNone":
		return singleOrNone(args[0])
	case "fn::length":
		return length(args[0])
	case "fn::pulumiResourceName", "fn::pulumiResourceType":
		return resourceFact(name, args[0])
	case "fn::assetArchive":
		return assetArchive(args[0])
	}
	// The others need all of their arguments. Their result is secret if any argument is, and has the dependencies of all.
	var whole values.Marks
	plain := make([]property.Value, len(args))
	unknown := false
	for i, a := range args {
		v, marks := values.UnmarkDeep(a)
		plain[i], unknown, whole = v, unknown || v.IsUnknown(), whole.And(marks)
	}
	if unknown {
		return whole.Mark(property.Computed()), nil
	}
	v, mistake := callPlain(name, plain, directory, whole.Secret)
	if mistake != nil {
		return property.Null, mistake
	}
	return whole.Mark(v), nil
}

// wrong returns the mistake of a whole argument.
func wrong(argument int, format string, args ...any) (property.Value, *Mistake) {
	return property.Null, &Mistake{Argument: argument, Element: -1, Text: fmt.Sprintf(format, args...)}
}

// wants returns the mistake of an argument with the wrong type.
func wants(name string, argument int, what string, got property.Value) (property.Value, *Mistake) {
	return wrong(argument, "%s takes %s here, not %s", name, what, values.Describe(got))
}

// element returns an element of a list, other parts of which may be unknown.
func element(index, of property.Value) (property.Value, *Mistake) {
	const name = "fn::select"
	number, marks := values.UnmarkDeep(index)
	list, own := values.Unmark(of)
	marks = marks.And(own)
	if number.IsUnknown() || list.IsUnknown() {
		return marks.Mark(property.Computed()), nil
	}
	if !number.IsNumber() {
		return wants(name, 0, "a number", number)
	}
	n := number.AsNumber()
	if n < 0 || n != math.Trunc(n) || n > math.MaxInt32 {
		return wrong(0, "the index of fn::select must be a whole number from 0 on")
	}
	if !list.IsArray() {
		return wants(name, 1, "a list", list)
	}
	items := list.AsArray()
	if int(n) >= items.Len() {
		return wrong(1, "%s", values.NoElement(int(n), items.Len()))
	}
	return marks.Mark(items.At(int(n))), nil
}

func singleOrNone(v property.Value) (property.Value, *Mistake) {
	list, marks := values.Unmark(v)
	switch {
	case list.IsUnknown():
		return v, nil
	case !list.IsArray():
		return wants("fn::singleOrNone", 0, "a list", list)
	}
	switch items := list.AsArray(); items.Len() {
	case 0:
		return marks.Mark(property.Null), nil
	case 1:
		return marks.Mark(items.At(0)), nil
	default:
		return wrong(0, "fn::singleOrNone takes a list of at most one element, and this has %d", items.Len())
	}
}

// length counts elements, properties, or user-perceived characters.
func length(v property.Value) (property.Value, *Mistake) {
	plain, marks := values.UnmarkDeep(v)
	n := 0
	switch {
	case plain.IsUnknown():
		return marks.Mark(property.Computed()), nil
	case plain.IsArray():
		n = plain.AsArray().Len()
	case plain.IsMap():
		n = plain.AsMap().Len()
	case plain.IsString():
		n = uniseg.GraphemeClusterCount(plain.AsString())
	default:
		return wants("fn::length", 0, "a list, an object or a string", plain)
	}
	return marks.Mark(property.Number(float64(n))), nil
}

func resourceFact(name string, v property.Value) (property.Value, *Mistake) {
	inner, _ := values.Unmark(v)
	if inner.IsUnknown() {
		return v, nil
	}
	if !inner.IsReference() {
		return wants(name, 0, "a resource", inner)
	}
	u := inner.AsReference().URN
	if name == "fn::pulumiResourceType" {
		return property.String(string(u.Type())), nil
	}
	return property.String(u.Name()), nil
}

func assetArchive(v property.Value) (property.Value, *Mistake) {
	inner, marks := values.Unmark(v)
	members := map[string]property.Value{}
	for name, member := range inner.AsMap().All() {
		plain, own := values.UnmarkDeep(member)
		marks = marks.And(own)
		switch {
		case plain.IsUnknown():
			return marks.Mark(property.Computed()), nil
		case !plain.IsAsset() && !plain.IsArchive():
			return wants("fn::assetArchive", 0, "assets and archives", plain)
		}
		members[name] = plain
	}
	return marks.Mark(property.MemberArchive(property.NewMap(members))), nil
}
