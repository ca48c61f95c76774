package std

import (
	"errors"
	"regexp"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers/native"
)

func patternFunctions() []native.Function {
	return []native.Function{
		fn("regex", "The first match of a regular expression: the text, the list of its groups, or an object of its named ones.",
			anyType(), func(in native.Values) (property.Value, error) {
				return firstMatch(in.Text("pattern"), in.Text("string"))
			}, arg("pattern", textType()), arg("string", textType())),
		fn("regexall", "All matches of a regular expression, each as regex has it.", listType(),
			func(in native.Values) (property.Value, error) {
				found, err := matches(in.Text("pattern"), in.Text("string"), -1)
				return property.ArrayOf(found...), err
			}, arg("pattern", textType()), arg("string", textType())),
		fn("replace", "Replaces a text, or the matches of the regular expression in it if it is between slashes.", textType(),
			func(in native.Values) (property.Value, error) {
				text, search, by := in.Text("text"), in.Text("search"), in.Text("replace")
				if len(search) < 2 || !strings.HasPrefix(search, "/") || !strings.HasSuffix(search, "/") {
					return native.Text(strings.ReplaceAll(text, search, by)), nil
				}
				re, err := regexp.Compile(search[1 : len(search)-1])
				if err != nil {
					return property.Null, err
				}
				return native.Text(re.ReplaceAllString(text, by)), nil
			}, arg("replace", textType()), arg("search", textType()), arg("text", textType())),
	}
}

// firstMatch returns the first match, or an empty list if there is none.
func firstMatch(pattern, text string) (property.Value, error) {
	found, err := matches(pattern, text, 1)
	if err != nil || len(found) == 0 {
		return property.ArrayOf(), err
	}
	return found[0], nil
}

func matches(pattern, text string, most int) ([]property.Value, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	names := re.SubexpNames()[1:]
	named := 0
	for _, name := range names {
		if name != "" {
			named++
		}
	}
	if named > 0 && named < len(names) {
		return nil, errors.New("either all groups of a pattern have names or none has")
	}
	var out []property.Value
	for _, m := range re.FindAllStringSubmatch(text, most) {
		switch {
		case len(names) == 0:
			out = append(out, native.Text(m[0]))
		case named == 0:
			out = append(out, native.Texts(m[1:]))
		default:
			groups := native.Outputs{}
			for i, name := range names {
				groups[name] = native.Text(m[i+1])
			}
			out = append(out, native.Object(groups))
		}
	}
	return out, nil
}
