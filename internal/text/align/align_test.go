package align

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestCommon(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"equal":                 {"a b c", "a b c", "a b c"},
		"nothing":               {"a b", "c d", ""},
		"inserted in front":     {"a b c", "x a b c", "a b c"},
		"removed in the middle": {"a b c d", "a d", "a d"},
		"moved":                 {"a b c d", "d a b c", "a b c"},
		"repeated":              {"x a x a x", "a x x a", "x x a"},
	} {
		t.Run(name, func(t *testing.T) {
			old := strings.Fields(c.old)
			var got []string
			for _, p := range Common(old, strings.Fields(c.new)) {
				got = append(got, old[p.Old])
			}
			require.Equal(t, c.want, strings.Join(got, " "))
		})
	}
}

func TestCommonIsACommonSubsequence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		elements := rapid.SliceOf(rapid.StringMatching("[a-h]|[0-9]{3}"))
		old, new := elements.Draw(t, "old"), elements.Draw(t, "new")
		last := Pair{-1, -1}
		pairs := Common(old, new)
		for _, p := range pairs {
			require.Greater(t, p.Old, last.Old)
			require.Greater(t, p.New, last.New)
			require.Equal(t, old[p.Old], new[p.New])
			last = p
		}
		longest := longestCommon(old, new)
		if longest == max(len(old), len(new)) {
			require.Len(t, pairs, longest, "what is equal is common")
		}
		require.LessOrEqual(t, len(pairs), longest)
	})
}

func longestCommon(a, b []string) int {
	row := make([]int, len(b)+1)
	for i := range a {
		diagonal := 0
		for j := range b {
			above := row[j+1]
			if a[i] == b[j] {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return row[len(b)]
}

func TestPartsAreTheTexts(t *testing.T) {
	join := func(parts []Part) (text string) {
		for _, p := range parts {
			text += p.Text
		}
		return text
	}
	rapid.Check(t, func(t *rapid.T) {
		old, new := rapid.String().Draw(t, "old"), rapid.String().Draw(t, "new")
		require.Equal(t, old, strings.Join(Words(old), ""))
		o, n := Emphasis(old, new)
		require.Equal(t, old, join(o))
		require.Equal(t, new, join(n))
	})
}

func TestEmphasisIsOnWhatDiffers(t *testing.T) {
	text := func(parts []Part) (out string) {
		for _, p := range parts {
			if p.Differs {
				out += "<" + p.Text + ">"
			} else {
				out += p.Text
			}
		}
		return out
	}
	for name, c := range map[string]struct{ old, new, wantOld, wantNew string }{
		"a word":             {"eu-west-1", "us-west-1", "<eu>-west-1", "<us>-west-1"},
		"an addition":        {"10.0.0.0/16", "10.0.0.0/16, 10.1.0.0/16", "10.0.0.0/16", "10.0.0.0/16<, 10.1.0.0/16>"},
		"little in common":   {"one.", "something else.", "one.", "something else."},
		"spaces":             {"a  b", "a b", "a<  >b", "a< >b"},
		"a combining letter": {"cafe\u0301 with milk", "cafe with milk", "<cafe\u0301> with milk", "<cafe> with milk"},
	} {
		t.Run(name, func(t *testing.T) {
			o, n := Emphasis(c.old, c.new)
			require.Equal(t, c.wantOld, text(o))
			require.Equal(t, c.wantNew, text(n))
		})
	}
}

// The time is limited here only because a quadratic algorithm would not end: ten billion comparisons.
func TestLongSequencesAreCompared(t *testing.T) {
	const n = 100_000
	for name, element := range map[string]func(i int) string{
		"all differ":      func(i int) string { return string(rune(0x10000 + i)) },
		"few that differ": func(i int) string { return string(rune('a' + i*i%7)) },
		"two":             func(i int) string { return string(rune('a' + i%2)) },
	} {
		t.Run(name, func(t *testing.T) {
			old, new := make([]string, n), make([]string, n)
			for i := range n {
				old[i], new[n-1-i] = element(i), element(i*3)
			}
			require.Less(t, len(Common(old, new)), n+1)
			require.Len(t, Common(old, append([]string{"new"}, old...)), n)
		})
	}
}
