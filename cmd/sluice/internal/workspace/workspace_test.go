package workspace

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"
)

func TestMalformedProjectFilesNameTheLineAndTheFault(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no mapping":          {"- a", "P.yaml:1: the file must hold a mapping of keys to values, not a list"},
		"empty":               {"", "P.yaml:1: the project has no name; add `name: my-project`"},
		"syntax":              {"name: a\n\truntime: b", "P.yaml:2: invalid YAML file: found a tab character that violates indentation; indent with spaces instead of tabs\n   2 |  runtime: b\n     | ^"},
		"unclosed":            {"name: a\nruntime: [b", "P.yaml:2: invalid YAML file: did not find expected ',' or ']'; correct the YAML"},
		"bad name":            {"name: a b", "P.yaml:1: \"a b\" is not a project name"},
		"runtime list":        {"name: a\nruntime: [b]", "P.yaml:2: `runtime` must be a text, not a list"},
		"runtime no name":     {"name: a\nruntime: {options: {}}", "P.yaml:2: `runtime` has no `name`"},
		"options scalar":      {"name: a\nruntime: {name: b, options: 1}", "P.yaml:2: `options` must be a mapping, not an integer"},
		"backend text":        {"name: a\nbackend: x", "P.yaml:2: `backend` must be a mapping, not a text"},
		"refresh":             {"name: a\noptions: {refresh: never}", "the only value is `always`"},
		"twice":               {"name: a\nname: b", "P.yaml:2: the key \"name\" occurs twice"},
		"two documents":       {"name: a\n---\nname: b", "a second document begins here"},
		"not text":            {"name: \xff", "P.yaml:1: the file is not UTF-8 text"},
		"both dirs":           {"name: a\nconfig: x\nstackConfigDir: y", "`config` is a text and `stackConfigDir` is set as well"},
		"unknown type":        {"name: a\nconfig:\n  k: {type: text}", "P.yaml:3: a:k has the unknown type \"text\""},
		"array items":         {"name: a\nconfig:\n  k: {type: array}", "is an array without `items`"},
		"default type":        {"name: a\nconfig:\n  k: {type: integer, default: x}", "the default of a:k is not of the type integer"},
		"default and value":   {"name: a\nconfig:\n  k: {default: x, value: y}", "has both `default` and `value`"},
		"foreign type":        {"name: a\nconfig:\n  aws:k: {type: string, value: x}", "belongs to another namespace"},
		"foreign no value":    {"name: a\nconfig:\n  aws:k: {description: x}", "aws:k has no `value`"},
		"declared twice":      {"name: a\nconfig:\n  k: 1\n  a:k: 2", "a:k is declared twice"},
		"misspelt secret":     {"name: a\nconfig:\n  k: {type: string, secrt: true}", "the declaration of a:k has no field `secrt`; did you mean `secret`?"},
		"misspelt backend":    {"name: a\nbackend: {ulr: 'file://~'}", "`backend` has no field `ulr`; did you mean `url`?"},
		"misspelt refresh":    {"name: a\noptions: {refrsh: always}", "`options` has no field `refrsh`; did you mean `refresh`?"},
		"folder as name":      {"name: ..", "P.yaml:1: \"..\" is not a project name"},
		"path as runtime":     {"name: a\nruntime: ../x", "P.yaml:2: \"../x\" cannot be the name of a runtime"},
		"path in runtime":     {"name: a\nruntime: {name: ../x}", "P.yaml:2: \"../x\" cannot be the name of a runtime"},
		"path as plugin":      {"name: a\nplugins: {languages: [{name: ../x, path: y}]}", "P.yaml:2: \"../x\" cannot be the name of a plugin"},
		"path as package":     {"name: a\npackages: {../x: ./y}", "P.yaml:2: \"../x\" cannot be the name of a package"},
		"plugin without path": {"name: a\nplugins: {providers: [{name: x}]}", "lacks `name` or `path`"},
		"exponential": {"name: a\na: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n" +
			"d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\n" +
			"g: [*f,*f,*f,*f,*f,*f,*f,*f,*f,*f]", "expand to too many values"},
		"deep": {"name: a\nx: " + strings.Repeat("[", 300) + strings.Repeat("]", 300), "nest more than 200 levels deep"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseProject("P.yaml", []byte(c.text))
			require.ErrorContains(t, err, c.want)
			var file *FileError
			require.ErrorAs(t, err, &file)
		})
	}
}

