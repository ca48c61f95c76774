package state

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/testing/fuzzing"
	"github.com/sluice-iac/sluice/urn"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// rot13 stands in for encryption.
type rot13 struct{}

func (rot13) Encrypt(_ context.Context, s string) (string, error) { return "enc:" + rotate(s), nil }
func (rot13) Decrypt(_ context.Context, s string) (string, error) {
	return rotate(strings.TrimPrefix(s, "enc:")), nil
}

func rotate(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return 'a' + (r-'a'+13)%26
		case r >= 'A' && r <= 'Z':
			return 'A' + (r-'A'+13)%26
		}
		return r
	}, s)
}

func testDecoding(name string) DecodeOptions {
	return DecodeOptions{Name: name, Decrypter: func(context.Context, *SecretsProvider) (property.Decrypter, error) { return rot13{}, nil }}
}

func everything() *Snapshot {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	p := provider("default", "68a49983-7d86-436b-b506-afbfff9bf975")
	full := &Resource{
		URN: boxURN("full"), Custom: true, ID: "17", Type: "testpkg:index:Box",
		Inputs: property.NewMap(map[string]property.Value{
			"null": property.Null, "html": property.String("<a>&\u2028"), "big": property.Number(1e21), "small": property.Number(1e-7),
			"nan": property.Number(math.NaN()), "list": property.ArrayOf(), "map": property.Of(property.Map{}),
			"secret":  property.Secret(property.Of(property.NewMap(map[string]property.Value{"in": property.Secret(property.String("x"))}))),
			"unknown": property.Computed(),
		}),
		Outputs: property.NewMap(map[string]property.Value{"bytes": property.String("\xff\x00")}),
		Parent:  testRoot, Protect: true, Taint: true, External: true, Dependencies: []urn.URN{boxURN("plain"), testRoot},
		InitErrors: []string{"slow"}, Provider: ProviderRefOf(p),
		PropertyDependencies:    map[string][]urn.URN{"nil": nil, "html": {boxURN("plain")}, "empty": {}},
		AdditionalSecretOutputs: []string{"o"}, CustomTimeouts: Timeouts{Create: 1.5, Read: 30}.Record(), ImportID: "imp",
		RetainOnDelete: true, DeletedWith: boxURN("plain"), ReplaceWith: []urn.URN{boxURN("plain")}, Created: at,
		Modified: at.Add(time.Hour).In(time.FixedZone("", 7200)), SourcePosition: "project:///index.js#6,29",
		StackTrace: []StackFrame{{"project:///index.js#6,29"}, {}}, IgnoreChanges: []string{"a.b"}, HideDiff: []string{"c"},
		ReplaceOnChanges: []string{"*"}, ReplacementTrigger: property.ArrayOf(property.Number(1), property.Null),
		RefreshBeforeUpdate: true, ViewOf: boxURN("plain"),
		ResourceHooks: map[string][]string{"BeforeCreate": {"h"}, "AfterDelete": {"g", "h"}},
		ExtensionRef:  "ref", SnippetID: "s1",
	}
	before := full.Clone()
	before.Delete, before.ID = true, "16"
	waiting := box("waiting", func(r *Resource) { r.PendingReplacement = true })
	return &Snapshot{
		Manifest: Manifest{Time: at, Version: "v3.260.0", Magic: Magic("v3.260.0"),
			Plugins: []ManifestPlugin{{Name: "testpkg", Type: "resource", Version: "1.0.0"}}},
		SecretsProvider: &SecretsProvider{Type: "passphrase", State: json.RawMessage(`{"salt":"v1:x:y"}`)},
		Resources: []*Resource{
			{URN: testRoot, Type: urn.RootStackType, Outputs: property.NewMap(map[string]property.Value{"out": property.Bool(true)})},
			p, box("plain"), full, before, waiting,
		},
		Pending:    []Pending{{Type: Creating, Resource: box("new")}, {Type: Importing, Resource: box("imp")}},
		Metadata:   json.RawMessage(`{"integrity_error":{"error":"old"},"other":1}`),
		Snippets:   []json.RawMessage{json.RawMessage(`{"uuid":"s1","name":"n","type":"t","code":"<>","descriptor":{"name":"d"},"strange":1}`)},
		Extensions: map[string]json.RawMessage{"ref": json.RawMessage(`{"name":"n","version":"1","value":"AA=="}`)},
	}
}

