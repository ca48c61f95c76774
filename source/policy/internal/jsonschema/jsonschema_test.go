package jsonschema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	peer "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

func decoded(t *testing.T, text string) any {
	t.Helper()
	var out any
	require.NoError(t, json.Unmarshal([]byte(text), &out), text)
	return out
}

// peerFaults are the faults that a general library finds. It says "validation failed" where there are several faults or was a reference.
func peerFaults(schema, value any) (refused bool, faults []string) {
	c := peer.NewCompiler()
	c.DefaultDraft(peer.Draft7)
	const name = "sluice:policy"
	if err := c.AddResource(name, schema); err != nil {
		return true, []string{err.Error()}
	}
	compiled, err := c.Compile(name)
	if wrapped, ok := errors.AsType[*peer.SchemaValidationError](err); ok {
		return true, flat(wrapped.Err)
	} else if err != nil {
		return true, []string{err.Error()}
	}
	return false, flat(compiled.Validate(value))
}

func flat(err error) (out []string) {
	invalid, ok := errors.AsType[*peer.ValidationError](err)
	if !ok {
		return nil
	}
	for _, unit := range invalid.BasicOutput().Errors {
		at := strings.TrimPrefix(strings.ReplaceAll(unit.InstanceLocation, "/", "."), ".")
		if at != "" {
			at += ": "
		}
		if text := unit.Error.String(); text != "validation failed" {
			out = append(out, at+text)
		}
	}
	return ordered(out)
}