func TestProjectFieldsAreRead(t *testing.T) {
	p, err := ParseProject("/x/Pulumi.yaml", []byte("\xef\xbb\xbf"+`
name: demo
runtime:
  name: nodejs
  options: {typescript: false, nodeargs: --trace, level: 3}
main: src
backend: {url: "file://~"}
options: {refresh: always}
requiredPulumiVersion: ">=3.0.0"
config:
  size: 3
  name: {type: string, description: what, secret: true}
  aws:region: eu
plugins:
  providers: [{name: a, path: ./bin, version: 1.0.0}]
Template: misspelled
`))
	require.NoError(t, err)
	require.Equal(t, "nodejs", p.Runtime)
	require.Equal(t, map[string]any{"typescript": false, "nodeargs": "--trace", "level": 3.0}, p.RuntimeOptions)
	require.Equal(t, "file://~", p.BackendURL)
	require.True(t, p.RefreshAlways)
	require.Equal(t, []NamedPlugin{{Name: "a", Path: "/x/bin", Version: "1.0.0"}}, p.Plugins.Providers)
	require.Len(t, p.Declarations, 3)
	require.Equal(t, "aws:region", p.Declarations[0].Key.String())
	require.Equal(t, []string{"/x/Pulumi.yaml:5: `level` in the options of the runtime nodejs is not used; what is known: `nodeargs`, `packagemanager`, `tsconfig`, `typescript`",
		"/x/Pulumi.yaml:16: `Template` is not used; did you mean `template`?"}, p.Warnings)
}

func TestJSONProjectsMayBeIndentedWithTabs(t *testing.T) {
	p, err := ParseProject("Pulumi.json", []byte("{\n\t\"name\": \"demo\",\n\t\"runtime\": \"go\"\n}"))
	require.NoError(t, err)
	require.Equal(t, "demo", p.Name)
	_, err = ParseProject("Pulumi.json", []byte("{\n\"name\": \"demo\",\n}"))
	require.ErrorContains(t, err, "Pulumi.json:")
	_, err = ParseProject("Pulumi.json", []byte(`{"name": `))
	require.ErrorContains(t, err, "unexpected end of the file")
}

func TestNearestProjectFileIsFound(t *testing.T) {
	dir := t.TempDir()
	deep := filepath.Join(dir, "a", "b")
	require.NoError(t, os.MkdirAll(deep, 0o755))
	_, err := FindProject(deep)
	require.ErrorIs(t, err, ErrNoProject)
	for _, path := range []string{"Pulumi.yaml", "a/Pulumi.yml", "a/Pulumi.json"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, path), []byte("{}"), 0o644))
	}
	found, err := FindProject(deep)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "a", "Pulumi.json"), found)
}

func TestKeysAreParsed(t *testing.T) {
	for text, want := range map[string]string{
		"a": "p:a", "aws:region": "aws:region", "aws:config:region": "aws:region", "a.b": "p:a.b",
	} {
		k, err := ParseKey(text, "p")
		require.NoError(t, err)
		require.Equal(t, want, k.String())
	}
	for _, text := range []string{"", ":a", "a:", "a:b:c", "a:config:", "a:b:c:d"} {
		_, err := ParseKey(text, "p")
		require.Error(t, err, text)
	}
	for text, want := range map[string]Key{
		`a.b[0]`: {"p", "a.b[0]"}, `aws:a["x:y"]`: {"aws", `a["x:y"]`}, `["x.y"].z`: {"p", `["x.y"].z`}, `aws:["x"]`: {"aws", `["x"]`},
	} {
		k, err := ParsePathKey(text, "p")
		require.NoError(t, err)
		require.Equal(t, want, k)
	}
}