func testEncoder() *Encoder {
	return NewEncoder(EncoderOptions{Encrypter: rot13{}, Crypter: everything().SecretsProvider.Identity()})
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}

func TestCheckpointBytes(t *testing.T) {
	ctx := context.Background()
	enc := testEncoder()
	b, err := enc.Checkpoint(ctx, "organization/shop/dev", everything())
	require.NoError(t, err)
	golden(t, "checkpoint.json", b)
	require.NotContains(t, string(b), "\n")
	require.NotContains(t, string(b), "integrity_error")

	c, err := DecodeCheckpoint(ctx, b, testDecoding("f"))
	require.NoError(t, err)
	require.Equal(t, 4, c.Version)
	require.Equal(t, "organization/shop/dev", c.Stack)
	require.NoError(t, Verify(c.Latest))
	again, err := testEncoder().Checkpoint(ctx, c.Stack, c.Latest)
	require.NoError(t, err)
	require.Equal(t, string(b), string(again), "reading and writing changes no byte")

	sealed, err := DecodeCheckpoint(ctx, b, DecodeOptions{})
	require.NoError(t, err)
	kept, err := NewEncoder(EncoderOptions{Crypter: everything().SecretsProvider.Identity()}).Checkpoint(ctx, c.Stack, sealed.Latest)
	require.NoError(t, err)
	require.Equal(t, string(b), string(kept), "without a key the ciphertexts are kept")
}

func TestExportBytes(t *testing.T) {
	ctx := context.Background()
	enc := NewEncoder(EncoderOptions{Plaintext: true})
	b, err := enc.Deployment(ctx, everything())
	require.NoError(t, err)
	golden(t, "export-show-secrets.json", b)
	s, err := DecodeExport(ctx, b, DecodeOptions{Name: "f"})
	require.NoError(t, err)
	out, err := testEncoder().Checkpoint(ctx, "organization/shop/dev", s)
	require.NoError(t, err)
	golden(t, "checkpoint.json", out)

	stored, err := ReexportCheckpoint(out, "f")
	require.NoError(t, err)
	golden(t, "export.json", stored)
}

func TestVersionFollowsTheFeaturesInUse(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		change func(*Snapshot)
		want   string
	}{
		"none":       {func(*Snapshot) {}, `{"version":3,"checkpoint"`},
		"refresh":    {func(s *Snapshot) { s.Resources[0].RefreshBeforeUpdate = true }, `{"version":4,"features":["refreshBeforeUpdate"],`},
		"views":      {func(s *Snapshot) { s.Resources[0].ViewOf = testRoot }, `{"version":4,"features":["views"],`},
		"hooks":      {func(s *Snapshot) { s.Resources[0].ResourceHooks = map[string][]string{"OnError": {"h"}} }, `{"version":4,"features":["hooks"],`},
		"taint":      {func(s *Snapshot) { s.Resources[0].Taint = true }, `{"version":4,"features":["taint"],`},
		"extension":  {func(s *Snapshot) { s.Resources[0].ExtensionRef = "x" }, `{"version":4,"features":["extensionParameterization"],`},
		"snippets":   {func(s *Snapshot) { s.Snippets = []json.RawMessage{[]byte(`{"uuid":"1"}`)} }, `{"version":4,"features":["snippets-prototype"],`},
		"snippet ID": {func(s *Snapshot) { s.Resources[0].SnippetID = "x" }, `{"version":4,"features":["snippets-prototype"],`},
		"pending": {func(s *Snapshot) {
			s.Pending = []Pending{{Type: Creating, Resource: box("t", func(r *Resource) { r.Taint = true })}}
		}, `{"version":4,"features":["taint"],`},
		"bytes in a secret": {func(s *Snapshot) {
			s.Resources[0].Outputs = property.NewMap(map[string]property.Value{"x": property.Secret(property.ArrayOf(property.String("\xfe")))})
		}, `{"version":4,"features":["byteString"],`},
		"two, sorted": {func(s *Snapshot) { s.Resources[0].ReplaceWith, s.Resources[0].Taint = []urn.URN{testRoot}, true }, `{"version":4,"features":["replaceWith","taint"],`},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshotOf(box("a"))
			c.change(s)
			b, err := testEncoder().Checkpoint(ctx, "s", s)
			require.NoError(t, err)
			require.True(t, bytes.HasPrefix(b, []byte(c.want)), "%s", b)
		})
	}
}