// What is accepted, and what is said about everything else. A case that the general library answers differently says why.
func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		schema, value string
		want          []string
		differs       string
	}{
		"a wrong type":               {`{"type":"integer"}`, `0.5`, []string{"got number, want integer"}, ""},
		"an integer with a point":    {`{"type":"integer"}`, `3.0`, nil, ""},
		"two types":                  {`{"type":["string","null"]}`, `1`, []string{"got number, want null or string"}, ""},
		"no type fits null":          {`{"type":"object"}`, `null`, []string{"got null, want object"}, ""},
		"a constant":                 {`{"const":3}`, `4`, []string{"value must be 3"}, ""},
		"a constant list":            {`{"const":[3]}`, `[4]`, []string{"'const' failed"}, ""},
		"one of some":                {`{"enum":["a","b",1,true]}`, `"c"`, []string{"value must be one of 'a', 'b', 1, true"}, ""},
		"one of one":                 {`{"enum":["it's"]}`, `"c"`, []string{`value must be 'it\'s'`}, ""},
		"one of objects":             {`{"enum":[{"a":1},{"a":[2]}]}`, `{"a":[3]}`, []string{"'enum' failed"}, ""},
		"an equal object":            {`{"enum":[{"a":1},{"a":[2]}]}`, `{"a":[2]}`, nil, ""},
		"null is one":                {`{"enum":[null,"a"]}`, `1`, []string{"value must be one of null, 'a'"}, "it says <nil>"},
		"too small":                  {`{"minimum":1}`, `0`, []string{"minimum: got 0, want 1"}, ""},
		"too large":                  {`{"maximum":1.5}`, `2`, []string{"maximum: got 2, want 1.5"}, ""},
		"at an exclusive limit":      {`{"exclusiveMinimum":1,"exclusiveMaximum":1}`, `1`, []string{"exclusiveMaximum: got 1, want 1", "exclusiveMinimum: got 1, want 1"}, ""},
		"a tenth":                    {`{"multipleOf":0.1}`, `0.3`, nil, ""},
		"not a multiple":             {`{"multipleOf":2}`, `3`, []string{"multipleOf: got 3, want 2"}, ""},
		"a large number":             {`{"maximum":1000000}`, `1234567`, []string{"maximum: got 1234567, want 1000000"}, "it puts commas into numbers"},
		"too short, in characters":   {`{"minLength":3}`, `"äö"`, []string{"minLength: got 2, want 3"}, ""},
		"too long":                   {`{"maxLength":1}`, `"abc"`, []string{"maxLength: got 3, want 1"}, ""},
		"no match":                   {`{"pattern":"^a+$"}`, `"b"`, []string{"'b' does not match pattern '^a+$'"}, ""},
		"two faults of a text":       {`{"properties":{"a":{"minLength":3,"pattern":"^a"}}}`, `{"a":"b"}`, []string{"a: 'b' does not match pattern '^a'", "a: minLength: got 1, want 3"}, ""},
		"nothing for other types":    {`{"minimum":1,"minLength":3,"pattern":"a","minItems":2,"required":["a"]}`, `true`, nil, ""},
		"a property is missing":      {`{"required":["a"]}`, `{}`, []string{"missing property 'a'"}, ""},
		"properties are missing":     {`{"required":["b","a","c"]}`, `{"a":1}`, []string{"missing properties 'b', 'c'"}, ""},
		"a property does not fit":    {`{"properties":{"a":{"type":"string"},"b":{"type":"string"}}}`, `{"a":1,"b":2}`, []string{"a: got number, want string", "b: got number, want string"}, ""},
		"a nested property":          {`{"properties":{"a":{"properties":{"b":{"type":"string"}}}}}`, `{"a":{"b":2}}`, []string{"a.b: got number, want string"}, ""},
		"a name with a slash":        {`{"properties":{"a/b":{"type":"string"}}}`, `{"a/b":2}`, []string{"a/b: got number, want string"}, "it escapes names"},
		"unknown properties":         {`{"properties":{"a":{}},"additionalProperties":false}`, `{"a":1,"b":1}`, []string{"additional properties 'b' not allowed"}, ""},
		"additional ones by schema":  {`{"properties":{"a":{}},"additionalProperties":{"type":"string"}}`, `{"a":1,"b":1}`, []string{"b: got number, want string"}, ""},
		"names by pattern":           {`{"patternProperties":{"^s_":{"type":"string"}},"additionalProperties":false}`, `{"s_a":1,"s_b":"x"}`, []string{"s_a: got number, want string"}, ""},
		"names by schema":            {`{"propertyNames":{"maxLength":1}}`, `{"ab":1}`, []string{"invalid propertyName 'ab'", "maxLength: got 2, want 1"}, ""},
		"too few properties":         {`{"minProperties":2}`, `{"a":1}`, []string{"minProperties: got 1, want 2"}, ""},
		"too many properties":        {`{"maxProperties":0}`, `{"a":1}`, []string{"maxProperties: got 1, want 0"}, ""},
		"a dependency":               {`{"dependencies":{"a":["b"]}}`, `{"a":1}`, []string{"properties 'b' required, if 'a' exists"}, ""},
		"a dependency by schema":     {`{"dependencies":{"a":{"required":["b"]}}}`, `{"a":1}`, []string{"missing property 'b'"}, ""},
		"no dependency":              {`{"dependencies":{"a":["b"]}}`, `{"c":1}`, nil, ""},
		"an item does not fit":       {`{"items":{"type":"string"}}`, `["a",1,2]`, []string{"1: got number, want string", "2: got number, want string"}, ""},
		"a tuple":                    {`{"items":[{"type":"string"}],"additionalItems":false}`, `[1,2,3]`, []string{"0: got number, want string", "last 2 additionalItem(s) not allowed"}, ""},
		"items after a tuple":        {`{"items":[{}],"additionalItems":{"type":"string"}}`, `[1,2]`, []string{"1: got number, want string"}, ""},
		"too few items":              {`{"minItems":1}`, `[]`, []string{"minItems: got 0, want 1"}, ""},
		"too many items":             {`{"maxItems":1}`, `[1,2]`, []string{"maxItems: got 2, want 1"}, ""},
		"equal items":                {`{"uniqueItems":true}`, `[{"a":1,"b":2},1,{"b":2.0,"a":1}]`, []string{"items at 0 and 2 are equal"}, ""},
		"no item is contained":       {`{"contains":{"type":"string"}}`, `[1]`, []string{"0: got number, want string", "no items match contains schema"}, ""},
		"one item is contained":      {`{"contains":{"type":"string"}}`, `[1,"a"]`, nil, ""},
		"not":                        {`{"not":{"type":"string"}}`, `"a"`, []string{"'not' failed"}, ""},
		"all of":                     {`{"allOf":[{"minLength":3},{"pattern":"^a"}]}`, `"b"`, []string{"'allOf' failed", "'b' does not match pattern '^a'", "minLength: got 1, want 3"}, ""},
		"any of":                     {`{"anyOf":[{"type":"string"},{"type":"boolean"}]}`, `1`, []string{"'anyOf' failed", "got number, want boolean", "got number, want string"}, ""},
		"one of none":                {`{"oneOf":[{"type":"string"},{"type":"boolean"}]}`, `1`, []string{"'oneOf' failed, none matched", "got number, want boolean", "got number, want string"}, ""},
		"one of two":                 {`{"oneOf":[{"type":"number"},{"type":"string"},{"minimum":1}]}`, `1`, []string{"'oneOf' failed, subschemas 0, 2 matched"}, ""},
		"then":                       {`{"if":{"minimum":5},"then":{"multipleOf":5},"else":{"multipleOf":2}}`, `6`, []string{"multipleOf: got 6, want 5"}, ""},
		"else":                       {`{"if":{"minimum":5},"then":{"multipleOf":5},"else":{"multipleOf":2}}`, `3`, []string{"multipleOf: got 3, want 2"}, ""},
		"then without if":            {`{"then":false}`, `3`, nil, ""},
		"nothing is allowed":         {`{"properties":{"a":false}}`, `{"a":1}`, []string{"a: false schema"}, ""},
		"a reference":                {`{"definitions":{"d":{"type":"string"}},"properties":{"a":{"$ref":"#/definitions/d"}}}`, `{"a":1}`, []string{"a: got number, want string"}, "it says only that validation failed"},
		"beside a reference":         {`{"definitions":{"d":{"type":"string"}},"properties":{"a":{"$ref":"#/definitions/d","maxLength":0}}}`, `{"a":"x"}`, nil, ""},
		"a reference to the whole":   {`{"properties":{"a":{"$ref":"#"}},"required":["b"]}`, `{"a":{},"b":1}`, []string{"a: missing property 'b'"}, "it says only that validation failed"},
		"an escaped reference":       {`{"definitions":{"a/b %":{"type":"string"}},"$ref":"#/definitions/a~1b%20%25"}`, `1`, []string{"got number, want string"}, "it says only that validation failed"},
		"a reference to a name":      {`{"definitions":{"d":{"$id":"#d","type":"string"}},"items":{"$ref":"#d"}}`, `["x"]`, nil, ""},
		"a resource of its own":      {`{"properties":{"a":{"$id":"http://x.example/y","definitions":{"d":{"type":"string"}},"items":{"$ref":"#/definitions/d"}}}}`, `{"a":["x"]}`, nil, ""},
		"a reference to a resource":  {`{"properties":{"a":{"$id":"http://x.example/y","type":"string"},"b":{"$ref":"http://x.example/y"}}}`, `{"b":"x"}`, nil, ""},
		"the schema of schemas":      {`{"properties":{"a":{"$ref":"http://json-schema.org/draft-07/schema#"}}}`, `{"a":{"type":"string"}}`, nil, ""},
		"a reference to itself":      {`{"properties":{"a":{"$ref":"#/properties/a"}}}`, `{"a":1}`, []string{"a: its schema refers to itself"}, "it says which keywords do"},
		"references in a circle":     {`{"properties":{"a":{"anyOf":[{"$ref":"#/properties/b"}]},"b":{"not":{"$ref":"#/properties/a"}}}}`, `{"b":1}`, nil, ""},
		"a reference into nothing":   {`{"properties":{"a":{"$ref":"#/definitions/b"}}}`, `{}`, []string{"REFUSED: the reference '#/definitions/b' leads to nothing"}, "other words"},
		"a reference to no schema":   {`{"title":"x","properties":{"a":{"$ref":"#/title"}}}`, `{}`, []string{"REFUSED: #/title: got string, want boolean or object"}, "other words"},
		"a reference to elsewhere":   {`{"properties":{"a":{"$ref":"https://x.example/y"}}}`, `{}`, []string{"REFUSED: it refers to https://x.example/y, and may refer to nothing outside of itself"}, "other words"},
		"an unknown type":            {`{"properties":{"a":{"type":"strin"}}}`, `{}`, []string{"REFUSED: properties.a.type: 'anyOf' failed", "REFUSED: properties.a.type: got string, want array", "REFUSED: properties.a.type: value must be one of 'array', 'boolean', 'integer', 'null', 'number', 'object', 'string'"}, "it says only that the reference failed"},
		"not a pattern":              {`{"pattern":"("}`, `{}`, []string{"REFUSED: pattern: '(' is not valid regex: error parsing regexp: missing closing ): `(`"}, ""},
		"a keyword of a wrong type":  {`{"minLength":"1"}`, `{}`, []string{"REFUSED: minLength: 'allOf' failed", "REFUSED: minLength: got string, want integer"}, "it says only that the reference failed"},
		"a format":                   {`{"format":"ipv4"}`, `"10.0.0"`, []string{`'10.0.0' is not valid ipv4: ParseAddr("10.0.0"): IPv4 address too short`}, "other words"},
		"a format in an alternative": {`{"anyOf":[{"format":"ipv4"},{"format":"ipv6"}]}`, `"::1"`, nil, ""},
		"an unknown format":          {`{"format":"secret"}`, `"10.0.0"`, nil, ""},
		"a format and a number":      {`{"format":"ipv4"}`, `10`, nil, ""},
		"a keyword of other drafts":  {`{"minContains":2,"unevaluatedProperties":false,"dependentRequired":{"a":["b"]}}`, `{"a":1}`, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			schema, value := decoded(t, c.schema), decoded(t, c.value)
			s, got := New(schema)
			if s != nil {
				got = s.Faults(value)
			} else {
				for i := range got {
					got[i] = "REFUSED: " + got[i]
				}
			}
			require.Equal(t, c.want, got)
			refused, faults := peerFaults(schema, value)
			if refused {
				for i := range faults {
					faults[i] = "REFUSED: " + faults[i]
				}
			}
			require.Equal(t, refused, s == nil, "%s", faults)
			if c.differs == "" {
				require.Equal(t, faults, got)
			} else {
				require.NotEqual(t, faults, got, "there is no difference")
			}
		})
	}
}

