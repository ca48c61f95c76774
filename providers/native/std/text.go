package std

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/rivo/uniseg"
	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers/native"
)

func textFunctions() []native.Function {
	return []native.Function{
		ofText("chomp", "Takes the line ends at the end away.", func(s string) string { return strings.TrimRight(s, "\r\n") }),
		ofText("lower", "Writes letters small.", strings.ToLower), ofText("upper", "Writes letters large.", strings.ToUpper),
		ofText("strrev", "Turns the order of the characters around.", uniseg.ReverseString),
		ofText("title", "Writes the first letter of each word large.", cases.Title(language.English).String),
		ofText("trimspace", "Takes white space at both ends away.", strings.TrimSpace),
		twoTexts("trim", "Takes characters of a set away at both ends.", "cutset", strings.Trim),
		twoTexts("trimprefix", "Takes a text away from the beginning.", "prefix", strings.TrimPrefix),
		twoTexts("trimsuffix", "Takes a text away from the end.", "suffix", strings.TrimSuffix),
		question("startswith", "Whether a text begins with another.", "prefix", strings.HasPrefix),
		question("endswith", "Whether a text ends with another.", "suffix", strings.HasSuffix),
		fn("indent", "Indents all lines but the first.", textType(), func(in native.Values) (property.Value, error) {
			if in.Int("spaces") < 0 {
				return property.Null, errors.New("spaces must not be negative")
			}
			return native.Text(strings.ReplaceAll(in.Text("input"), "\n", "\n"+strings.Repeat(" ", in.Int("spaces")))), nil
		}, arg("input", textType()), arg("spaces", native.Of(native.KindInteger))),
		fn("join", "Strings texts together.", textType(), func(in native.Values) (property.Value, error) {
			return native.Text(strings.Join(in.Texts("input"), in.Text("separator"))), nil
		}, arg("input", textsType()), arg("separator", textType())),
		fn("split", "Takes a text apart.", textsType(), func(in native.Values) (property.Value, error) {
			return native.Texts(strings.Split(in.Text("text"), in.Text("separator"))), nil
		}, arg("separator", textType()), arg("text", textType())),
		fn("substr", "A part of a text, by characters. A negative offset counts from the end, a negative length means the rest.",
			textType(), func(in native.Values) (property.Value, error) {
				return native.Text(substring(in.Text("input"), in.Int("offset"), in.Int("length"))), nil
			}, arg("input", textType()), arg("length", native.Of(native.KindInteger)), arg("offset", native.Of(native.KindInteger))),
		fn("format", "Puts values into a text, as fmt.Sprintf does.", textType(), func(in native.Values) (property.Value, error) {
			return native.Text(format(in.Text("input"), in.List("args"))), nil
		}, arg("args", listType()), arg("input", textType())),
		fn("formatlist", "Puts values into a text once for every element of the lists among them.", textsType(), formatList,
			arg("args", listType()), arg("input", textType())),
	}
}

func twoTexts(name, doc, second string, f func(a, b string) string) native.Function {
	return fn(name, doc, textType(), func(in native.Values) (property.Value, error) {
		return native.Text(f(in.Text("input"), in.Text(second))), nil
	}, arg(second, textType()), arg("input", textType()))
}

func question(name, doc, second string, f func(a, b string) bool) native.Function {
	return fn(name, doc, flagType(), func(in native.Values) (property.Value, error) {
		return native.Bool(f(in.Text("input"), in.Text(second))), nil
	}, arg(second, textType()), arg("input", textType()))
}

// substring counts in user-perceived characters.
func substring(s string, offset, length int) string {
	var characters []string
	for g := uniseg.NewGraphemes(s); g.Next(); {
		characters = append(characters, g.Str())
	}
	if offset < 0 {
		offset += len(characters)
	}
	offset = min(max(offset, 0), len(characters))
	end := len(characters)
	if length >= 0 {
		end = min(offset+length, end)
	}
	return strings.Join(characters[offset:end], "")
}

func format(text string, args []property.Value) string {
	out := make([]any, len(args))
	for i, a := range args {
		out[i] = formatted{toGo(a)}
	}
	return fmt.Sprintf(text, out...)
}

// formatted is a value for package fmt: integers can be shown as integers, lists and objects are shown as JSON.
type formatted struct{ v any }

// Format satisfies fmt.Formatter.
func (f formatted) Format(s fmt.State, verb rune) {
	switch v := f.v.(type) {
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<63 {
			f.v = int64(v)
		}
	case []any, map[string]any:
		if verb == 'v' {
			text, err := json.Marshal(v)
			if err != nil {
				text = []byte(err.Error())
			}
			_, _ = s.Write(text)
			return
		}
	}
	_, _ = fmt.Fprintf(s, fmt.FormatString(s, verb), f.v)
}

func formatList(in native.Values) (property.Value, error) {
	args, length := in.List("args"), -1
	for _, a := range args {
		if !a.IsArray() {
			continue
		}
		if n := a.AsArray().Len(); length >= 0 && n != length {
			return property.Null, fmt.Errorf("the lists among args have different lengths: %d and %d", length, n)
		}
		length = a.AsArray().Len()
	}
	if length < 0 {
		return native.Texts([]string{format(in.Text("input"), args)}), nil
	}
	out := make([]string, length)
	for i := range out {
		these := make([]property.Value, len(args))
		for j, a := range args {
			these[j] = a
			if a.IsArray() {
				these[j] = a.AsArray().At(i)
			}
		}
		out[i] = format(in.Text("input"), these)
	}
	return native.Texts(out), nil
}