func TestEditsKeepEverythingElse(t *testing.T) {
	const before = `# top
encryptionsalt: v1:x # salt
config:
  # about b
  p:b: 12 # twelve
  other: {x: [1, 2]}
  p:list:
    - a # first
    # before second
    - b
environment: []
unknown: kept
# end
`
	for name, c := range map[string]struct {
		edit func(f *StackFile) error
		want string
	}{
		"same place": {func(f *StackFile) error { return f.Set(Key{"p", "b"}, "13", false) },
			strings.Replace(before, "12 # twelve", `"13" # twelve`, 1)},
		"appended": {func(f *StackFile) error { return f.Set(Key{"aws", "r"}, "eu", false) },
			strings.Replace(before, "environment", "  aws:r: eu\nenvironment", 1)},
		"bare key is spelled out": {func(f *StackFile) error { return f.SetPath(Key{"p", "other.x[1]"}, json.Number("3")) },
			strings.Replace(before, "other: {x: [1, 2]}", "p:other: {x: [1, 3]}", 1)},
		"element": {func(f *StackFile) error { return f.SetPath(Key{"p", "list[1]"}, "c") },
			strings.Replace(before, "- b\n", "- c\n", 1)},
		"next element": {func(f *StackFile) error { return f.SetPath(Key{"p", "list[2]"}, "c") },
			strings.Replace(before, "- b\n", "- b\n    - c\n", 1)},
		"typed": {func(f *StackFile) error { return f.Set(Key{"p", "b"}, true, true) },
			strings.Replace(before, "12 # twelve", "true # twelve", 1)},
		"removed": {func(f *StackFile) error { _, err := f.Remove(Key{"p", "other"}); return err },
			strings.Replace(before, "  other: {x: [1, 2]}\n", "", 1)},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "Pulumi.dev.yaml")
			require.NoError(t, os.WriteFile(path, []byte(before), 0o600))
			f, err := ReadStackFile(path, "p")
			require.NoError(t, err)
			require.NoError(t, c.edit(f))
			require.NoError(t, f.Save())
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, c.want, string(after))
			info, err := os.Stat(path)
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
			entries, err := os.ReadDir(filepath.Dir(path))
			require.NoError(t, err)
			require.Len(t, entries, 1, "no temporary file is left")
		})
	}
}

func TestSaveWithoutChangesWritesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "Pulumi.dev.yaml")
	f, err := ReadStackFile(path, "p")
	require.NoError(t, err)
	require.NoError(t, f.Save())
	require.NoFileExists(t, path)
}

func TestEditsAreMadeOnWhatIsThereWhenTheyAreSaved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "folder", "Pulumi.dev.yaml")
	var together conc.WaitGroup
	const n = 20
	for i := range n {
		together.Go(func() {
			f, err := ReadStackFile(path, "p")
			require.NoError(t, err)
			require.NoError(t, f.Set(Key{"p", fmt.Sprint("key", i)}, i, false))
			require.NoError(t, f.SetPath(Key{"p", fmt.Sprintf("list.of%d", i)}, "x"))
			require.NoError(t, f.Save())
		})
	}
	together.Wait()
	f, err := ReadStackFile(path, "p")
	require.NoError(t, err)
	require.Len(t, f.Keys(), n+1)
	list, _ := f.Value(Key{"p", "list"})
	require.Len(t, list, n)

	for i := range n {
		together.Go(func() {
			f, err := ReadStackFile(path, "p")
			require.NoError(t, err)
			_, err = f.Remove(Key{"p", fmt.Sprint("key", i)})
			require.NoError(t, err)
			_, err = f.RemovePath(Key{"p", fmt.Sprintf("list.of%d", i)})
			require.NoError(t, err)
			require.NoError(t, f.Save())
		})
	}
	together.Wait()
	f, err = ReadStackFile(path, "p")
	require.NoError(t, err)
	require.Equal(t, []Key{{"p", "list"}}, f.Keys())
}

func TestWhatCannotBeEditedAnewIsNotWrittenOver(t *testing.T) {
	set := func(f *StackFile) error { return f.Set(Key{"p", "mine"}, "x", false) }
	for name, c := range map[string]struct {
		mine    func(*StackFile) error
		theirs  string
		because string
	}{
		"other keys":         {set, "encryptionsalt: v1:new\n", "its secrets are encrypted in another way now"},
		"no settings":        {set, "config: [\n", "Pulumi.dev.yaml:1: invalid YAML file"},
		"keys of my own":     {func(f *StackFile) error { f.SetSecrets("", "", "v1:mine"); return nil }, "config: {}\n", "more than settings is to be changed"},
		"environments":       {func(f *StackFile) error { return f.Environments.Add([]string{"e/f"}) }, "config: {}\n", "more than settings is to be changed"},
		"a replacement":      {func(f *StackFile) error { return f.Replace(map[Key]Value{{"p", "mine"}: "x"}) }, "config: {}\n", "more than settings is to be changed"},
		"other environments": {set, "environment: [e/f]\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "Pulumi.dev.yaml")
			f, err := ReadStackFile(path, "p")
			require.NoError(t, err)
			require.NoError(t, c.mine(f))
			require.NoError(t, os.WriteFile(path, []byte(c.theirs), 0o600))
			err = f.Save()
			now, failed := os.ReadFile(path)
			require.NoError(t, failed)
			if c.because == "" {
				require.NoError(t, err)
				require.Equal(t, "environment: [e/f]\nconfig:\n  p:mine: x\n", string(now))
				return
			}
			require.ErrorContains(t, err, path+" was changed by something else after this command had read it, so nothing was written; run the command again: ")
			require.ErrorContains(t, err, c.because)
			require.Equal(t, c.theirs, string(now))
		})
	}
}