// The texts of each format, and some that are not.
func TestFormats(t *testing.T) {
	texts := []string{
		"", "x", "2024-02-29", "2023-02-29", "2024-1-1", "12:00:00Z", "12:00:00", "23:59:60Z", "12:00:60Z", "18:59:60-05:00", "24:00:00Z", "12:00:00.5+01:00", "12:00:00,5Z",
		"1:00:00Z", "12:00:00z", "12:00:00+24:00", "12:00:00+23:60", "12:00:00+0100", "2024-02-29T12:00:00Z", "2024-02-29t12:00:00z", "2024-02-29 12:00:00Z", "2024-02-29T23:59:60Z", "P1D", "P", "PT", "P1DT",
		"P1Y2M3DT4H5M6S", "P1M1Y", "P2W", "P1W1D", "PT1S", "P1S", "1D", "P1", "a@b", "a@b.c", "@b.c", ".a@b.c", "a.@b.c", "a..b@c", `"a b"@c`, `"a"b"@c`, "a@[10.0.0.1]",
		"a@[IPv6:::1]", "a@[x]", "a b@c", "a@-b", "a@b@c", "ä@b", "a.example", "a.example.", "-a.example", "a-.example", "a_b", "a..b", strings.Repeat("a", 64), "10.0.0.1", "10.0.0", "010.0.0.1",
		"10.0.0.256", "::1", "1::2::3", "fe80::1%eth0", "::ffff:10.0.0.1", "http://a/b", "/a/b", "a:b", "http://[::1]/", "http://::1/", "http://[x]/", `\a`, "%zz", "http://a/{b}", "http://a/{b",
		"http://a/}b{", "/a/~0~1", "/a/~2", "/~", "a/b", "0", "0#", "1/a", "01/a", "-1/a", "#", "(", "^a+$", "123e4567-e89b-12d3-a456-426614174000", "123E4567E89B12D3A456426614174000",
		"{123e4567-e89b-12d3-a456-426614174000}", "123e4567-e89b-12d3-a456-42661417400g",
	}
	for name := range formats {
		for _, text := range texts {
			schema := map[string]any{"format": name}
			s, faults := New(schema)
			require.Empty(t, faults)
			got := s.Faults(text)
			_, want := peerFaults(schema, text)
			require.Equal(t, len(want), len(got), "%s: %q: %v, not %v", name, text, got, want)
			if len(got) > 0 {
				require.Contains(t, got[0], fmt.Sprintf("%s is not valid %s: ", quote(text), name))
			}
		}
	}
}

