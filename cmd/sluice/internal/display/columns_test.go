package display

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Names begin in one column at any width, whole, and short ones are followed by the outcomes in one column.
func TestTheColumnsOfATreeFitTheTerminal(t *testing.T) {
	for width, want := range map[int]string{
		60: `
 +  command:local:Command   cmd              create
 +  …index:RandomPassword   a-rather-long-name-of-a-password
         create
 +  …index:RandomString     a-short          create
`,
	} {
		require.Equal(t, strings.TrimPrefix(want, "\n"), treeAt(width), "%d columns", width)
	}
	for width := 40; width <= 120; width++ {
		at := -1
		for _, line := range strings.Split(strings.TrimSuffix(treeAt(width), "\n"), "\n") {
			require.LessOrEqual(t, ansi.StringWidth(line), width)
			for _, name := range []string{" cmd", " a-short"} {
				if before, _, has := strings.Cut(line, name+" "); has {
					if at < 0 {
						at = ansi.StringWidth(before)
					}
					require.Equal(t, at, ansi.StringWidth(before), "%d columns: %s", width, line)
				}
			}
		}
		require.Positive(t, at)
	}
}

func treeAt(width int) string {
	var out strings.Builder
	r := NewReport(Options{Title: "T", IsPreview: true, Out: &out, Width: func() int { return width }})
	for kind, name := range map[urn.Type]string{
		"random:index/randomString:RandomString": "a-short", "random:index/randomPassword:RandomPassword": "a-rather-long-name-of-a-password", "command:local:Command": "cmd",
	} {
		u := urn.New("dev", "p", "", kind, name)
		r.Observe(stages.StepDone{Planning: true, Step: stages.StepInfo{Op: stages.OpCreate, URN: u, New: &state.Resource{URN: u, Custom: true}}})
	}
	r.Close()
	text, _, _ := strings.Cut(strings.TrimPrefix(out.String(), "T\n"), "\n\n")
	return strings.TrimSuffix(text, "\n") + "\n"
}
