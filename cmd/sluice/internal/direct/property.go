package direct

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/sluice-iac/sluice/property"
)

// Property is a property in a schema.
type Property struct {
	Description          string
	Type                 string
	Ref                  string `json:"$ref"`
	Items                *Property
	AdditionalProperties *Property
	Properties           map[string]*Property
	OneOf                []Property
	Secret               bool
	Default              any
	DefaultInfo          json.RawMessage
	Const                any
}

// kind is what a flag makes of a text.
type kind string

const (
	isText   kind = "string"
	isBool   kind = "boolean"
	isWhole  kind = "integer"
	isNumber kind = "number"
	isOther  kind = "" // only an expression gives it
)

// parse converts the text of a flag.
func (k kind) parse(text string) (property.Value, error) {
	switch k {
	case isBool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return property.Null, fmt.Errorf("%q is neither true nor false", text)
		}
		return property.Bool(b), nil
	case isWhole:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || int64(float64(n)) != n {
			return property.Null, fmt.Errorf("%q is not a whole number that can be passed on exactly", text)
		}
		return property.Number(float64(n)), nil
	case isNumber:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
			return property.Null, fmt.Errorf("%q is not a number", text)
		}
		return property.Number(f), nil
	}
	return property.String(text), nil
}

// flag returns the name of the flag for a property: bucketPrefix has --bucket-prefix.
func (*Property) flag(name string) string { return flagName(name) }

// flagName writes a name in lower case, with its words separated by hyphens.
func flagName(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if r == '_' || r == '-' || unicode.IsSpace(r) {
			if text := b.String(); text != "" && !strings.HasSuffix(text, "-") {
				b.WriteByte('-')
			}
			continue
		}
		before := i > 0 && (unicode.IsLetter(runes[i-1]) || unicode.IsDigit(runes[i-1]))
		begins := before && unicode.IsUpper(r) &&
			(!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if begins {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Trim(b.String(), "-")
}

// Summary returns the first paragraph of a description on one line, without quotes in which pflag would see a name.
func Summary(description string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(strings.ReplaceAll(description, "\r\n", "\n")), "\n\n")
	return strings.Join(strings.Fields(strings.ReplaceAll(first, "`", "'")), " ")
}
