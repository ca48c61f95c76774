package why

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
)

func TestOfLongTextsTheDifferenceIsKept(t *testing.T) {
	head := strings.Repeat("é", 500)
	sensitive := func(text string) bool { return strings.Contains(text, "hunter2") }
	for name, c := range map[string]struct{ old, new, was, is string }{
		"short":          {"aaab", "aaac", "aaab", "aaac"},
		"early":          {"a" + head, "b" + head, "a" + head[:2*199] + "…", "b" + head[:2*199] + "…"},
		"late":           {head + "old", head + "new", "…" + head[:40] + "old", "…" + head[:40] + "new"},
		"one is the end": {head, head + "new", "…" + head[:40], "…" + head[:40] + "new"},
		"within a rune":  {head + "é", head + "è", "…" + head[:40] + "é", "…" + head[:40] + "è"},
		"sensitive":      {head + "old", head + "hunter2", head[:2*200] + "…", "[secret]"},
	} {
		t.Run(name, func(t *testing.T) {
			at := property.Path{property.Key("p")}
			of := func(text string) property.Map {
				return property.NewMap(map[string]property.Value{"p": property.String(text)})
			}
			was, is := Viewer{IsSensitive: sensitive}.pairAt(of(c.old), of(c.new), at)
			require.Equal(t, `"`+c.was+`"`, string(was))
			require.Equal(t, `"`+c.is+`"`, string(is))
		})
	}
}

func TestLongTextsNeedNotBeUnicode(t *testing.T) {
	text := strings.Repeat("\x80", 500)
	old, new := property.NewMap(map[string]property.Value{"p": property.String(text)}), property.NewMap(map[string]property.Value{"p": property.String(text + "x")})
	was, _ := Viewer{}.pairAt(old, new, property.Path{property.Key("p")})
	require.NotEmpty(t, was)
}

func TestAnUnknownBesideASecretIsShownAsUnknown(t *testing.T) {
	of := func(v property.Value) property.Map { return property.NewMap(map[string]property.Value{"p": v}) }
	at := property.Path{property.Key("p")}
	secret := of(property.Secret(property.String("hunter2")))
	for name, c := range map[string]struct {
		new  property.Map
		want string
	}{
		"unknown":          {of(property.Computed()), `"[unknown]"`},
		"a secret unknown": {of(property.Secret(property.Computed())), `"[secret]"`},
		"a text":           {of(property.String("hunter2")), `"[secret]"`},
	} {
		t.Run(name, func(t *testing.T) {
			was, is := Viewer{}.Pair(secret, c.new, at)
			require.Equal(t, []string{`"[secret]"`, c.want}, []string{string(was), string(is)})
			all, ok := Viewer{}.Differences(secret, c.new, at, 8)
			require.True(t, ok)
			for _, d := range all {
				require.Equal(t, []string{`"[secret]"`, c.want}, []string{string(d.Old), string(d.New)})
			}
		})
	}
}