func TestLinesOfSettings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "Pulumi.dev.yaml")
	require.NoError(t, os.WriteFile(path, []byte("# comment\nconfig:\n  short: x\n  p:config:old:\n    a: 1\n  aws:region: eu\n"), 0o644))
	f, err := ReadStackFile(path, "p")
	require.NoError(t, err)
	for key, line := range map[Key]int{{"p", "short"}: 3, {"p", "old"}: 4, {"aws", "region"}: 6, {"p", "region"}: 0} {
		require.Equal(t, line, f.Line(key), key)
	}
	f, err = ReadStackFile(filepath.Join(t.TempDir(), "none.yaml"), "p")
	require.NoError(t, err)
	require.Zero(t, f.Line(Key{"p", "short"}))
}

func TestJSONStackFilesKeepTheirOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "Pulumi.dev.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"z": 1, "config": {"p:b": "x", "p:a": {"k": [1, "<"]}}}`), 0o644))
	f, err := ReadStackFile(path, "p")
	require.NoError(t, err)
	require.NoError(t, f.Set(Key{"p", "c"}, Secure("v1:x:y"), false))
	require.NoError(t, f.Save())
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, `{
    "z": 1,
    "config": {
        "p:b": "x",
        "p:a": {
            "k": [
                1,
                "<"
            ]
        },
        "p:c": {
            "secure": "v1:x:y"
        }
    }
}
`, string(after))
}

func TestEditsThatMakeNoSenseAreRefused(t *testing.T) {
	const text = "config:\n  p:m: {a: 1}\n  p:l: [x]\n  p:al: &x {a: 1}\n  p:ref: *x\n"
	for name, c := range map[string]struct {
		path string
		v    Value
		want string
	}{
		"index of a mapping": {"m[0]", "x", "is a mapping, which has no index 0"},
		"key of a list":      {"l.a", "x", "is a list, which has no key"},
		"beyond the end":     {"l[5]", "x", "the next index is 1"},
		"negative":           {"l[-1]", "x", "out of range"},
		"huge":               {"new[99999999]", "x", "out of range"},
		"below a scalar":     {"m.a.b", "x", "single value"},
		"inside an alias":    {"ref.a", "x", "inside an alias"},
		"reserved":           {"m.b", map[string]any{"secure": "x"}, "reserved for secrets"},
		"begins with index":  {"[0]", "x", "a path begins with the name of a setting"},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := parseStackFile("S.yaml", "p", []byte(text), true)
			require.NoError(t, err)
			require.ErrorContains(t, f.SetPath(Key{"p", c.path}, c.v), c.want)
		})
	}
}

func TestPathsFillNewLists(t *testing.T) {
	f, err := parseStackFile("S.yaml", "p", nil, false)
	require.NoError(t, err)
	require.NoError(t, f.Set(Key{"p", "a"}, "scalar in the way", false))
	require.NoError(t, f.SetPath(Key{"p", "a[2].b"}, PathScalar("01")))
	v, ok, err := ValueAt(f.Values(), Key{"p", "a"})
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, `[null,null,{"b":"01"}]`, Text(v))
	removed, err := f.RemovePath(Key{"p", "a[0]"})
	require.NoError(t, err)
	require.True(t, removed)
	removed, err = f.RemovePath(Key{"p", "a[7].x"})
	require.NoError(t, err)
	require.False(t, removed)
	v, _ = f.Value(Key{"p", "a"})
	require.Equal(t, `[null,{"b":"01"}]`, Text(v))
}

type upper struct{}

func (upper) Decrypt(_ context.Context, c string) (string, error) { return strings.ToUpper(c), nil }

