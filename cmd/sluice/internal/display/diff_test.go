package display

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluice-iac/sluice/internal/text/comparison"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// marked shows emphasis as text: it puts reversed parts between brackets that no value contains.
func marked(text string) string {
	return strings.NewReplacer("\x1b[31;7m", "«", "\x1b[32;7m", "«", "\x1b[31m", "", "\x1b[32m", "", "\x1b[33m", "", "\x1b[35m", "", "\x1b[90m", "").
		Replace(strings.ReplaceAll(reversedEnds(text), "\x1b[m", ""))
}

// reversedEnds writes a bracket at the end of a reversed part.
func reversedEnds(text string) string {
	parts := strings.SplitAfter(text, "\x1b[m")
	for i, part := range parts {
		if strings.Contains(part, ";7m") {
			parts[i] = strings.Replace(part, "\x1b[m", "»", 1)
		}
	}
	return strings.Join(parts, "")
}

func str(s string) property.Value { return property.String(s) }

func number(f float64) property.Value { return property.Number(f) }

func object(v values) property.Value { return property.Of(property.NewMap(v)) }

func list(vs ...property.Value) property.Value { return property.ArrayOf(vs...) }

func texts(ss ...string) property.Value {
	var out []property.Value
	for _, s := range ss {
		out = append(out, str(s))
	}
	return list(out...)
}

func port(name string, number float64) property.Value {
	return object(values{"name": str(name), "port": property.Number(number), "protocol": str("tcp")})
}

func rule(from, to float64) property.Value {
	return object(values{"from": number(from), "to": number(to), "protocol": str("tcp")})
}

func manyLines(n int, change func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(change(i) + "\n")
	}
	return b.String()
}