func TestDeploymentsWithFeaturesThatAreOnlyCarriedMustNotBeChanged(t *testing.T) {
	require.NoError(t, CheckMutable(nil))
	require.NoError(t, CheckMutable(snapshotOf(box("a", func(r *Resource) { r.Taint = true }))))
	require.NoError(t, CheckMutable(snapshotOf(box("a", func(r *Resource) { r.ExtensionRef = "x" }))))
	require.ErrorContains(t, CheckMutable(snapshotOf(box("a", func(r *Resource) { r.SnippetID = "x" }))), "snippets-prototype")
}

func TestOldAndDegenerateCheckpoints(t *testing.T) {
	ctx := context.Background()
	resources := `[{"urn":"` + string(boxURN("a")) + `","custom":true,"id":"1","type":"testpkg:index:Box","inputs":{"x":1,"y":2},` +
		`"defaults":{"z":1},"dependencies":["` + string(testRoot) + `"]}]`
	latest := `{"manifest":{"time":"2017-01-02T03:04:05+02:00","magic":"","version":""},"resources":` + resources + `}`
	deps := map[string][]urn.URN{"x": {testRoot}, "y": {testRoot}}
	for name, c := range map[string]struct {
		text  string
		empty bool
		deps  map[string][]urn.URN
	}{
		"placeholder":         {text: `{"version":0,"checkpoint":{"stack":"organization/p/s"}}`, empty: true},
		"never deployed":      {text: `{"version":3,"checkpoint":{"stack":"s","latest":null}}`, empty: true},
		"bare checkpoint":     {text: `{"stack":"s","config":{"a":"b"},"latest":` + latest + `}`, deps: deps},
		"version 1":           {text: `{"version":1,"checkpoint":{"stack":"s","latest":` + latest + `}}`, deps: deps},
		"version 2":           {text: `{"checkpoint":{"latest":` + latest + `},"version":2}`, deps: deps},
		"version 3":           {text: `{"version":3,"checkpoint":{"latest":` + latest + `,"unknown":[1]},"x":{}}`},
		"version 3, features": {text: `{"version":3,"features":["mystery"],"checkpoint":{"latest":` + latest + `}}`},
		"version 4":           {text: "\xef\xbb\xbf {\n\t\"version\": 4, \"features\": [\"taint\"], \"checkpoint\" : {\"latest\":" + latest + "}}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := DecodeCheckpoint(ctx, []byte(c.text), DecodeOptions{Name: "f"})
			require.NoError(t, err)
			if c.empty {
				require.Nil(t, got.Latest)
				return
			}
			require.Equal(t, c.deps, got.Latest.Resources[0].PropertyDependencies)
			summary, err := Summarise([]byte(c.text), "f")
			require.NoError(t, err)
			require.Equal(t, 1, summary.Resources)
			require.Equal(t, "2017-01-02T03:04:05+02:00", summary.Time.Format(time.RFC3339))
		})
	}
}