func TestEngineSeesDecryptedTextsAndJSON(t *testing.T) {
	p, err := ParseProject("P.yaml", []byte("name: p\nconfig:\n  size: 3\n  d: {default: [1, true]}\n  need: {type: string}\n"))
	require.NoError(t, err)
	f, err := parseStackFile("S.yaml", "p", []byte(`config:
  p:n: 012
  p:f: 1.50
  p:t: 2020-01-02
  p:null:
  p:s: {secure: abc}
  p:o: {a: {secure: <x>}, b: 0x10, c: 1.50, 1: true}
`), true)
	require.NoError(t, err)
	require.Equal(t, []string{"S.yaml:5: p:null has no value and counts as the empty text"}, f.Warnings)
	values, missing, err := Effective(p, f)
	require.NoError(t, err)
	require.Equal(t, []Key{{"p", "need"}}, missing)
	require.EqualError(t, Validate(t.Context(), p, "dev", values, missing, nil),
		"Stack 'dev' is missing configuration value(s) 'need'; set each with `sluice config set <key> <value>`")
	config, err := EngineConfig(t.Context(), values, upper{})
	require.NoError(t, err)
	got := map[string]string{}
	for k, v := range config {
		got[k] = v.Text
		require.Equal(t, k == "p:s" || k == "p:o", v.Secret, k)
	}
	require.Equal(t, map[string]string{
		"p:n": "012", "p:f": "1.50", "p:t": "2020-01-02", "p:null": "", "p:s": "ABC",
		"p:o": `{"1":true,"a":"\u003cX\u003e","b":16,"c":1.5}`, "p:size": "3", "p:d": "[1,true]",
	}, got)
}