func TestDiffs(t *testing.T) {
	hidden := property.Secret(str("hunter2"))
	line := func(i int) string { return fmt.Sprintf("line %d", i) }
	cases := map[string]struct{ old, new property.Value }{
		"text":                          {str("eu-west-1"), str("us-west-1")},
		"text with little in common":    {str("a.b"), str("something else")},
		"text, long":                    {str(strings.Repeat("word ", 20) + "old"), str(strings.Repeat("word ", 20) + "new")},
		"text, very long":               {str(strings.Repeat("é", 5000) + "old" + strings.Repeat("x", 5000)), str(strings.Repeat("é", 5000) + "new" + strings.Repeat("x", 5000))},
		"text, very long and different": {str(strings.Repeat("ab ", 1000)), str(strings.Repeat("cd ", 2000))},
		"text with controls":            {str("a\x1b[2J\u202eb"), str("a\x1b[2J\u2066b\xff")},
		"text, only spaces":             {str("a b"), str("a  b ")},
		"text, a line end":              {str("a"), str("a\n")},
		"lines":                         {str(manyLines(30, line)), str(strings.Replace(manyLines(30, line), "line 7\n", "line seven\n", 1))},
		"lines in two places":           {str(manyLines(30, line)), str("new\n" + strings.Replace(manyLines(30, line), "line 20\nline 21\n", "", 1))},
		"lines, all":                    {str(manyLines(90, line)), str(manyLines(90, func(i int) string { return fmt.Sprintf("  line %d", i) }))},
		"lines, spaces at the end":      {str("a\nb\nc\n"), str("a\nb  \nc\n")},
		"lines, line ends":              {str("a\nb\nc\n"), str("a\r\nb\r\nc\r\n")},
		"lines, no end":                 {str("a\nb\nc\n"), str("a\nb\nc")},
		"lines with controls":           {str("a\nb\x1b[31m\n\u202ec\n"), str("a\nb\x1b[32m\n\tc\n")},
		"lines from one":                {str("one"), str("one\ntwo\nthree\n")},
		"JSON":                          {str(`{"Version": "1", "Statement": [{"Sid": "a", "Action": ["get"]}, {"Sid": "b"}]}`), str(`{"Version":"1","Statement":[{"Sid":"new"},{"Sid":"a","Action":["get","put"]},{"Sid":"b"}]}`)},
		"JSON, only formatting":         {str(`{"a": 1, "b": [1, 2.0]}`), str("{\n  \"b\": [1, 2],\n  \"a\": 1\n}\n")},
		"JSON, null is a value":         {str(`{"a": null, "b": null, "__c": 1}`), str(`{"a": 1, "__c": 2}`)},
		"JSON, null inside":             {str(`{"x": {"a": null}, "y": [{"a": null}]}`), str(`{"x": {}, "y": [{}]}`)},
		"lines, long":                   {str("a\nb\n" + strings.Repeat("x", 500) + "\n"), str("a\nb\n" + strings.Repeat("x", 500) + "y\n")},
		"JSON, large numbers":           {str(`{"a": 12345678901234567890}`), str(`{"a": 12345678901234567891}`)},
		"JSON, a name twice":            {str(`{"a": 1, "a": 2}`), str(`{"a": 2}`)},
		"JSON, no longer":               {str(`{"a": 1}`), str(`{"a": 1`)},
		"JSON, array to object":         {str(`["a"]`), str(`{"a": 1}`)},
		"JSON to YAML":                  {str(`{"a": 1, "b": 2}`), str("a: 1\nb: 3\n")},
		"YAML":                          {str("kind: Pod\nspec:\n  image: a:1\n  command: |\n    one\n    two\n    three\n"), str("spec:\n  command: |\n    one\n    2\n    three\n  image: a:2\nkind: Pod\n")},
		"YAML, only a comment":          {str("a: 1\nb: 2\n"), str("# about a\na: 1\nb: 2\n")},
		"YAML, more documents":          {str("kind: A\n---\nkind: B\n"), str("kind: A\n---\nkind: New\nof: x\n---\nkind: B\n")},
		"YAML, tags":                    {str("a: !Ref x\nb: 1\n"), str("a: !Sub x\nb: 1\n")},
		"array, inserted in front":      {texts("a", "b", "c"), texts("new", "a", "b", "c")},
		"array, removed in front":       {list(rule(1, 2), rule(3, 4), rule(5, 6)), list(rule(3, 4), rule(5, 6))},
		"array, by name":                {list(port("http", 80), port("https", 443)), list(port("admin", 8080), port("http", 80), port("https", 8443))},
		"array, renamed":                {list(port("http", 80), port("https", 443)), list(port("web", 80), port("https", 443))},
		"array, another name":           {list(port("http", 80)), list(object(values{"name": str("queue"), "size": number(3)}))},
		"array, moved":                  {list(port("a", 1), port("b", 2), port("c", 3)), list(port("c", 3), port("a", 1), port("b", 20))},
		"array, moved texts":            {texts("a", "b", "c"), texts("b", "c", "a")},
		"array, changed and inserted":   {list(rule(1, 2), rule(3, 4), rule(5, 6)), list(rule(9, 9), rule(1, 2), rule(3, 40), rule(5, 6))},
		"array, in an array":            {list(texts("a", "b"), texts("c")), list(texts("x"), texts("a", "b"), texts("c", "d"))},
		"array, mixed":                  {list(number(1), str("a"), object(values{"a": number(1)})), list(str("1"), list(), object(values{"a": number(2)}))},
		"array, many":                   {list(), texts(strings.Fields(manyLines(50, func(i int) string { return fmt.Sprint(i) }))...)},
		"array, nulls":                  {list(property.Null, number(1)), list(number(1), property.Null, property.Null)},
		"array, secrets":                {list(hidden, str("a")), list(str("new"), str("hunter2"), str("a"))},
		"secret":                        {hidden, property.Secret(str("swordfish"))},
		"secret from now on":            {str("hunter2"), hidden},
		"secret no longer":              {property.Secret(object(values{"a": str("hunter2")})), object(values{"a": str("hunter2"), "b": number(1)})},
		"secret, new":                   {property.Null, hidden},
		"secret inside":                 {object(values{"a": hidden, "b": number(1)}), object(values{"a": property.Secret(str("swordfish")), "b": number(2)})},
		"secret to unknown":             {hidden, property.Secret(property.Computed())},
		"unknown":                       {str("subnet-1"), property.Computed()},
		"unknown inside":                {object(values{"a": list(str("x"))}), object(values{"a": list(str("x"), property.Computed())})},
		"number":                        {number(1), number(2.5)},
		"another type":                  {number(1), str("1")},
		"empty":                         {list(), object(values{})},
		"added":                         {property.Null, object(values{"a": str(`{"b": 1}`)})},
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		c := cases[name]
		s := step(stages.OpUpdate, "x", values{"p": c.old}, values{"p": c.new})
		s.New.PropertyDependencies = map[string][]urn.URN{"p": {thing("subnet"), thing("a\x1b[2J")}}
		fmt.Fprintf(&b, "== %s\n%s", name, marked(propertiesOf(t, Options{Color: true}, s)))
	}
	require.NotContains(t, b.String(), "\x1b")
	require.NotContains(t, b.String(), "swordfish")
	golden(t, "diffs", b.String())
}

