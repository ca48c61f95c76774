package report_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/fleet/report"
	"github.com/sluice-iac/sluice/fleet/run"
)

func TestTextsOfOthersAreEscaped(t *testing.T) {
	began := time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)
	v := run.View{Fleet: "shop", Operation: run.Up, By: "ada", Began: began, Stacks: []run.StackView{
		{Name: "db", Outcome: run.Outcome{
			Status: run.Failed, Why: "<script>alert(1)</script> | @team `x`\nwith more lines", Log: "```\n<b>", Began: began, Ended: began.Add(3 * time.Second),
			Changes: map[string]int{"create": 2, "same": 7},
		}},
		{Name: "web", Outcome: run.Outcome{Status: run.Skipped, Why: "needs db, which failed"}},
	}}
	folder := t.TempDir()
	var paths []string
	for _, end := range []string{".html", ".md", ".json"} {
		paths = append(paths, filepath.Join(folder, "report"+end))
	}
	require.NoError(t, report.Check(paths))
	require.NoError(t, report.Write(paths, "shop/up/1", v))
	var texts []string
	for _, p := range paths {
		text, err := os.ReadFile(p)
		require.NoError(t, err)
		texts = append(texts, string(text))
	}
	page, markdown := texts[0], texts[1]
	require.Contains(t, page, "shop: up of 2 stacks, 1 failed, 1 skipped")
	require.NotContains(t, page, "<script>")
	require.Contains(t, markdown, "| db | failed | create 2 | &lt;script&gt;alert(1)&lt;/script&gt; \\| @<!-- -->team \\`x\\` | 3s |")
	require.NotContains(t, page+markdown, "more lines", "the log has them")
	require.Contains(t, markdown, "````\n```\n<b>\n````", "the fence is longer than those in the log")
	var document struct {
		Version int
		Run     string
		Stacks  []run.StackView
	}
	require.NoError(t, json.Unmarshal([]byte(texts[2]), &document))
	require.Equal(t, report.Version, document.Version)
	require.Equal(t, v.Stacks[0].Why, document.Stacks[0].Why)

	refused := run.Outcome{Status: run.Refused, Why: "ada has refused it", Approval: &run.Approval{By: "ada"}}
	approved := run.Outcome{Status: run.Succeeded, Approval: &run.Approval{Granted: true, By: "ada"}}
	noLog := report.Markdown("shop/up/1", run.View{Stacks: []run.StackView{{Name: "db", Outcome: run.Outcome{Status: run.Failed, Why: "git fetch:\nthere is no v2"}}}})
	require.Contains(t, noLog, "| db | failed |  | git fetch: there is no v2 |  |")
	text := report.Markdown("shop/up/1", run.View{Stacks: []run.StackView{{Name: "db", Outcome: refused}, {Name: "web", Outcome: approved}}})
	require.Contains(t, text, "| db | refused |  | ada has refused it |  |")
	require.Contains(t, text, "| web | succeeded |  | approved by ada |  |")

	require.ErrorContains(t, report.Check([]string{"report.pdf"}), "ends in .html, .md or .json")
	require.ErrorContains(t, report.Check([]string{filepath.Join(folder, "nowhere/report.md")}), "there is no folder")
}