func TestDeclaredTypesAreChecked(t *testing.T) {
	for name, c := range map[string]struct{ declared, value, want string }{
		"integer text":       {"{type: integer}", `"12"`, ""},
		"integer":            {"{type: integer}", "x", "must be of the type integer"},
		"boolean text":       {"{type: boolean}", `"true"`, ""},
		"boolean":            {"{type: boolean}", "yes please", "must be of the type boolean"},
		"array":              {"{type: array, items: {type: integer}}", "[1, 2]", ""},
		"array of other":     {"{type: array, items: {type: integer}}", "[1, a]", "must be of the type array<integer>"},
		"array as a text":    {"{type: array, items: {type: integer}}", "'[1, 2]'", "P.yaml declares; a text is no array: set its parts one by one, with `sluice config set --path 'k[0]' <value>`"},
		"object":             {"{type: object}", "{a: 1}", ""},
		"object as a text":   {"{type: object}", `'{"b": 1, "a": 2}'`, "P.yaml declares; a text is no object: set its parts one by one, with `sluice config set --path 'k.a' <value>`"},
		"object as words":    {"{type: object}", "x", "`sluice config set --path 'k.<name>' <value>`"},
		"a secret object":    {"{type: object}", `{secure: '{"a": 1}'}`, "`sluice config set --secret --path 'k.<name>' <value>`"},
		"secret in the open": {"{secret: true}", "x", "is declared secret"},
		"secret":             {"{secret: true, type: string}", "{secure: x}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := ParseProject("P.yaml", []byte("name: p\nconfig:\n  k: "+c.declared))
			require.NoError(t, err)
			f, err := parseStackFile("S.yaml", "p", []byte("config:\n  p:k: "+c.value), true)
			require.NoError(t, err)
			values, missing, err := Effective(p, f)
			require.NoError(t, err)
			err = Validate(t.Context(), p, "dev", values, missing, upper{})
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestPathsAreNotLongerThanValuesAreDeep(t *testing.T) {
	f, err := parseStackFile("S.yaml", "p", nil, true)
	require.NoError(t, err)
	require.NoError(t, f.SetPath(Key{"p", "a" + strings.Repeat("[0]", maxDepth-1)}, "v"))
	require.EqualError(t, f.SetPath(Key{"p", "a" + strings.Repeat("[0]", maxDepth)}, "v"), "the path that begins with a has more than 200 elements")
}

func TestLooksSecret(t *testing.T) {
	for text, want := range map[string]bool{"g8Kq2ZxT7vLp0Wd": true, "hunter2": false, "a perfectly normal sentence": false, "aaaaaaaaaaaaaaa": false} {
		require.Equal(t, want, LooksSecret(Key{"p", "dbPassword"}, text), text)
	}
	require.False(t, LooksSecret(Key{"p", "region"}, "g8Kq2ZxT7vLp0Wd"))
}

// FuzzEditStackFile edits every valid file, and checks that the edit is stored and that all other settings are
// unchanged.
func FuzzEditStackFile(f *testing.F) {
	for _, seed := range []string{
		"", "config:\n  p:a: 1\n", "# c\nconfig: {p:a: {secure: x}, b: [1, {c: d}]}\n", "a: &x [1]\nconfig:\n  p:l: *x\n",
		"config:\n  p:a: |\n    text\n    more\n", "encryptionsalt: v1\n", "config:\n  # only a comment\n", "? a\n: b\n",
	} {
		f.Add(seed, "a[0].b", "value")
	}
	f.Add("config:\n  p:a: "+strings.Repeat("[", 50_000), "a", "v")
	f.Add("config: {p:a: 1}", strings.Repeat("a[0]", 20_000), "v")
	f.Add("a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nconfig: {p:a: [*c, *c]}\n", "a[0]", "v")
	f.Fuzz(func(t *testing.T, text, path, value string) {
		before, err := parseStackFile("S.yaml", "p", []byte(text), true)
		if err != nil {
			return
		}
		old := make(map[Key]Value, len(before.Values()))
		for k, v := range before.Values() {
			old[k] = v
		}
		key := Key{"p", path}
		if before.SetPath(key, value) != nil {
			return
		}
		data, err := before.doc.bytes()
		if err != nil {
			return
		}
		after, err := parseStackFile("S.yaml", "p", data, true)
		if err != nil {
			return // Save refuses to write such a text
		}
		got, ok, err := ValueAt(after.Values(), key)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, value, got)
		top, _, err := splitPath(key)
		require.NoError(t, err)
		for k, v := range old {
			if k != top {
				require.Equal(t, v, after.Values()[k], k)
			}
		}
	})
}

func FuzzParseProject(f *testing.F) {
	f.Add("name: a\nruntime: {name: b, options: {c: 1}}\nconfig: {x: {type: array, items: {type: string}}}\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParseProject("Pulumi.yaml", []byte(text))
		if err == nil {
			require.NotEmpty(t, p.Name)
			return
		}
		var file *FileError
		require.ErrorAs(t, err, &file)
	})
}

func TestPackagesWhoseSourceIsADirectoryArePluginsOfTheProject(t *testing.T) {
	dir := t.TempDir()
	for path, text := range map[string]string{
		"Pulumi.yaml": `
name: demo
runtime: yaml
plugins: {providers: [{name: listed, path: ./bin}]}
packages:
  shop: ./shop
  listed: ./elsewhere
  aws: aws@7.0.0
  tools: {source: libs/tools, version: 1.0.0}
  cloud: {source: terraform-provider, version: 0.9.0, parameters: [a/b]}
  git: github.com/a/b
  at: {source: "https://gitlab.example.com/a/b.git/c", version: v1.2.0}
  commit: git://github.com/a/b/c/d@0123abcd
`,
		"shop/PulumiPlugin.yaml":   "name: shop\nruntime: yaml\npackages: {base: ../base, shop: ../shop}\n",
		"libs/tools/executable.sh": "",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, path), []byte(text), 0o644))
	}
	p, err := ReadProject(filepath.Join(dir, "Pulumi.yaml"))
	require.NoError(t, err)
	require.Equal(t, []NamedPlugin{
		{Name: "listed", Path: filepath.Join(dir, "bin")}, {Name: "shop", Path: filepath.Join(dir, "shop")},
		{Name: "base", Path: filepath.Join(dir, "base")}, {Name: "tools", Path: filepath.Join(dir, "libs/tools")},
		{Name: "git", DownloadURL: "git://github.com/a/b"},
		{Name: "at", DownloadURL: "git://gitlab.example.com/a/b.git/c", Version: "1.2.0"},
		{Name: "commit", DownloadURL: "git://github.com/a/b/c/d", Version: "0.0.0-x0123abcd"},
	}, p.Plugins.Providers)

	require.NoError(t, os.WriteFile(filepath.Join(dir, "shop/PulumiPlugin.yaml"), []byte("name: shop\npackages: [x]\n"), 0o644))
	_, err = ReadProject(filepath.Join(dir, "Pulumi.yaml"))
	require.ErrorContains(t, err, "shop/PulumiPlugin.yaml:2")
}