// propertiesOf returns the lines of a step below its header.
func propertiesOf(t *testing.T, o Options, steps ...stages.StepInfo) string {
	var out bytes.Buffer
	require.NoError(t, WriteDetails(&out, o, steps))
	return after(out.String(), "[provider=")
}

// after returns the lines after the last one that contains a text.
func after(text, last string) string {
	_, rest, _ := strings.Cut(text[strings.LastIndex(text, last):], "\n")
	return rest
}

func TestReplacingPropertiesAreMarked(t *testing.T) {
	old := values{
		"name": str("a"), "size": number(1), "rules": list(rule(1, 2), rule(3, 4)), "net": object(values{"zone": str("a"), "tags": texts("x")}),
		"gone": str("x"), "policy": str(`{"a":1}`),
	}
	new := values{
		"name": str("b"), "size": number(2), "rules": list(rule(9, 9), rule(1, 2), rule(3, 4)), "net": object(values{"zone": str("b"), "tags": texts("y")}),
		"policy": str(`{"a":2}`),
	}
	replaced := func(keys []string, detailed map[string]providers.DiffKind) stages.StepInfo {
		s := step(stages.OpReplace, "x", old, new)
		s.Keys = keys
		for path, kind := range detailed {
			if s.DetailedDiff == nil {
				s.DetailedDiff = map[string]providers.PropertyDiff{}
			}
			s.DetailedDiff[path] = providers.PropertyDiff{Kind: kind, InputDiff: true}
		}
		return s
	}
	update := replaced([]string{"name"}, nil)
	update.Op = stages.OpUpdate
	cases := []struct {
		name string
		step stages.StepInfo
	}{
		{"keys", replaced([]string{"name", "gone"}, nil)},
		{"keys inside", replaced([]string{"net.zone", "rules[1].from"}, nil)},
		{"key of a document", replaced([]string{"policy"}, nil)},
		{"a key that does not differ", replaced([]string{"other"}, nil)},
		{"detailed", replaced([]string{"net"}, map[string]providers.DiffKind{
			"net.zone": providers.DiffUpdateReplace, "size": providers.DiffUpdate, "gone": providers.DiffDeleteReplace,
			"rules[0].from": providers.DiffUpdateReplace, "rules[0].to": providers.DiffUpdate, "rules[1].from": providers.DiffUpdate, "rules[2]": providers.DiffAdd,
		})},
		{"detailed without kinds", replaced([]string{"size"}, map[string]providers.DiffKind{"size": providers.DiffUpdate, "name": providers.DiffUpdate})},
		{"update", update},
	}
	var b strings.Builder
	for _, c := range cases {
		fmt.Fprintf(&b, "== %s\n%s", c.name, propertiesOf(t, Options{}, c.step))
	}
	golden(t, "diffs-forced", b.String())
}

func TestWhatIsInsideASecretIsNotShown(t *testing.T) {
	s := step(stages.OpUpdate, "x", values{"data": property.Secret(object(values{"password": str("hunter2"), "list": texts("hunter2", "a")}))},
		values{"data": property.Secret(object(values{"password": str("swordfish"), "list": texts("b", "swordfish")}))})
	s.DetailedDiff = map[string]providers.PropertyDiff{
		"data.password": {Kind: providers.DiffUpdate}, "data.list[0]": {Kind: providers.DiffUpdate, InputDiff: true}, "data.list[1]": {Kind: providers.DiffAdd},
	}
	require.Equal(t, "  ~ data.list: [secret] → [secret]\n  ~ data.password: [secret] → [secret]\n", propertiesOf(t, Options{}, s))
	require.Contains(t, propertiesOf(t, Options{Details: Details{ShowSecrets: true}}, s), `"hunter2" → "swordfish"`)
}

