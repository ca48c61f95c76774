package property_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	. "github.com/sluice-iac/sluice/property"
)

func TestPathText(t *testing.T) {
	tests := map[string]struct {
		text      string
		want      Path
		canonical string // "" when it equals the text
	}{
		"empty":                     {text: ""},
		"name":                      {text: "root", want: Path{Key("root")}},
		"nested names":              {text: "a.b.c", want: Path{Key("a"), Key("b"), Key("c")}},
		"index":                     {text: "a[0][12].b", want: Path{Key("a"), Index(0), Index(12), Key("b")}},
		"negative index":            {text: "a[-1]", want: Path{Key("a"), Index(-1)}},
		"quoted":                    {text: `a["b.c"]`, want: Path{Key("a"), Key("b.c")}},
		"quoted quote":              {text: `["a \" b"].c`, want: Path{Key(`a " b`), Key("c")}},
		"quoted plain name":         {text: `["a"]["b"]`, want: Path{Key("a"), Key("b")}, canonical: "a.b"},
		"wildcard":                  {text: `a[*].b`, want: Path{Key("a"), Key("*"), Key("b")}, canonical: `a["*"].b`},
		"quoted wildcard":           {text: `a["*"].b`, want: Path{Key("a"), Key("*"), Key("b")}},
		"bare wildcard":             {text: `*`, want: Path{Key("*")}, canonical: `["*"]`},
		"bare name with anything":   {text: "foo-bar baz", want: Path{Key("foo-bar baz")}, canonical: `["foo-bar baz"]`},
		"dot before bracket":        {text: "a.[0]", want: Path{Key("a"), Index(0)}, canonical: "a[0]"},
		"doubled dot":               {text: "a..b", want: Path{Key("a"), Key("b")}, canonical: "a.b"},
		"empty name":                {text: `a[""]`, want: Path{Key("a"), Key("")}},
		"backslash before the end":  {text: `a.b\`, want: Path{Key("a"), Key(`b\`)}},
		"init error":                {text: "#initerror", want: Path{Key("#initerror")}, canonical: `["#initerror"]`},
		"unicode":                   {text: "ü", want: Path{Key("ü")}, canonical: `["ü"]`},
		"closing bracket in a name": {text: `["a]b"]`, want: Path{Key("a]b")}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParsePath(tt.text)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
			if tt.canonical == "" {
				tt.canonical = tt.text
			}
			require.Equal(t, tt.canonical, got.String())
		})
	}
}

func TestMalformedPathsAreRefused(t *testing.T) {
	for _, text := range []string{".a", "a.", "a[", "a[0", "a[x]", `a["b`, `a["b"`, `a["b"x]`, "a[]"} {
		t.Run(text, func(t *testing.T) {
			_, err := ParsePath(text)
			require.ErrorIs(t, err, ErrPath)
			_, err = ParsePathStrict(text)
			require.ErrorIs(t, err, ErrPath)
		})
	}
	_, err := ParsePathStrict("a.[0]")
	require.ErrorIs(t, err, ErrPath)
}

func FuzzPathParsesAsInTheReferenceImplementation(f *testing.F) {
	for _, s := range []string{"a.b[0]", `a["b\"c"]`, "a[*].b", "a..b", "a.[0]", "*", "a[+1]", `["\\"]`, "a["} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, strict := range []bool{false, true} {
			parse, peerParse := ParsePath, resource.ParsePropertyPath
			if strict {
				parse, peerParse = ParsePathStrict, resource.ParsePropertyPathStrict
			}
			got, err := parse(text)
			want, peerErr := peerParse(text)
			require.Equal(t, peerErr == nil, err == nil)
			if err != nil {
				continue
			}
			require.Equal(t, want, peerPath(got))
		}
	})
}

func peerPath(p Path) resource.PropertyPath {
	var out resource.PropertyPath
	for _, e := range p {
		if e.IsIndex {
			out = append(out, e.Index)
			continue
		}
		out = append(out, e.Key)
	}
	return out
}

func genPath() *rapid.Generator[Path] {
	return rapid.Custom(func(t *rapid.T) Path {
		return Path(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Element {
			if rapid.Bool().Draw(t, "index") {
				return Index(rapid.IntRange(-1, 3).Draw(t, "index"))
			}
			return Key(names.Draw(t, "key"))
		}), 1, 4).Draw(t, "path"))
	})
}

// hasText reports whether the notation can express p: a name with a "." or "[" must be quoted, and quotes cannot hold a
// backslash at the end or before a quote.
func hasText(p Path) bool {
	return !slices.ContainsFunc(p, func(e Element) bool {
		return strings.ContainsAny(e.Key, ".[") && (strings.HasSuffix(e.Key, `\`) || strings.Contains(e.Key, `\"`))
	})
}

func TestPathTextReadsBackAsTheSamePath(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genPath().Filter(hasText).Draw(t, "path")
		got, err := ParsePath(p.String())
		require.NoError(t, err)
		require.Equal(t, p, got)
	})
}

func TestContainment(t *testing.T) {
	tests := map[string]struct {
		p, q string
		want bool
	}{
		"itself":                           {"a.b", "a.b", true},
		"prefix":                           {"a", "a.b[0]", true},
		"longer":                           {"a.b", "a", false},
		"wildcard matches a name":          {"a.*", "a.b.c", true},
		"wildcard matches an index":        {"a[*].c", "a[7].c", true},
		"other index":                      {"a[1]", "a[2]", false},
		"a name is no index":               {`a["1"]`, "a[1]", false},
		"wildcard below is not prefixed":   {"a[0]", "a[*]", false},
		"the empty path contains anything": {"", "a", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := ParsePath(tt.p)
			require.NoError(t, err)
			q, err := ParsePath(tt.q)
			require.NoError(t, err)
			require.Equal(t, tt.want, p.Contains(q))
		})
	}
}

func TestSetLookupDelete(t *testing.T) {
	m := object("a", Of(object("b", ArrayOf(Number(1), Secret(Of(object("c", String("x"))))))))
	path := func(s string) Path {
		p, err := ParsePath(s)
		require.NoError(t, err)
		return p
	}

	v, ok := m.Lookup(path("a.b[1].c"))
	require.True(t, ok)
	require.True(t, Equal(v, String("x")))
	_, ok = m.Lookup(path("a.b[2]"))
	require.False(t, ok)
	_, ok = m.Lookup(path("a.*"))
	require.False(t, ok)

	got, ok := m.Set(path("a.b[1].c"), Number(2))
	require.True(t, ok)
	requireIdentical(t, object("a", Of(object("b", ArrayOf(Number(1), Secret(Of(object("c", Number(2)))))))), got)
	got, ok = m.Set(path("a.b[2]"), Null)
	require.True(t, ok)
	require.Equal(t, 3, got.At("a").AsMap().At("b").AsArray().Len())
	got, ok = m.Set(path("a.x.y"), Null)
	require.False(t, ok)
	requireIdentical(t, m, got)
	got, ok = m.Set(path("a.b[*].c"), Null)
	require.True(t, ok)
	requireIdentical(t, object("a", Of(object("b", ArrayOf(Number(1), Secret(Of(object("c", Null))))))), got)

	got, ok = m.Delete(path("a.b[0]"))
	require.True(t, ok)
	requireIdentical(t, object("a", Of(object("b", ArrayOf(Secret(Of(object("c", String("x")))))))), got)
	got, ok = m.Delete(path("a.q"))
	require.False(t, ok)
	requireIdentical(t, m, got)
	_, ok = m.Delete(nil)
	require.False(t, ok)
}