func TestAPackageIsAddedToTheFileAndNothingElseIsChanged(t *testing.T) {
	plain := Package{Name: "random", Source: "random", Version: "4.0.0"}
	made := Package{Name: "sub", Source: "bridge", Version: "1.0.0", Parameters: []string{"a b", "3.0.0"}, Server: "https://example.com"}
	long := "  sub:\n    source: bridge\n    version: 1.0.0\n    parameters:\n      - a b\n      - 3.0.0\n    pluginDownloadURL: https://example.com\n"
	for name, c := range map[string]struct {
		file, before string
		add          Package
		after        string
	}{
		"at the end":       {"Pulumi.yaml", "# top\nname: x # x\n\nruntime:   yaml", plain, "# top\nname: x # x\n\nruntime:   yaml\npackages:\n  random: random@4.0.0\n"},
		"in the long form": {"Pulumi.yaml", "name: x\nruntime: yaml\n", made, "name: x\nruntime: yaml\npackages:\n" + long},
		"below others": {
			"Pulumi.yaml", "packages:\n    a: ./a # one\n\n# the rest\nname: x\nruntime: yaml\n", plain,
			"packages:\n    a: ./a # one\n    random: random@4.0.0\n\n# the rest\nname: x\nruntime: yaml\n",
		},
		"in place of the old one": {
			"Pulumi.yaml", "name: x\nruntime: yaml\npackages:\n  random: random@3.0.0 # why\n  b: ./b\n", plain,
			"name: x\nruntime: yaml\npackages:\n  random: random@4.0.0 # why\n  b: ./b\n",
		},
		"in a long form that stays long": {
			"Pulumi.yaml", "name: x\nruntime: yaml\npackages:\n  random:\n    source: random\n", plain,
			"name: x\nruntime: yaml\npackages:\n  random:\n    source: random\n    version: 4.0.0\n",
		},
		"in braces":  {"Pulumi.yaml", "{name: x, runtime: yaml, packages: {a: ./a}}\n", plain, "{name: x, runtime: yaml, packages: {a: ./a, random: random@4.0.0}}\n"},
		"to nothing": {"Pulumi.yaml", "name: x\nruntime: yaml\npackages:\n", plain, "name: x\nruntime: yaml\npackages:\n  random: random@4.0.0\n"},
		"in JSON": {
			"Pulumi.json", `{"name": "x", "runtime": "yaml"}`, plain,
			"{\n    \"name\": \"x\",\n    \"runtime\": \"yaml\",\n    \"packages\": {\n        \"random\": \"random@4.0.0\"\n    }\n}\n",
		},
		"behind a text of several lines": {
			"Pulumi.yaml", "name: x\nruntime: yaml\npackages:\n  a:\n    source: |-\n      ./a\n", plain,
			"name: x\nruntime: yaml\npackages:\n  a:\n    source: |-\n      ./a\n  random: random@4.0.0\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), c.file)
			require.NoError(t, os.WriteFile(path, []byte(c.before), 0o644))
			require.NoError(t, AddPackage(path, c.add))
			got, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, c.after, string(got))
			p, err := ReadProject(path)
			require.NoError(t, err)
			require.Contains(t, p.Packages, c.add)
		})
	}
	path := filepath.Join(t.TempDir(), "Pulumi.yaml")
	require.NoError(t, os.WriteFile(path, []byte("name: x\npackages: [a]\n"), 0o644))
	require.ErrorContains(t, AddPackage(path, plain), "`packages` must be a mapping, not a list")
}

func TestPackagesOfAProjectAreRead(t *testing.T) {
	p, err := ParseProject("/x/Pulumi.yaml", []byte("name: x\nruntime: yaml\npackages:\n  a: a@v1.0.0\n  b: {source: bridge, version: 2.0.0, parameters: [one, 2]}\n"))
	require.NoError(t, err)
	require.Equal(t, []Package{
		{Name: "a", Source: "a", Version: "1.0.0"}, {Name: "b", Source: "bridge", Version: "2.0.0", Parameters: []string{"one", "2"}},
	}, p.Packages)
	for text, problem := range map[string]string{
		"packages: {a: {source: b, parameters: x}}":                    "the `parameters` of the package \"a\" must be a list, not a text",
		"packages: {a: {source: b, parameters: [[]]}}":                 "one of the `parameters` of the package \"a\" must be a text, not a list",
		"packages: {a: {source: b, extensions: x}}":                    "the `extensions` of the package \"a\" must be a list, not a text",
		"packages: {a: {source: b, extensions: [x], parameters: [y]}}": "the package \"a\" has both `parameters` and `extensions`",
		"packages: {a: []}": "`a` must be a text, not a list",
	} {
		_, err := ParseProject("/x/Pulumi.yaml", []byte("name: x\nruntime: yaml\n"+text+"\n"))
		require.ErrorContains(t, err, problem)
	}
}

func TestTheNearestFileTakesPackages(t *testing.T) {
	root := t.TempDir()
	deep := filepath.Join(root, "plugin", "deep")
	require.NoError(t, os.MkdirAll(deep, 0o755))
	_, err := PackageFile(deep)
	require.ErrorIs(t, err, ErrNoProject)
	project, manifest := filepath.Join(root, "Pulumi.yaml"), filepath.Join(root, "plugin", "PulumiPlugin.yaml")
	require.NoError(t, os.WriteFile(project, nil, 0o644))
	file, err := PackageFile(deep)
	require.NoError(t, err)
	require.Equal(t, project, file)
	require.NoError(t, os.WriteFile(manifest, nil, 0o644))
	file, err = PackageFile(deep)
	require.NoError(t, err)
	require.Equal(t, manifest, file)
	file, err = PackageFile(root)
	require.NoError(t, err)
	require.Equal(t, project, file)
}