func TestWhatBecomesASecretIsShownThoughTheProviderSeesNoDifference(t *testing.T) {
	s := step(stages.OpUpdate, "x", values{"a-b": object(values{"c": list(str("hunter2"), str("x")), "d": str("1")}), "e": property.Secret(str("hunter2")), "f": number(1)},
		values{"a-b": object(values{"c": list(property.Secret(str("hunter2")), str("x")), "d": str("2")}), "e": str("hunter2"), "f": number(2)})
	want := "  ~ [\"a-b\"].c[0]: [secret] → [secret] (now secret, the same value)\n  ~ e: [secret] → [secret] (no longer secret, the same value)\n"
	s.Diffs = []string{"f"}
	require.Equal(t, "  ~ f: 1 → 2\n"+want, propertiesOf(t, Options{}, s))
	s.DetailedDiff = map[string]providers.PropertyDiff{`["a-b"].d`: {Kind: providers.DiffUpdate, InputDiff: true}}
	require.Equal(t, "  ~ [\"a-b\"].d: \"1\" → \"2\"\n"+want, propertiesOf(t, Options{}, s))
	s.DetailedDiff = map[string]providers.PropertyDiff{`["a-b"]`: {Kind: providers.DiffUpdate, InputDiff: true}}
	require.Equal(t, 1, strings.Count(propertiesOf(t, Options{}, s), "now secret"))
	require.Contains(t, propertiesOf(t, Options{Details: Details{ShowSecrets: true}}, s), "  ~ e: \"hunter2\" → \"hunter2\" (no longer secret, the same value)\n")
}

func TestAnUnknownWithoutAMarkMayBeASecret(t *testing.T) {
	for name, c := range map[string]struct {
		old, new            property.Value
		want, showingSecret string
	}{
		"a secret before":         {property.Secret(str("hunter2")), property.Computed(), "  ~ p: [secret] → [unknown]\n", "  ~ p: \"hunter2\" → [unknown]\n"},
		"a secret after":          {property.Computed(), property.Secret(str("hunter2")), "  ~ p: [unknown] → [secret]\n", "  ~ p: [unknown] → \"hunter2\"\n"},
		"a secret object before":  {property.Secret(object(values{"a": str("hunter2")})), property.Computed(), "  ~ p: [secret] → [unknown]\n", ""},
		"a secret unknown":        {str("1"), property.Secret(property.Computed()), "  ~ p: [secret] → [secret] (now secret)\n", ""},
		"a secret before, inside": {object(values{"a": property.Secret(str("hunter2"))}), object(values{"a": property.Computed()}), "  ~ p: {\n      ~ a: [secret] → [unknown]\n    }\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := step(stages.OpUpdate, "x", values{"p": c.old}, values{"p": c.new})
			require.Equal(t, c.want, propertiesOf(t, Options{}, s))
			if c.showingSecret != "" {
				require.Equal(t, c.showingSecret, propertiesOf(t, Options{Details: Details{ShowSecrets: true}}, s))
			}
			s.Diffs = []string{"q"}
			require.NotContains(t, propertiesOf(t, Options{}, s), "no longer secret")
			p := newDiffPrinter(false, false)
			changedOutputs.print(p, s.Old.Inputs, s.New.Inputs)
			require.Equal(t, c.want, painted(style{}, "  ", p.out.lines))
		})
	}
}

// genValue draws values of all kinds, often equal ones.
func genValue(depth int) *rapid.Generator[property.Value] {
	return rapid.Custom(func(t *rapid.T) property.Value {
		kinds := 9
		if depth == 0 {
			kinds = 5
		}
		switch rapid.IntRange(0, kinds).Draw(t, "kind") {
		case 0:
			return property.Null
		case 1:
			return number(float64(rapid.IntRange(0, 3).Draw(t, "number")))
		case 2:
			return str(rapid.OneOf(rapid.String(), rapid.StringMatching("([ab ]{0,3}\n){0,5}[ab]?")).Draw(t, "text"))
		case 3:
			return str(rapid.SampledFrom([]string{`{"a": 1}`, `{"a":1}`, `{"a":null}`, `{}`, "a: 1\nb: 2\n", "b: 2\na: 1\n", "- a\n- b\n", "a", "a ", ""}).Draw(t, "document"))
		case 4:
			return property.Computed()
		case 5:
			return property.PathAsset(rapid.SampledFrom([]string{"x", "y"}).Draw(t, "path"))
		case 6:
			return property.Secret(genValue(depth-1).Draw(t, "secret"))
		case 7:
			return object(rapid.MapOf(rapid.SampledFrom([]string{"name", "id", "a", "b.c", "__i"}), genValue(depth-1)).Draw(t, "object"))
		default:
			return list(rapid.SliceOf(genValue(depth-1)).Draw(t, "array")...)
		}
	})
}