func TestDecodeErrorsSayWhereAndWhat(t *testing.T) {
	in := func(resource string) string {
		return `{"version":3,"checkpoint":{"latest":{"resources":[{"urn":"u:0","type":"t"},` + resource + `]}}}`
	}
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"empty":              {"", []string{"f.json", "empty"}},
		"blank":              {" \n", []string{"f.json", "empty"}},
		"truncated":          {`{"version":3,"checkpoint":{"latest":{"resources":[{"urn":"x"`, []string{"f.json", "latest", "ends in the middle"}},
		"nested checkpoints": {strings.Repeat(`{"checkpoint":`, 10_001) + "{}" + strings.Repeat("}", 10_001), []string{"nested too deeply"}},
		"truncated string":   {`{"version":3,"checkpoint":{"sta`, []string{"ends in the middle"}},
		"not an object":      {`[1]`, []string{"an object"}},
		"no checkpoint":      {`{}`, []string{"not the state of a stack"}},
		"empty checkpoint":   {`{"version":3,"checkpoint":{}}`, []string{"not the state of a stack"}},
		"an error message":   {`{"checkpoint":{"error":"x"}}`, []string{"not the state of a stack"}},
		"more text":          {`{"version":3} {}`, []string{"after the end"}},
		"no comma":           {`{"version":3 "x":1}`, []string{"comma"}},
		"too new":            {`{"version":5}`, []string{"unsupported checkpoint version 5"}},
		"features": {`{"version":4,"features":["taint","b","a"],"checkpoint":{"latest":{"resources":"never read"}}}`,
			[]string{"this stack's deployment needs support for the following features: b, a"}},
		"no urn":         {in(`{"type":"t"}`), []string{"resources[1]", "urn"}},
		"no type":        {in(`{"urn":"u:1"}`), []string{"resources[1] (u:1)", "type"}},
		"component ID":   {in(`{"urn":"u:1","type":"t","id":"x"}`), []string{"resources[1] (u:1)", "component", `"x"`}},
		"null":           {in(`null`), []string{"resources[1]", "null"}},
		"wrong kind":     {in(`{"urn":"u:1","type":"t","protect":"yes"}`), []string{"resources[1] (u:1)", "protect"}},
		"signature":      {in(`{"urn":"u:1","type":"t","inputs":{"a":{"b":{"4dabf18193072939515e22adb298388d":"x"}}}}`), []string{"resources[1] (u:1)", "inputs", "a.b", "x"}},
		"inputs no map":  {in(`{"urn":"u:1","type":"t","outputs":[1]}`), []string{"u:1", "outputs", "object"}},
		"bad time":       {in(`{"urn":"u:1","type":"t","created":"yesterday"}`), []string{"u:1", "yesterday"}},
		"pending no urn": {`{"version":3,"checkpoint":{"latest":{"pending_operations":[{"type":"creating","resource":{"type":"t"}}]}}}`, []string{"pending_operations[0]", "urn"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := DecodeCheckpoint(context.Background(), []byte(c.text), DecodeOptions{Name: "f.json"})
			var decode *DecodeError
			require.ErrorAs(t, err, &decode)
			for _, w := range append(c.want, "f.json") {
				require.ErrorContains(t, err, w)
			}
		})
	}
	for name, text := range map[string]string{
		"too old": `{"version":0,"deployment":{}}`, "bare": `{"latest":{}}`, "newer": `{"version":9,"deployment":{}}`, "nothing in it": `{"version":3}`,
	} {
		_, err := DecodeExport(context.Background(), []byte(text), DecodeOptions{Name: "f.json"})
		require.ErrorContains(t, err, "f.json", name)
	}
}

func TestOnlyTheRootIsDecodedForOutputs(t *testing.T) {
	text := `{"version":3,"checkpoint":{"latest":{"resources":[{"urn":"x","type":"t","inputs":{"4dabf18193072939515e22adb298388d":1}},` +
		`{"urn":"r","type":"pulumi:pulumi:Stack","outputs":{"a":1}}]}}}`
	m, err := DecodeOutputs(context.Background(), []byte(text), DecodeOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, m.Names())
}

// counting counts encryptions.
type counting struct{ n *int }

func (c counting) Encrypt(_ context.Context, s string) (string, error) { *c.n++; return s, nil }

func TestUnchangedResourcesAreNotEncodedAgain(t *testing.T) {
	ctx := context.Background()
	n := 0
	enc := NewEncoder(EncoderOptions{Encrypter: counting{&n}}) // without an identity only this encoder has a cache
	secret := func(r *Resource) {
		r.Inputs = property.NewMap(map[string]property.Value{"s": property.Secret(property.Number(1))})
	}
	a, b := box("a", secret), box("b", secret)
	for range 3 {
		_, err := enc.Checkpoint(ctx, "s", snapshotOf(a, b))
		require.NoError(t, err)
	}
	require.Equal(t, 2, n)
	_, err := enc.Checkpoint(ctx, "s", snapshotOf(a, box("b", secret)))
	require.NoError(t, err)
	require.Equal(t, 3, n, "another pointer is another resource")
	_, err = enc.Checkpoint(ctx, "s", snapshotOf(a, b))
	require.NoError(t, err)
	require.Equal(t, 4, n, "what the last snapshot did not have is forgotten")
}

