package display

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// wavesOf returns waves of resources. Each text has the names of one wave.
func wavesOf(root string, names ...string) stages.DeletionWaves {
	var out stages.DeletionWaves
	if root != "" {
		out.Root = thing(root)
	}
	for _, wave := range names {
		var urns []urn.URN
		for name := range strings.FieldsSeq(wave) {
			urns = append(urns, thing(name))
		}
		out.Waves = append(out.Waves, urns)
	}
	return out
}

func TestWavesOfDeletion(t *testing.T) {
	provider := urn.New("dev", "p", "", "pulumi:providers:pkg", "default")
	require.True(t, provider.IsDefaultProvider())
	withProvider := wavesOf("", "a", "b")
	withProvider.Waves[1] = append(withProvider.Waves[1], provider)
	withProvider.Waves = append(withProvider.Waves, []urn.URN{provider}, []urn.URN{urn.RootStack("dev", "p")})
	var many []stages.Event
	for i := range 8 {
		many = append(many, wavesOf(fmt.Sprint("root", i), "a", "b"))
	}
	for name, test := range map[string]struct {
		events []stages.Event
		change func(*Options)
		result stages.RunResult
		want   string
	}{
		"none": {},
		"one":  {events: []stages.Event{wavesOf("", "a b c")}},
		"few":  {events: []stages.Event{wavesOf("", "a b", "c d e", "f")}},
		"some": {
			events: []stages.Event{wavesOf("", "a b c d e f g h i j", "k l m n o p q r s", "t")},
			want:   "Deletes in 3 waves: 10, 9, 1\n\n",
		},
		"after those of replacements, which come by name": {
			events: []stages.Event{wavesOf("", strings.Fields("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20")...), wavesOf("z", "c d", "z"), wavesOf("y", "e", "f", "y")},
			want: "Deletes in 3 waves before replacing pkg:mod:Thing y: 1, 1, 1\n" +
				"Deletes in 2 waves before replacing pkg:mod:Thing z: 2, 1\n" +
				"Deletes in 20 waves: 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 and 10 more\n\n",
		},
		"with details": {
			events: []stages.Event{wavesOf("", "a b", "c"), wavesOf("z", "d", "z")},
			change: func(o *Options) { o.Diff = true },
			want: "Deletes in 2 waves before replacing pkg:mod:Thing z: 1, 1\n" +
				"    1: pkg:mod:Thing d\n" +
				"    2: pkg:mod:Thing z\n" +
				"Deletes in 2 waves: 2, 1\n" +
				"    1: pkg:mod:Thing a\n" +
				"       pkg:mod:Thing b\n" +
				"    2: pkg:mod:Thing c\n\n",
		},
		"many waves": {
			events: []stages.Event{wavesOf("", strings.Split(strings.Repeat("a,", 200)+"a", ",")...)},
			want:   "Deletes in 201 waves: 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 and 191 more\n\n",
		},
		"many replacements": {
			events: append(many, wavesOf("", "a", "b")),
			want: "Deletes in 2 waves before replacing pkg:mod:Thing root0: 1, 1\n" +
				"Deletes in 2 waves before replacing pkg:mod:Thing root1: 1, 1\n" +
				"Deletes in 2 waves before replacing pkg:mod:Thing root2: 1, 1\n" +
				"Deletes in 2 waves before replacing pkg:mod:Thing root3: 1, 1\n" +
				"Deletes in 2 waves before replacing pkg:mod:Thing root4: 1, 1\n" +
				"Deletes in waves before 3 other replacements; --diff shows them\n\n",
		},
		"default providers and the root stack do not count": {
			events: []stages.Event{withProvider},
			change: func(o *Options) { o.Diff = true },
			want:   "Deletes in 2 waves: 1, 1\n    1: pkg:mod:Thing a\n    2: pkg:mod:Thing b\n\n",
		},
		"a preview that failed": {
			events: []stages.Event{wavesOf("", "a", "b")},
			result: stages.Failed,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			o := Options{Title: "T", Out: &out, IsPreview: true}
			if test.change != nil {
				test.change(&o)
			}
			l := NewLog(o)
			for _, e := range test.events {
				l.Observe(e)
			}
			if test.result == "" {
				test.result = stages.Succeeded
			}
			l.Observe(stages.Summary{IsPreview: true, Result: test.result})
			l.Close()
			want := "T\n\n" + test.want + "Resources:\n    no changes\n"
			if name == "a preview that failed" {
				want = "T\n" // the rest of the plan is unknown
			}
			require.Equal(t, want, out.String())
		})
	}
}

func TestWavesInThePreviewDocument(t *testing.T) {
	d := NewPreviewDocument(Options{Details: Details{Extended: true}})
	d.Observe(wavesOf("", "a b", "c"))
	d.Observe(wavesOf("z", "d", "z"))
	var out bytes.Buffer
	require.NoError(t, d.Write(&out, nil, nil))
	var doc struct {
		DeletionWaves []struct {
			Root  string
			Waves [][]string
		}
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), &doc))
	require.Len(t, doc.DeletionWaves, 2)
	require.Equal(t, string(thing("z")), doc.DeletionWaves[0].Root)
	require.Equal(t, [][]string{{string(thing("d"))}, {string(thing("z"))}}, doc.DeletionWaves[0].Waves)
	require.Empty(t, doc.DeletionWaves[1].Root)
	require.Equal(t, [][]string{{string(thing("a")), string(thing("b"))}, {string(thing("c"))}}, doc.DeletionWaves[1].Waves)
}

// Pulumi's programs read the log, so it has no kinds of events that Pulumi does not have.
func TestWavesAreNotInTheEventLog(t *testing.T) {
	var out bytes.Buffer
	l := StreamEvents(&out, true)
	l.Observe(wavesOf("", "a", "b"))
	require.NoError(t, l.Close())
	require.Equal(t, 1, strings.Count(out.String(), "\n"), out.String())
	require.Contains(t, out.String(), `"sequence":0`)
}
