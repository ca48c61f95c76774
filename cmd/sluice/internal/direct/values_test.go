package direct

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
)

func TestValuesInYAML(t *testing.T) {
	for name, is := range map[string]struct {
		text string
		want property.Value
	}{
		"texts, numbers and null": {"{a: x, b: 3, c: 1.5, d: true, e: null}", property.Of(property.NewMap(map[string]property.Value{
			"a": property.String("x"), "b": property.Number(3), "c": property.Number(1.5), "d": property.Bool(true), "e": property.Null,
		}))},
		"JSON":                   {`["a", {"b": 1}]`, property.ArrayOf(property.String("a"), property.Of(property.NewMap(map[string]property.Value{"b": property.Number(1)})))},
		"a time is a text":       {"2026-01-02", property.String("2026-01-02")},
		"a text that is quoted":  {`"3"`, property.String("3")},
		"dollars":                {`"$5 $${x} $$${y}"`, property.String("$5 ${x} $${y}")},
		"secret":                 {"{fn::secret: [1]}", property.Secret(property.ArrayOf(property.Number(1)))},
		"prefix in any case":     {"{Fn::Secret: x}", property.Secret(property.String("x"))},
		"asset":                  {"{fn::fileAsset: a.txt}", property.PathAsset("a.txt")},
		"archive":                {"{fn::assetArchive: {a: {fn::stringAsset: x}}}", property.MemberArchive(property.NewMap(map[string]property.Value{"a": property.TextAsset("x")}))},
		"anchors and merge keys": {"[&a {x: 1}, {<<: *a}]", property.ArrayOf(property.Of(property.NewMap(map[string]property.Value{"x": property.Number(1)})), property.Of(property.NewMap(map[string]property.Value{"x": property.Number(1)})))},
		"nothing":                {"", property.Null},
		"short keys":             {"{f: 1}", property.Of(property.NewMap(map[string]property.Value{"f": property.Number(1)}))},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parse([]byte(is.text))
			require.NoError(t, err)
			require.True(t, property.Identical(is.want, got), "%v", got)
		})
	}
}

func TestWhatIsNoValueIsRefused(t *testing.T) {
	for name, is := range map[string]struct{ text, says string }{
		"reference":            {`"${password} and hunter2"`, `"${password}" refers to something outside`},
		"other function":       {"{fn::invoke: {}}", "does not evaluate fn::invoke"},
		"more than a call":     {"{fn::secret: 1, a: 2}", "must be the only key"},
		"asset of a number":    {"{fn::fileAsset: 3}", "needs a text"},
		"archive of texts":     {"{fn::assetArchive: {a: b}}", "neither an asset nor an archive"},
		"key that is a list":   {"{[1]: 2}", ""},
		"key that is a number": {"{1: 2}", "is no text"},
		"two documents":        {"a\n---\nb", "more than one document"},
		"no YAML":              {"{", ""},
		"inexact number":       {"9007199254740993", ""},
		"bomb": {"a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n" +
			"d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f,*f,*f]\n", ""},
		"alias of itself": {"&a [*a]", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse([]byte(is.text))
			require.ErrorContains(t, err, is.says)
			require.NotContains(t, err.Error(), "hunter2")
		})
	}
}

func TestNamesOfFlags(t *testing.T) {
	for name, want := range map[string]string{
		"length": "length", "bucketPrefix": "bucket-prefix", "apiURL": "api-url", "URLPath": "url-path", "ipv4Cidr": "ipv4-cidr", "snake_case": "snake-case",
		"_odd": "odd", "s3Bucket": "s3-bucket", "maxTTLSeconds": "max-ttl-seconds", "ID": "id",
	} {
		require.Equal(t, want, flagName(name), name)
	}
}

func TestTokens(t *testing.T) {
	s, err := ReadSchema([]byte(`{"name": "p", "resources": {"p:index/pet:Pet": {}, "p:s3/bucket:Bucket": {}, "p:s3/bucketV2:Bucket": {}, "p:net/lan:Port": {}, "p:index:Plain": {}},
		"functions": {"p:index:Plain/do": {"inputs": {"properties": {"__self__": {}}}}}}`))
	require.NoError(t, err)
	for text, want := range map[string]string{
		"p:Pet": "p:index/pet:Pet", "p:index:Pet": "p:index/pet:Pet", "p:index/pet:Pet": "p:index/pet:Pet", "p:s3:Bucket": "p:s3/bucket:Bucket",
		"p:s3/bucketV2:Bucket": "p:s3/bucketV2:Bucket", "p:net/lan:Port": "p:net/lan:Port", "p:Plain": "p:index:Plain",
	} {
		m, err := s.Find(text)
		require.NoError(t, err, text)
		require.NotNil(t, m.Resource, text)
		require.Equal(t, want, m.Resource.Token)
	}
	m, err := s.Find("p:s3")
	require.NoError(t, err)
	require.Equal(t, []string{"p:s3/bucket:Bucket", "p:s3/bucketV2:Bucket"}, m.Module)
	_, err = s.Find("p:s3:Buket")
	require.ErrorContains(t, err, "did you mean p:s3:Bucket?")
}

func TestWhatTheSchemaCallsSecretIsMarkedAtAnyDepth(t *testing.T) {
	s, err := ReadSchema([]byte(`{"name": "p",
		"types": {"p:index:User": {"properties": {"name": {"type": "string"}, "password": {"type": "string", "secret": true}, "friend": {"$ref": "#/types/p:index:User"}}}},
		"resources": {"p:index:R": {"inputProperties": {
			"users": {"type": "array", "items": {"$ref": "#/types/p:index:User"}}, "byName": {"type": "object", "additionalProperties": {"$ref": "#/types/p:index:User"}},
			"either": {"oneOf": [{"type": "string"}, {"$ref": "#/types/p:index:User"}]}, "plain": {"type": "string"}}}}}`))
	require.NoError(t, err)
	m, err := ParseValues("it", []byte(`{users: [{name: a, password: b, friend: {password: c}}], byName: {x: {password: d}}, either: {password: e}, plain: f}`))
	require.NoError(t, err)
	want, err := ParseValues("it", []byte(`{users: [{name: a, password: {fn::secret: b}, friend: {password: {fn::secret: c}}}], byName: {x: {password: {fn::secret: d}}},
		either: {password: {fn::secret: e}}, plain: f}`))
	require.NoError(t, err)
	require.True(t, property.IdenticalMaps(want, s.Mark(m, s.Resources["p:index:R"].InputProperties)))
}