func TestUnknownKeysOfAStackFileAreWarningsAndKept(t *testing.T) {
	const known = "secretsprovider: passphrase\nencryptedkey: a\nencryptionsalt: v1:x\nenvironment: [base]\nconfig:\n  p:a: \"1\"\n"
	f, err := parseStackFile("S.yaml", "p", []byte(known), true)
	require.NoError(t, err)
	require.Empty(t, f.Warnings)

	const unknown = "shared: &shared\n  b: 2\nconfg:\n  p:b: 2 # two\naws:region: eu # west\nconfig:\n  p:c: *shared\n  p:a: \"1\"\n"
	f, err = parseStackFile("S.yaml", "p", []byte(unknown), true)
	require.NoError(t, err)
	want := []string{"S.yaml:3: `confg` is not used; did you mean `config`?", "S.yaml:5: `aws:region` is not used; settings belong below `config`"}
	require.Equal(t, want, f.Warnings)
	require.NoError(t, f.Set(Key{"p", "a"}, "3", false))
	require.Equal(t, want, f.Warnings)
	written, err := f.doc.bytes()
	require.NoError(t, err)
	require.Equal(t, strings.Replace(unknown, `p:a: "1"`, `p:a: "3"`, 1), string(written))
}

func TestMisspeltFieldsOfAProjectAreWarnings(t *testing.T) {
	const known = "name: demo\nruntime: yaml\nmain: .\ndescription: a\nauthor: a\nwebsite: a\nlicense: a\nconfig: {}\nstackConfigDir: a\nbackend: {url: a}\n" +
		"options: {}\nplugins: {}\npackages: {}\ntemplate: {}\nrequiredPulumiVersion: \">=3.0.0\"\n" +
		"pulumi: {}\nconfiguration: {}\nvariables: {}\nresources: {}\noutputs: {}\ncomponents: {}\nnamespace: a\nversion: 1.0.0\nsdks: {}\nartifacts: {}\n"
	const notes = "tags: {}\nx-notes: {}\nstacks: []\nOutputs: {}\n"
	p, err := ParseProject("Pulumi.yaml", []byte(known+notes))
	require.NoError(t, err)
	require.Empty(t, p.Warnings)
	p, err = ParseProject("Pulumi.yaml", []byte("name: demo\nruntime: go\ndescripton: a\nstackConfigDirectory: a\nBackend: {}\n"))
	require.NoError(t, err)
	require.Equal(t, []string{
		"Pulumi.yaml:3: `descripton` is not used; did you mean `description`?",
		"Pulumi.yaml:4: `stackConfigDirectory` is not used; did you mean `stackConfigDir`?",
		"Pulumi.yaml:5: `Backend` is not used; did you mean `backend`?",
	}, p.Warnings)
}

func TestMergedObjectsArePatched(t *testing.T) {
	const base = `{"a": {"b": 1, "c": [1, 2]}, "d": "x"}`
	for patch, want := range map[string]string{
		`{}`:                         base,
		`{"a": {"b": 2}}`:            `{"a": {"b": 2, "c": [1, 2]}, "d": "x"}`,
		`{"a": {"c": [3]}}`:          `{"a": {"b": 1, "c": [3]}, "d": "x"}`,
		`{"a": null, "z": null}`:     `{"d": "x"}`,
		`{"a": {"b": null}}`:         `{"a": {"c": [1, 2]}, "d": "x"}`,
		`{"a": 1, "d": {"e": null}}`: `{"a": 1, "d": {}}`,
		`{"n": {"m": {"o": null}}}`:  `{"a": {"b": 1, "c": [1, 2]}, "d": "x", "n": {"m": {}}}`,
		`[1]`:                        `[1]`,
		`"text"`:                     `"text"`,
	} {
		var under, over any
		require.NoError(t, json.Unmarshal([]byte(base), &under))
		require.NoError(t, json.Unmarshal([]byte(patch), &over))
		got, err := json.Marshal(patched(under, over))
		require.NoError(t, err)
		require.JSONEq(t, want, string(got), patch)
		again, err := json.Marshal(under)
		require.NoError(t, err)
		require.JSONEq(t, base, string(again), "the project's value is not changed")
	}
}