func FuzzDecodeCheckpoint(f *testing.F) {
	good, err := testEncoder().Checkpoint(context.Background(), "organization/shop/dev", everything())
	require.NoError(f, err)
	f.Add(good)
	f.Add([]byte(`{"version":0,"checkpoint":{"stack":"s"}}`))
	f.Add([]byte(`{"version":3,"checkpoint":{"latest":{"resources":[{"inputs":{"a":` + strings.Repeat("[", 100_000)))
	f.Add([]byte(strings.Repeat(`{"version":`, 50_000)))
	f.Add([]byte(`{"version":2,"checkpoint":{"latest":{"manifest":{},"resources":[{"urn":"u","type":"t","inputs":{"a":[1,null]}}]}}}`))
	f.Add([]byte(`{"version":4,"features":[],"checkpoint":{"latest":{"metadata":null,"snippets":[null],"extensions":{"a":null}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		ctx := context.Background()
		var c *Checkpoint
		var err error
		fuzzing.Bound(t, len(data), 500, func() { c, err = DecodeCheckpoint(ctx, data, testDecoding("f")) })
		if err != nil {
			require.ErrorContains(t, err, "f")
			return
		}
		if c.Latest == nil {
			return
		}
		enc := NewEncoder(EncoderOptions{Encrypter: rot13{}, Crypter: c.Latest.SecretsProvider.Identity()})
		once, err := enc.Checkpoint(ctx, c.Stack, c.Latest)
		if err != nil {
			return // for example a name that is not UTF-8
		}
		again, err := DecodeCheckpoint(ctx, once, testDecoding("f"))
		require.NoError(t, err, "%s", once)
		enc = NewEncoder(EncoderOptions{Encrypter: rot13{}, Crypter: again.Latest.SecretsProvider.Identity()})
		twice, err := enc.Checkpoint(ctx, again.Stack, again.Latest)
		require.NoError(t, err)
		require.Equal(t, string(once), string(twice))
	})
}

func bigCheckpoint(b *testing.B, size int) []byte {
	one := everything().Resources[2].Clone()
	one.Outputs = property.NewMap(map[string]property.Value{
		"text": property.String(strings.Repeat("abc ", 60)), "list": property.ArrayOf(property.Number(1), property.Number(2)),
		"nested": property.Of(one.Inputs), "tags": property.Of(property.NewMap(map[string]property.Value{"a": property.String("b"), "c": property.Null})),
	})
	s := snapshotOf()
	for i := 0; i*485 < size; i++ { // a resource has about 485 bytes
		r := one.Clone()
		r.URN = boxURN("box-" + string(rune('a'+i%26)) + time.Duration(i).String())
		s.Resources = append(s.Resources, r)
	}
	data, err := testEncoder().Checkpoint(context.Background(), "s", s)
	require.NoError(b, err)
	return data
}

func BenchmarkDecodeCheckpoint100MB(b *testing.B) {
	data := bigCheckpoint(b, 100<<20)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		_, err := DecodeCheckpoint(context.Background(), data, testDecoding("f"))
		require.NoError(b, err)
	}
}

func BenchmarkRewriteCheckpoint(b *testing.B) {
	data := bigCheckpoint(b, 10<<20)
	c, err := DecodeCheckpoint(context.Background(), data, testDecoding("f"))
	require.NoError(b, err)
	l := NewLedger(c.Latest, LedgerOptions{Version: "t"})
	enc := testEncoder()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		s, err := l.Snapshot()
		require.NoError(b, err)
		require.NoError(b, Verify(s))
		_, err = enc.Checkpoint(context.Background(), "s", s)
		require.NoError(b, err)
	}
}