func TestADiffIsEmptyIfAndOnlyIfTheValuesAreEqual(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		old, new := genValue(3).Draw(rt, "old"), genValue(3).Draw(rt, "new")
		p := newDiffPrinter(rapid.Bool().Draw(rt, "secrets"), rapid.Bool().Draw(rt, "full"))
		p.compare(0, label{name: "p"}, property.Path{property.Key("p")}, old, new)
		require.Equal(rt, property.Equal(old, new), len(p.out.lines) == 0)
		plain := painted(style{}, "", p.out.lines)
		require.False(rt, strings.ContainsFunc(plain, func(r rune) bool { return r != '\n' && !strconv.IsPrint(r) }), "%q", plain)
		require.Equal(rt, plain, ansi.Strip(painted(style{true}, "", p.out.lines)))
	})
}

func TestArraysCanBeRecoveredFromTheirItems(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		item := rapid.OneOf(genValue(1), rapid.Map(rapid.IntRange(0, 5), func(i int) property.Value { return object(values{"name": number(float64(i)), "x": number(1)}) }))
		old, new := rapid.SliceOf(item).Draw(rt, "old"), rapid.SliceOf(item).Draw(rt, "new")
		items, _ := comparison.Items(property.ArrayOf(old...).AsArray(), property.ArrayOf(new...).AsArray())
		var olds, news []int
		for _, i := range items {
			if i.Old != comparison.Nowhere {
				olds = append(olds, i.Old)
			}
			if i.New != comparison.Nowhere {
				news = append(news, i.New)
			}
		}
		require.Len(rt, news, len(new))
		require.True(rt, slices.IsSorted(news))
		slices.Sort(olds)
		require.Len(rt, slices.Compact(olds), len(old))
	})
}

func TestTextsCanBeRecoveredFromTheirLines(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		texts := rapid.StringMatching("([abc]{0,2}\n){0,30}[a ]{0,2}")
		old, new := texts.Draw(rt, "old"), texts.Draw(rt, "new")
		lines := merged("", old, new, "", 0)
		var was, is string
		for i, l := range lines {
			require.Equal(rt, countLines(was), l.old, i)
			require.Equal(rt, countLines(is), l.new, i)
			if l.mark != added {
				was += l.text
			}
			if l.mark != removed {
				is += l.text
			}
		}
		require.Equal(rt, old, was)
		require.Equal(rt, new, is)
		changes := 0
		for _, hunk := range hunks(lines) {
			changes += countChanges(hunk)
		}
		require.Equal(rt, countChanges(lines), changes)
	})
}

func TestHiddenItemsAreNotShown(t *testing.T) {
	s := step(stages.OpUpdate, "x", values{"p": texts("a", "b", "hunter2")}, values{"p": texts("swordfish", "a", "c")})
	s.New.HideDiff = []string{"p[*]"}
	require.Equal(t, "  ~ p: [\n      + [0]: (hidden)\n      ~ p[2] (hidden)\n      - [2]: (hidden)\n    ]\n", propertiesOf(t, Options{}, s))
}

func TestUnknownsWaitOnlyForWhatChanges(t *testing.T) {
	s := step(stages.OpUpdate, "x", values{"p": str("a"), "q": str("a")}, values{"p": property.Computed(), "q": property.Computed()})
	s.New.PropertyDependencies = map[string][]urn.URN{"p": {thing("same"), thing("made")}, "q": {thing("e"), thing("d"), thing("c"), thing("b")}}
	same := step(stages.OpSame, "same", values{}, values{})
	require.Equal(t, "  ~ p: \"a\" → [unknown until made is done]\n  ~ q: \"a\" → [unknown until b, c and 2 others are done]\n",
		propertiesOf(t, Options{}, same, s))
}