// FuzzFaults applies any schema to any value. It ends, with the same faults each time, and accepts what a general library accepts.
func FuzzFaults(f *testing.F) {
	f.Add(`{"properties":{"a":{"$ref":"#/properties/b"},"b":{"items":{"type":"integer","minimum":1}}},"required":["a"]}`, `{"a":[1,"x"],"b":2}`)
	f.Add(`{"allOf":[{"anyOf":[{"$ref":"#"},{"not":{"format":"date"}}]},{"oneOf":[true,{"enum":["x",null]}]}]}`, `"2024-02-29"`)
	f.Add(`{"$id":"http://x/","definitions":{"a":{"$id":"#n","contains":{"const":1}}},"if":{"uniqueItems":true},"then":{"$ref":"#n"}}`, `[1,2,{"a":[]}]`)
	f.Add(`{"patternProperties":{"^a":{"maxLength":1}},"additionalProperties":{"multipleOf":0.1},"propertyNames":{"pattern":"."},"dependencies":{"a":["b"]}}`, `{"a":"xx","c":0.3}`)
	f.Fuzz(func(t *testing.T, schemaText, valueText string) {
		var schema, value any
		if json.Unmarshal([]byte(schemaText), &schema) != nil || json.Unmarshal([]byte(valueText), &value) != nil {
			return
		}
		s, faults := New(schema)
		if s == nil {
			require.NotEmpty(t, faults)
			return
		}
		first := s.Faults(value)
		require.Equal(t, first, s.Faults(value))
		if !comparedBy(schemaText) {
			return
		}
		if refused, want := peerFaults(schema, value); !refused {
			require.Equal(t, len(want) > 0, len(first) > 0, "%v, not %v", first, want)
		}
	})
}

// comparedBy reports whether the general library knows the same language: it takes other drafts, and formats of its own.
func comparedBy(schema string) bool {
	for _, other := range []string{"$schema", "$id", "$ref", "semver", "period", "uri-template", `\u`} {
		if strings.Contains(schema, other) {
			return false
		}
	}
	return true
}
