package importfile

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

func read(t *testing.T, text string) (*File, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "import.json")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return Read(path)
}

func requests(t *testing.T, text string) ([]stages.ImportRequest, Names, error) {
	t.Helper()
	f, err := read(t, text)
	require.NoError(t, err)
	return f.Requests(t.Context(), Target{Stack: "dev", Project: "p", Protect: true, Decrypter: crypter{}})
}

// crypter encrypts by reversing.
type crypter struct{}

func (crypter) Encrypt(_ context.Context, s string) (string, error) { return reverse(s), nil }
func (crypter) Decrypt(_ context.Context, s string) (string, error) { return reverse(s), nil }

func reverse(s string) string {
	b := []byte(s)
	for i := range len(b) / 2 {
		b[i], b[len(b)-1-i] = b[len(b)-1-i], b[i]
	}
	return string(b)
}

func TestMalformedFilesSayWhere(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no JSON":         {"resources:\n", ":1:1: invalid character 'r'"},
		"a missing comma": {"{\n  \"resources\": []\n  \"nameTable\": {}\n}", ":3:3: invalid character '\"' after object key:value pair"},
		"cut off":         {"{\n  \"resources\": [", ":2:17: unexpected end of the file"},
		"empty":           {"", ":1:1: unexpected end of the file"},
		"more text":       {"{\"resources\": []}\n]", ":2:1: "},
		"two objects":     {"{}\n{}", ": unexpected text after the end of the object"},
		"a wrong type":    {"{\n  \"resources\": [{\"type\": 1}]}", ":2:"},
		"a list":          {"[]", "the file is a JSON array, which does not belong there"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(t, c.text)
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, "import.json")
		})
	}
	_, err := Read(filepath.Join(t.TempDir(), "nosuch.json"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestFaultsAreReportedTogether(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"sanity": {`{"resources": [
			{},
			{"type": "a:b:C", "name": "x"},
			{"name": "y", "id": "1"},
			{"id": "only"},
			{"type": "a:b:C", "name": "z", "id": "1", "component": true},
			{"type": "a:b:C", "name": "r", "id": "1", "remote": true},
			{"type": "a:b:C", "name": "h", "id": "<PLACEHOLDER>"},
			{"type": "pulumi:providers:a", "name": "p", "id": "1", "component": true, "outputs": {"a": 1}}]}`, []string{
			"resource 0 has no type", "resource 0 has no name", "resource 0 has no ID",
			"resource 'x' of type 'a:b:C' has no ID",
			"resource 'y' has no type",
			"resource 'only' has no name",
			"resource 'z' of type 'a:b:C' has an ID, but is marked as a component",
			"resource 'r' of type 'a:b:C' is marked as remote, but not as a component",
			"resource 'h' of type 'a:b:C' still has the ID <PLACEHOLDER>",
			"resource 'p' of type 'pulumi:providers:a' has an ID, but is a provider, which is created rather than read",
			"resource 'p' of type 'pulumi:providers:a' is a provider and may not be marked as a component",
			"resource 'p' of type 'pulumi:providers:a' is a provider and may not have outputs",
		}},
		"the name table": {`{"nameTable": {"x": "nothing"}, "resources": [{"type": "a:b:C", "name": "a", "id": "1"}]}`,
			[]string{`'x' in 'nameTable' stands for "nothing", which is not a URN`}},
		"holes in names": {`{"resources": [
			{"type": "a:b:C", "name": "a", "id": "1", "parent": "nobody"},
			{"type": "a:b:C", "name": "d", "id": "1"}, {"type": "a:b:D", "name": "d", "id": "1"},
			{"type": "a:b:C", "name": "e", "id": "1", "parent": "d"}]}`, []string{
			"the parent 'nobody' for resource 'a' of type 'a:b:C' has no entry in 'nameTable'",
			"resource 'e' of type 'a:b:C' has an ambiguous parent",
		}},
		"the same resource twice": {`{"resources": [{"type": "a:b:C", "name": "a", "id": "1"}, {"type": "a:b:C", "name": "a", "id": "2"}]}`,
			[]string{"resource 'a' of type 'a:b:C' has an ambiguous URN, set name (or logical name) to be unique"}},
		"ancestors of themselves": {`{"resources": [
			{"type": "a:b:C", "name": "a", "id": "1", "parent": "b"}, {"type": "a:b:C", "name": "b", "id": "2", "parent": "a"}]}`,
			[]string{"resource 'a' of type 'a:b:C' is an ancestor of itself"}},
		"providers": {`{"nameTable": {"table": "urn:pulumi:dev::p::a:b:C::recorded"}, "resources": [
			{"type": "a:b:C", "name": "a", "id": "1", "provider": "nobody"},
			{"type": "a:b:C", "name": "b", "id": "1", "provider": "a"},
			{"type": "a:b:C", "name": "t", "id": "1", "provider": "table"},
			{"type": "pulumi:providers:a", "name": "two"}, {"type": "pulumi:providers:b", "name": "two"},
			{"type": "a:b:C", "name": "c", "id": "1", "provider": "two"}]}`, []string{
			"the provider 'nobody' for resource 'a' of type 'a:b:C' has no entry in 'nameTable' or 'resources'",
			"the provider 'a' for resource 'b' of type 'a:b:C' is not a provider",
			"the provider 'table' for resource 't' of type 'a:b:C' is not a provider",
			"resource 'c' of type 'a:b:C' has an ambiguous provider",
		}},
		"plugins": {`{"resources": [
			{"type": "a:b:C", "name": "a", "id": "1", "version": "one"},
			{"type": "a:b:C", "name": "b", "id": "1", "version": "1.0.0", "parameterization": {"pluginName": "x", "pluginVersion": "?", "value": ""}},
			{"type": "a:b:C", "name": "c", "id": "1", "parameterization": {"pluginName": "x", "pluginVersion": "1.0.0", "value": ""},
				"extension": {"name": "e", "version": "1.0.0", "value": ""}}]}`, []string{
			"could not parse version 'one' for resource 'a'",
			"could not parse parameterization version '?' for resource 'b'",
			"resource 'c' of type 'a:b:C' has both a parameterization and an extension, which are mutually exclusive",
			"resource 'c' of type 'a:b:C' has a parameterization, but no version",
		}},
		"values": {`{"resources": [
			{"type": "a:b:C", "name": "a", "id": "1", "inputs": {"x": "04da6b54-80e4-46f7-96ec-b56ff0331ba9"}},
			{"type": "a:b:C", "name": "b", "id": "1", "outputs": [1]}]}`, []string{
			"the inputs for resource 'a' of type 'a:b:C' contain unknown values; fill them in before importing",
			"the outputs for resource 'b' of type 'a:b:C': ",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := requests(t, c.text)
			require.Error(t, err)
			for _, want := range c.want {
				require.ErrorContains(t, err, want)
			}
		})
	}
}

func TestNamesBecomeURNs(t *testing.T) {
	got, names, err := requests(t, `{
		"nameTable": {"outside": "urn:pulumi:dev::p::a:b:Group::outside", "prov": "urn:pulumi:dev::p::pulumi:providers:a::prov"},
		"resources": [
			{"type": "a:b:C", "name": "leaf", "id": "1", "parent": "middle", "provider": "prov", "version": "v1.2", "properties": ["x"],
				"pluginDownloadUrl": "https://example.com"},
			{"type": "a:b:Group", "name": "middle", "component": true, "parent": "outside", "logicalName": "the middle"},
			{"type": "a:b:D", "logicalName": "leaf", "id": "2"},
			{"type": "a:b:C", "name": "prov", "id": "3"},
			{"type": "pulumi:providers:a", "name": "own", "inputs": {"region": "r"}},
			{"type": "a:b:E", "name": "e", "id": "4", "provider": "own"}]}`)
	require.NoError(t, err)
	middle := urn.URN("urn:pulumi:dev::p::a:b:Group$a:b:Group::the middle")
	require.Equal(t, middle, got[0].Parent)
	require.Equal(t, urn.URN("urn:pulumi:dev::p::pulumi:providers:a::prov"), got[0].Provider)
	require.Equal(t, "1.2.0 https://example.com", got[0].Package.Version+" "+got[0].Package.DownloadURL)
	require.Equal(t, []string{"x"}, got[0].Properties)
	require.Equal(t, "the middle", got[1].Name)
	require.True(t, got[0].Protect)
	require.Equal(t, urn.URN("urn:pulumi:dev::p::pulumi:providers:a::own"), got[5].Provider)
	require.Equal(t, property.String("r"), got[4].Inputs.At("region"))
	require.Equal(t, Names{
		"urn:pulumi:dev::p::a:b:Group::outside":       "outside",
		"urn:pulumi:dev::p::pulumi:providers:a::prov": "prov",
		middle: "middle",
		"urn:pulumi:dev::p::a:b:Group$a:b:Group$a:b:C::leaf": "leafC",
		"urn:pulumi:dev::p::a:b:D::leaf":                     "leaf",
		"urn:pulumi:dev::p::a:b:C::prov":                     "provC",
		"urn:pulumi:dev::p::pulumi:providers:a::own":         "own",
		"urn:pulumi:dev::p::a:b:E::e":                        "e",
	}, names)
}

func TestSecretsInFilesAreOpened(t *testing.T) {
	const sealed = `{"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "\"terces\""}`
	got, _, err := requests(t, `{"providerInputs": {"p": {"token": `+sealed+`}}, "resources": [
		{"type": "a:b:C", "name": "a", "id": "1", "inputs": {"password": `+sealed+`}, "provider": "p"},
		{"type": "pulumi:providers:a", "name": "p"}]}`)
	require.NoError(t, err)
	want := property.Secret(property.String("secret"))
	require.True(t, property.Equal(want, got[0].Inputs.At("password")))
	require.True(t, property.Equal(want, got[0].ProviderInputs.At("token")))
	require.True(t, property.Equal(want, got[1].Inputs.At("token")), "the deprecated section is used where a provider has no inputs")
}

func step(op stages.Op, r *state.Resource) stages.StepInfo {
	return stages.StepInfo{Op: op, URN: r.URN, Type: r.Type, New: r, Provider: r.Provider}
}

func TestAFileListsWhatAPreviewWouldCreate(t *testing.T) {
	root := urn.RootStack("dev", "p")
	of := func(parent urn.URN, typ urn.Type, name string, provider urn.URN) *state.Resource {
		r := &state.Resource{URN: parent.Child(typ, name), Type: typ, Custom: true, Parent: parent}
		if provider != "" {
			r.Provider = urn.ProviderRef{URN: provider, ID: urn.UnknownID}.String()
		}
		return r
	}
	def := of(root, "pulumi:providers:a", "default_1_0_0", "")
	def.Inputs = property.NewMap(map[string]property.Value{"version": property.String("1.0.0")})
	mine := of(root, "pulumi:providers:a", "mine", "")
	mine.Inputs = property.NewMap(map[string]property.Value{
		"version": property.String("2.0.0"), "token": property.Secret(property.String("secret")), "late": property.Computed(),
	})
	old := of(root, "pulumi:providers:a", "old", "")
	group := of(root, "x:y:Group", "thing", "")
	group.Custom = false
	there := of(root, "x:y:Group", "there", "")
	there.Custom = false
	thing := of(group.URN, "a:b:Thing", "thing", def.URN)
	file, warnings, err := Placeholders(t.Context(), []stages.StepInfo{
		step(stages.OpCreate, &state.Resource{URN: root, Type: urn.RootStackType}), step(stages.OpCreate, def), step(stages.OpCreate, mine),
		step(stages.OpSame, old), step(stages.OpSame, there), step(stages.OpCreate, group), step(stages.OpCreate, thing),
		step(stages.OpCreate, of(there.URN, "a:b:Thing", "inner", old.URN)), step(stages.OpCreate, of(root, "a:b:Thing", "own", mine.URN)),
		step(stages.OpUpdate, of(root, "a:b:Thing", "updated", def.URN)), {Op: stages.OpDelete, URN: root.Child("a:b:Thing", "gone")},
	}, crypter{})
	require.NoError(t, err)
	require.Len(t, warnings, 1)
	require.Contains(t, warnings[0], "fill it in before importing: late")
	var text bytes.Buffer
	require.NoError(t, file.Write(&text))
	require.Equal(t, `{
    "nameTable": {
        "old": "urn:pulumi:dev::p::pulumi:providers:a::old",
        "there": "urn:pulumi:dev::p::x:y:Group::there"
    },
    "resources": [
        {
            "type": "pulumi:providers:a",
            "name": "mine",
            "version": "2.0.0",
            "inputs": {
                "token": {
                    "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
                    "ciphertext": "\"terces\""
                }
            }
        },
        {
            "type": "x:y:Group",
            "name": "thing",
            "component": true
        },
        {
            "type": "a:b:Thing",
            "name": "thingThing",
            "id": "<PLACEHOLDER>",
            "parent": "thing",
            "version": "1.0.0",
            "logicalName": "thing"
        },
        {
            "type": "a:b:Thing",
            "name": "inner",
            "id": "<PLACEHOLDER>",
            "parent": "there",
            "provider": "old"
        },
        {
            "type": "a:b:Thing",
            "name": "own",
            "id": "<PLACEHOLDER>",
            "provider": "mine",
            "version": "2.0.0"
        }
    ]
}
`, text.String())
}