func TestDiffsOfHugeValuesAreBounded(t *testing.T) {
	const megabytes = 10 << 20
	const many = 100_000
	scattered := func(n int, change func(i int) bool, item func(i int, changed bool) property.Value) property.Value {
		out := make([]property.Value, n)
		for i := range out {
			out[i] = item(i, change(i))
		}
		return list(out...)
	}
	never := func(int) bool { return false }
	often := func(i int) bool { return i%3 == 0 }
	named := func(i int, changed bool) property.Value {
		return object(values{"name": str(fmt.Sprint("n", i)), "changed": property.Bool(changed)})
	}
	plain := func(i int, changed bool) property.Value {
		return object(values{"at": number(float64(i)), "changed": property.Bool(changed)})
	}
	alike := func(i int, changed bool) property.Value {
		return number(float64(i*i%7) + map[bool]float64{true: 0.5}[changed])
	}
	assets := func(i int, changed bool) property.Value {
		return property.PathAsset(fmt.Sprint(i, changed))
	}
	reversed := func(v property.Value) property.Value {
		var out []property.Value
		for _, e := range v.AsArray().All() {
			out = append(out, e)
		}
		slices.Reverse(out)
		return list(out...)
	}
	long := strings.Repeat("0123456789", megabytes/10)
	lines := strings.Repeat("012345678\n", megabytes/10)
	plainItems, alikeItems := scattered(many, never, plain), scattered(many, never, alike)
	for name, c := range map[string]struct{ old, new property.Value }{
		"text":              {str(long), str(long[:megabytes/2] + "x" + long[megabytes/2:])},
		"another text":      {str(long), str(strings.Repeat("abcdefghij", megabytes/10))},
		"lines":             {str(lines), str(strings.ReplaceAll(lines, "7", "8"))},
		"many short lines":  {str(strings.Repeat("\n", megabytes)), str(strings.Repeat("x\n\n", megabytes/3))},
		"a line of several": {str("a\nb\n" + long), str("a\nc\n" + long + "d")},
		"words":             {str(strings.Repeat("a b ", megabytes/4)), str(strings.Repeat("b a\t", megabytes/4))},
		"brackets":          {str(strings.Repeat("[", comparison.MaxDocument)), str(strings.Repeat("[", comparison.MaxDocument-1) + "{")},
		"aliases":           {str("a: &a [x,x]\n" + strings.Repeat("b: [*a,*a]\n", 1000)), str("a: &a [y,y]\n" + strings.Repeat("b: [*a,*a]\n", 1000))},
		"reversed names":    {scattered(many, never, named), reversed(scattered(many, often, named))},
		"items":             {plainItems, scattered(many, often, plain)},
		"alike items":       {alikeItems, reversed(scattered(many, often, alike))},
		"assets":            {scattered(many, never, assets), reversed(scattered(many, often, assets))},
		"an item in front":  {alikeItems, list(append([]property.Value{str("new")}, slices.Collect(items(alikeItems))...)...)},
	} {
		t.Run(name, func(t *testing.T) {
			got := propertiesOf(t, Options{}, step(stages.OpUpdate, "x", values{"p": c.old}, values{"p": c.new}))
			require.NotEmpty(t, got)
			require.Less(t, len(got), 30_000)
			if name == "an item in front" {
				require.Equal(t, "  ~ p: [\n      + [0]: \"new\"\n    ]\n", got)
			}
		})
	}
}

func TestManyPlacesAreCut(t *testing.T) {
	old, new := values{}, values{}
	s := step(stages.OpUpdate, "x", values{}, values{})
	s.DetailedDiff = map[string]providers.PropertyDiff{}
	for i := range 1000 {
		name := fmt.Sprintf("p%03d", i)
		old[name], new[name] = object(values{"a": number(1), "b": str("hunter2")}), object(values{"a": number(2), "b": property.Secret(str("hunter2"))})
		s.DetailedDiff[name+".a"] = providers.PropertyDiff{Kind: providers.DiffUpdate}
	}
	s.Old, s.New = resource("x", old), resource("x", new)
	got := propertiesOf(t, Options{}, s)
	require.Equal(t, 81, strings.Count(got, "\n"))
	require.True(t, strings.HasSuffix(got, "p039.b: [secret] → [secret] (now secret, the same value)\n  ~ ... and 1920 more\n"), got)
	require.Equal(t, 2000, strings.Count(propertiesOf(t, Options{Details: Details{ShowFullOutput: true}}, s), "\n"))
}

func items(v property.Value) func(func(property.Value) bool) {
	return func(yield func(property.Value) bool) {
		for _, e := range v.AsArray().All() {
			if !yield(e) {
				return
			}
		}
	}
}
