package reports_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/reports"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/testing/tier"
	"github.com/sluice-iac/sluice/urn"
)

var update = flag.Bool("update", false, "write the golden files")

func requireGolden(t *testing.T, name, is string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o777))
		require.NoError(t, os.WriteFile(path, []byte(is), 0o666))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), is)
}

func markdown(t *testing.T, d *reports.Document, limit int) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, reports.WriteMarkdown(&b, d, limit))
	return b.String()
}

func page(t *testing.T, d *reports.Document) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, reports.WriteHTML(t.Context(), &b, d))
	return b.String()
}

func TestADocumentHasWhatHappened(t *testing.T) {
	d := built()
	d.Operation.Sluice = "1.2.3"
	var b strings.Builder
	require.NoError(t, reports.WriteJSON(&b, d))
	requireGolden(t, "update.json", b.String())
	require.NotContains(t, b.String(), "hunter2")
	require.NotContains(t, b.String(), "\u202e", "what nobody sees is written as an escape")
	var again reports.Document
	require.NoError(t, json.Unmarshal([]byte(b.String()), &again))
	require.Equal(t, d.Resources[0].URN, again.Resources[0].URN)
	require.Equal(t, named("aws:s3/bucket:Bucket", hostile), find(&again, hostile).URN, "an escape is the character")
}

func find(d *reports.Document, name string) *reports.Resource {
	for i := range d.Resources {
		if d.Resources[i].Name == name {
			return &d.Resources[i]
		}
	}
	return nil
}

func TestMarkdownPutsTroubleAndDangerFirst(t *testing.T) {
	text := markdown(t, built(), reports.DefaultMarkdownLimit)
	requireGolden(t, "update.md", text)
	require.NotContains(t, text, "hunter2")
}

func TestADiffSaysWhereANewValueComesFrom(t *testing.T) {
	net := named("aws:s3/bucket:Bucket", "net")
	for name, c := range map[string]struct {
		change reports.Change
		want   string
	}{
		"a resource":                            {reports.Change{Origin: why.FromResource, From: []urn.URN{net}}, "← net"},
		"the program, or a resource through it": {reports.Change{Origin: why.FromProgram, From: []urn.URN{net}}, "← the program, unless it is made of net"},
		"the configuration":                     {reports.Change{Origin: why.FromConfiguration}, "← configuration"},
	} {
		t.Run(name, func(t *testing.T) {
			c.change.Path, c.change.Kind, c.change.Old, c.change.New = "size", reports.Updated, json.RawMessage("1"), json.RawMessage("2")
			d := built()
			web := slices.IndexFunc(d.Resources, func(r reports.Resource) bool { return r.Name == "web" })
			d.Resources[web].Changes = []reports.Change{c.change}
			require.Contains(t, markdown(t, d, reports.DefaultMarkdownLimit), "+ size: 2  "+c.want+"\n")
		})
	}
}

func TestMarkdownHasAtMostSoManyBytesAndEndsWhatItBegins(t *testing.T) {
	small, big := built(), large(1500)
	for limit := 2000; limit < 70_000; limit += 2999 {
		for _, d := range []*reports.Document{small, big} {
			text := markdown(t, d, limit)
			require.LessOrEqual(t, len(text), limit)
			requireWhole(t, text)
		}
	}
	require.Contains(t, markdown(t, big, 20_000), "that have no room here: ")
	require.NotContains(t, markdown(t, small, 65_000), "that have no room here: ")
}

func TestWhatSDKsSayOfAFailureIsLeftOut(t *testing.T) {
	b := reports.NewBuilder(options())
	say := func(text string) {
		b.Observe(stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.InfoErr, Message: text, StreamID: 1}})
	}
	for _, text := range []string{
		"before", "failed to deliver log message.", "original message: Error: 14 UNAVAILABLE: resource monitor shut down while waiting", "    at x", "message severity: error", "after",
	} {
		say(text + "\n")
	}
	said := func() string { return b.Document(display.Ending{}, start).Messages[0].Text }
	require.Contains(t, said(), "resource monitor shut down")
	b.Fail("no quota")
	require.Equal(t, "before\nafter", said())
}

func TestResourcesThatDifferOnlyInTheirNamesShareARow(t *testing.T) {
	log := &why.Log{About: why.About{Operation: "update", Project: "shop", Stack: "dev", Result: stages.Succeeded}}
	for i := range 1000 {
		log.Decisions = append(log.Decisions, why.Decision{URN: named("aws:s3/bucket:Bucket", fmt.Sprintf("r%d", i)), Op: stages.OpCreate, Reason: stages.ReasonNew})
	}
	require.Contains(t, markdown(t, reports.OfDecisions(log, "yaml"), reports.DefaultMarkdownLimit), "\n- **created** `aws:s3:Bucket` × 1,000 (`r0`, `r1`, `r2`, …)\n\n")
}

// requireWhole requires that blocks and folded parts are closed.
func requireWhole(t *testing.T, text string) {
	t.Helper()
	fence, folded := "", 0
	for _, line := range strings.Split(text, "\n") {
		ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case fence == "" && len(ticks) >= 3:
			fence = ticks
		case fence != "" && line == fence:
			fence = ""
		case fence != "":
			require.False(t, strings.HasPrefix(strings.TrimSpace(line), fence), "this ends the block: %q", line)
		case strings.HasPrefix(line, "<details>"):
			folded++
		case strings.HasPrefix(line, "</details>"):
			folded--
		}
	}
	require.Empty(t, fence)
	require.Zero(t, folded)
}

func TestNamesCannotLeaveTheirPlace(t *testing.T) {
	d := built()
	text := markdown(t, d, reports.DefaultMarkdownLimit)
	html := page(t, d)
	for _, s := range []string{text, html} {
		require.NotContains(t, s, "\u202e")
		require.NotContains(t, s, "\x1b")
	}
	require.NotContains(t, html, "<script>alert")
	require.Equal(t, 2, strings.Count(html, "</script>"), "those of the page itself")
	require.NotContains(t, text, "@everyone", "nobody is mentioned")
	inside := regexp.MustCompile("(?s)```+.*?\n```+\n").ReplaceAllString(text, "")
	require.NotRegexp(t, "(?m)^[^`]*<script>", inside)
}

func TestAPageNeedsNothingElse(t *testing.T) {
	html := page(t, built())
	require.Contains(t, html, "default-src &#39;none&#39;;")
	require.NotRegexp(t, `(?i)(src|href)\s*=|@import|url\(|fetch\(|XMLHttpRequest|https?://`, strings.ReplaceAll(strings.ReplaceAll(html, "http://new", ""), "http://old", ""))
}

func TestAnEventLogHasTheSameReport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	log, err := display.OpenEventLog(t.Context(), path, true)
	require.NoError(t, err)
	b := reports.NewBuilder(options())
	for _, e := range events() {
		log.Observe(e)
		b.Observe(e)
	}
	require.NoError(t, log.Close())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	read, err := reports.ReadEventLog(t.Context(), bytes.NewReader(text))
	require.NoError(t, err)
	want := b.Document(display.Ending{}, at(10))
	for _, d := range []*reports.Document{want, read} { // parts that a log lacks, or has less exactly
		d.Operation.Began, d.Operation.Ended, d.Operation.Message, d.Outputs = time.Time{}, time.Time{}, "", nil
		for i := range d.Resources {
			d.Resources[i].Error = ""
		}
	}
	require.Equal(t, asJSON(t, want), asJSON(t, read))

	cut := text[:bytes.Index(text, []byte("delete-replaced"))]
	read, err = reports.ReadEventLog(t.Context(), bytes.NewReader(cut))
	require.NoError(t, err)
	require.Equal(t, reports.Interrupted, read.Operation.Result)
	twice := append(bytes.Clone(text), text...)
	read, err = reports.ReadEventLog(t.Context(), bytes.NewReader(twice))
	require.NoError(t, err)
	require.Len(t, read.Policies, 1, "the report is of the last operation in it")
	ended := append(bytes.Clone(text), `{"sequence":99,"timestamp":1,"cancelEvent":{}}`+"\n"...)
	read, err = reports.ReadEventLog(t.Context(), bytes.NewReader(ended))
	require.NoError(t, err)
	require.Len(t, read.Policies, 1, "an end that is said twice begins nothing")
	_, err = reports.ReadEventLog(t.Context(), strings.NewReader("hello\n"))
	require.ErrorContains(t, err, "there are no events")
	_, err = reports.ReadEventLog(t.Context(), strings.NewReader(`{"sequence":0,"timestamp":1,"resourcePreEvent":{"metadata":{"urn":"x"}}}`+"\n"))
	require.ErrorContains(t, err, "line 1 of the event log")
}

// A log may come from anywhere.
func TestLogsMayLackStates(t *testing.T) {
	for _, kind := range []stages.ReasonKind{
		stages.ReasonInputs, stages.ReasonDrift, stages.ReasonProviderSaysSo, stages.ReasonOptions, stages.ReasonDependency, stages.ReasonProviderChanged,
		stages.ReasonTrigger, stages.ReasonReplaceWith, stages.ReasonNew, stages.ReasonReplaceOnChanges, stages.ReasonView,
	} {
		for _, states := range []string{``, `,"old":{"urn":"u","custom":true}`, `,"new":{"urn":"u","custom":true}`} {
			for _, op := range []stages.Op{stages.OpCreate, stages.OpUpdate, stages.OpReplace, stages.OpDelete, stages.OpRefresh} {
				line := fmt.Sprintf(`{"sequence":0,"timestamp":1,"resOutputsEvent":{"metadata":{"op":%q,"urn":"urn:pulumi:dev::shop::t:m:T::a","type":"t:m:T","why":{"kind":%q,"properties":["p[0].q"],"cause":"x"}%s}}}`,
					op, kind, states)
				d, err := reports.ReadEventLog(t.Context(), strings.NewReader(line+"\n"))
				require.NoError(t, err)
				require.Len(t, d.Resources, 1, line)
				require.NotEmpty(t, markdown(t, d, reports.DefaultMarkdownLimit))
			}
		}
	}
}

func TestACancelledOperationSaysWhichOldObjectsAreStillThere(t *testing.T) {
	b := reports.NewBuilder(options())
	a := resource("a", map[string]any{"size": "1"})
	for _, op := range []stages.Op{stages.OpCreateReplacement, stages.OpReplace} {
		b.Observe(stages.StepDone{Step: step(op, a, a, stages.Reason{Kind: stages.ReasonInputs}), At: start})
	}
	b.Observe(stages.Summary{Result: stages.Canceled, Changes: map[stages.Op]int{stages.OpReplace: 1}})
	b.Fail("update cancelled")
	d := b.Document(display.Ending{Decided: []display.Unreached{{URN: named("aws:s3/bucket:Bucket", "b")}}}, start)
	require.True(t, find(d, "a").OldRemains)
	require.Equal(t, "Update cancelled:\n  not reached: 1 resource (b)\n  replaced, and the old ones are still there: 1 resource (a)", d.Failure)
	text := markdown(t, d, reports.DefaultMarkdownLimit)
	require.Contains(t, text, "**1 not reached**, **1 new one created; its old one is still there**")
	require.NotContains(t, text, "aborted", "as on a terminal")
	require.Contains(t, text, "replaced, the old one is still there")
	require.NotContains(t, text, "error: update cancelled")
}

func TestWhatIsKeptOfAnOperationSaysWhichOldObjectsAreStillThere(t *testing.T) {
	a := resource("a", map[string]any{"size": "1"})
	done := func(op stages.Op) stages.Decided {
		s := step(op, a, a, stages.Reason{Kind: stages.ReasonInputs})
		return stages.Decided{StepInfo: &s}
	}
	log := why.New(why.About{Operation: "update", Result: stages.Failed}, []stages.Decided{done(stages.OpCreateReplacement), done(stages.OpReplace)}, why.Known{})
	d := reports.OfDecisions(log, "yaml")
	require.True(t, find(d, "a").OldRemains)
	require.Contains(t, markdown(t, d, reports.DefaultMarkdownLimit), "**1 new one created; its old one is still there**")
}

func TestWhatWasNotReachedIsBelowItsParent(t *testing.T) {
	base, late := resource("base", nil), resource("late", nil)
	late.Parent = base.URN
	root := resource("shop-dev", nil)
	root.URN, root.Type, root.Custom, root.Parent = stack, urn.RootStackType, false, ""
	other := resource("other", nil)
	b := reports.NewBuilder(options())
	var decided []stages.Decided
	for _, r := range []*state.Resource{root, base, late, other} {
		s := step(stages.OpCreate, nil, r, stages.Reason{Kind: stages.ReasonNew})
		one := stages.Decided{StepInfo: &s, Wanted: r}
		if r == late || r == other {
			one.Fate = stages.FateNotReached
		} else {
			b.Observe(stages.StepDone{Step: s, At: start})
		}
		decided = append(decided, one)
	}
	log := why.New(why.About{Operation: "update", Project: "shop", Stack: "dev", Result: stages.Failed}, decided, why.Known{})
	for _, d := range []*reports.Document{b.Document(display.Ending{Log: log}, start), reports.OfDecisions(log, "yaml")} {
		require.Equal(t, base.URN, find(d, "late").Parent)
		require.Equal(t, stack, find(d, "other").Parent)
		require.Equal(t, reports.NotReached, find(d, "late").Status)
	}
}

func TestWhatIsKeptOfAnOperationHasWhatTheProviderDoesNotName(t *testing.T) {
	s := step(stages.OpUpdate, resource("a", map[string]any{"size": "1", "note": "old", "tags": map[string]any{"a": "1", "b": "1"}}),
		resource("a", map[string]any{"size": "2", "note": "new", "tags": map[string]any{"a": "2", "b": "2"}}),
		stages.Reason{Kind: stages.ReasonInputs, Properties: []string{"size", "tags.a"}})
	paths := func(d *reports.Document) []string {
		var out []string
		for _, c := range find(d, "a").Changes {
			out = append(out, fmt.Sprintf("%s: %s → %s", c.Path, c.Old, c.New))
		}
		slices.Sort(out)
		return out
	}
	log := why.New(why.About{Operation: "update"}, []stages.Decided{{StepInfo: &s, Wanted: s.New}}, why.Known{})
	b := reports.NewBuilder(options())
	b.Observe(stages.StepDone{Step: s, At: start})
	want := []string{`note: "old" → "new"`, `size: "1" → "2"`, `tags.a: "1" → "2"`, `tags.b: "1" → "2"`}
	require.Equal(t, want, paths(b.Document(display.Ending{Log: log}, start)))
	require.Equal(t, want, paths(reports.OfDecisions(log, "yaml")))
}

func asJSON(t *testing.T, d *reports.Document) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, reports.WriteJSON(&b, d))
	return b.String()
}

func TestTextsWithKnownSecretsAreMasked(t *testing.T) {
	o := options()
	o.Mask = func(text string) string { return strings.ReplaceAll(text, "tiger", "[secret]") }
	b := reports.NewBuilder(o)
	b.Observe(stages.StepDone{Step: step(stages.OpCreate, nil, resource("a", map[string]any{"text": "the tiger sleeps"}), stages.Reason{}), At: start})
	b.Observe(stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.Error, URN: named("aws:s3/bucket:Bucket", "a"), Message: "tiger"}})
	b.Fail("no tiger")
	text := asJSON(t, b.Document(display.Ending{}, start))
	require.NotContains(t, text, "tiger")
	require.Contains(t, text, "no [secret]")
}

func TestTheCriticalPathIsWhatTheEndWaitedFor(t *testing.T) {
	d := built()
	var names []string
	for _, s := range d.CriticalPath {
		names = append(names, string(s.Operation)+" "+s.URN.Name())
	}
	require.Equal(t, []string{"delete old"}, names, "nothing had to be over before it")

	b := reports.NewBuilder(options())
	a, c := resource("a", nil), resource("c", nil, named("aws:s3/bucket:Bucket", "a"))
	for _, s := range []struct {
		step     stages.StepInfo
		from, to float64
	}{
		{step(stages.OpCreate, nil, a, stages.Reason{}), 0, 2}, {step(stages.OpCreate, nil, resource("b", nil), stages.Reason{}), 0, 2.5},
		{step(stages.OpCreate, nil, c, stages.Reason{}), 3, 5},
	} {
		for _, e := range taken(s.step, s.from, s.to) {
			b.Observe(e)
		}
	}
	require.Equal(t, []reports.PathStep{
		{URN: a.URN, Operation: stages.OpCreate, Seconds: 2}, {URN: c.URN, Operation: stages.OpCreate, Waited: 1, Seconds: 2},
	}, b.Document(display.Ending{}, at(6)).CriticalPath)
}

func TestADocumentIsBounded(t *testing.T) {
	o := options()
	o.Limits.Bytes, o.Limits.Changes = 20_000, 5
	b := reports.NewBuilder(o)
	many := map[string]property.Value{}
	for _, name := range strings.Split("abcdefghijkl", "") {
		many[name] = property.String(strings.Repeat("long ", 1<<16))
	}
	for _, name := range []string{"a", "b", "c"} {
		r := resource(name, nil)
		r.Inputs = property.NewMap(many)
		b.Observe(stages.StepDone{Step: step(stages.OpCreate, nil, r, stages.Reason{}), At: start})
	}
	gone := resource("gone", nil)
	gone.Inputs = property.NewMap(many)
	b.Observe(stages.StepDone{Step: step(stages.OpDelete, gone, nil, stages.Reason{}), At: start})
	d := b.Document(display.Ending{}, start)
	require.Less(t, len(asJSON(t, d)), 30_000)
	require.Equal(t, 3, d.Omitted.Details)
	require.Len(t, find(d, "gone").Changes, 5, "the most dangerous has its details")
	require.Equal(t, 7, find(d, "gone").More)
}

func TestFilesThatCannotBeWrittenAreRefused(t *testing.T) {
	folder := t.TempDir()
	there := filepath.Join(folder, "there.md")
	require.NoError(t, os.WriteFile(there, []byte("before"), 0o600))
	f := reports.Files{Paths: []string{there, filepath.Join(folder, "new.JSON")}, Markdown: 3000}
	require.NoError(t, f.Check())
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, left, 1, "a check leaves nothing")
	require.NoError(t, f.Write(t.Context(), built()))
	text, err := os.ReadFile(there)
	require.NoError(t, err)
	require.Contains(t, string(text), "Update of shop/dev")
	info, err := os.Stat(there)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "permissions stay")
	for path, says := range map[string]string{
		"x.txt": "must end in", "x": "must end in", filepath.Join(folder, "no", "x.md"): "no such file", "/proc/version/x.md": "not a directory",
	} {
		require.ErrorContains(t, reports.Files{Paths: []string{path}, Markdown: 3000}.Check(), says)
	}
}

// chromium returns the command of a browser.
func chromium(t *testing.T) string {
	t.Helper()
	tier.Slow(t, "a browser")
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("there is no Chromium on this machine: pages are not opened")
	return ""
}

// opened returns a page as a browser shows it after its script, in a window of a width in pixels.
func opened(t *testing.T, html string, width int, flags ...string) string {
	t.Helper()
	browser := chromium(t)
	path := filepath.Join(t.TempDir(), "report.html")
	require.NoError(t, os.WriteFile(path, []byte(html), 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	args := append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000", "--user-data-dir=" + t.TempDir(),
		fmt.Sprintf("--window-size=%d,900", width), "--dump-dom"}, flags...)
	cmd := exec.CommandContext(ctx, browser, append(args, "file://"+path)...)
	out, err := cmd.Output()
	require.NoError(t, err)
	return string(out)
}

func TestABrowserShowsThePage(t *testing.T) {
	dom := opened(t, page(t, built()), 1200)
	for _, text := range []string{
		`<bdi class="name">web</bdi>`, `class="row delete critical"`, // of the timeline
		`error: no quota &lt;/script&gt;`, // the failure is open
		"7 shown, 1 unchanged hidden",
		"<h2>Why it failed</h2>",
	} {
		require.True(t, strings.Contains(dom, text), text)
	}
	require.False(t, strings.Contains(dom, "<script>alert"))
	require.Equal(t, 7, strings.Count(dom, `class="node" style="cursor: pointer;"`), "the boxes of the drawing open resources")
}

// A page is as wide as its window, whatever its content: wider content scrolls in its own box.
func TestNothingOfAPageIsCutOff(t *testing.T) {
	for name, d := range map[string]*reports.Document{"5": built(), "3000": large(3000)} {
		html := strings.Replace(page(t, d), "</body>", `<script>document.title = "width " + document.documentElement.scrollWidth + " of " + document.documentElement.clientWidth</script></body>`, 1)
		for _, width := range []int{500, 1300} {
			t.Run(fmt.Sprintf("%s resources, %d pixels", name, width), func(t *testing.T) {
				is := regexp.MustCompile(`<title>width (\d+) of (\d+)</title>`).FindStringSubmatch(opened(t, html, width))
				require.Len(t, is, 3)
				require.Equal(t, is[2], is[1])
			})
		}
	}
}

// The reader's machine has another font than the one for which Graphviz plans, and it may be wider.
func TestTextsOfTheDrawingAreInTheirBoxes(t *testing.T) {
	b := reports.NewBuilder(options())
	base := resource("a-network-with-a-rather-long-name-of-many-words", nil)
	b.Observe(stages.StepDone{Step: step(stages.OpCreate, nil, base, stages.Reason{Kind: stages.ReasonNew}), At: start})
	for i := range 20 {
		r := resource(fmt.Sprintf("r%d", i), nil, base.URN)
		b.Observe(stages.StepDone{Step: step(stages.OpCreate, nil, r, stages.Reason{Kind: stages.ReasonNew}), At: start})
	}
	signs := resource(strings.Repeat("<", 20)+strings.Repeat(">", 20), nil)
	b.Observe(stages.StepDone{Step: step(stages.OpCreate, nil, signs, stages.Reason{Kind: stages.ReasonNew}), At: start})
	html := strings.Replace(page(t, b.Document(display.Ending{}, start)), "</body>", `<script>
		const texts = [...document.querySelectorAll("g.node text")];
		const outside = texts.filter((text) => {
			const at = text.getBoundingClientRect(), box = text.closest("g.node").querySelector("polygon, path").getBoundingClientRect();
			return at.left < box.left || at.right > box.right;
		});
		document.title = texts.length + " texts, outside: " + outside.map((text) => text.textContent).join(", ");
	</script></body>`, 1)
	is := regexp.MustCompile("<title>(.*)</title>").FindStringSubmatch(opened(t, html, 1200))
	require.Len(t, is, 2)
	require.Equal(t, "25 texts, outside: ", is[1])
}

// pdfText returns the text of a page that a browser has printed, and the number of sheets.
func pdfText(t *testing.T, html string) (text string, sheets int) {
	t.Helper()
	browser := chromium(t)
	reader, err := exec.LookPath("pdftotext")
	if err != nil {
		t.Skip("there is no pdftotext on this machine: printed pages are not read")
	}
	folder := t.TempDir()
	path, pdf := filepath.Join(folder, "report.html"), filepath.Join(folder, "report.pdf")
	require.NoError(t, os.WriteFile(path, []byte(html), 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	require.NoError(t, exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000", "--user-data-dir="+t.TempDir(),
		"--print-to-pdf="+pdf, "file://"+path).Run())
	out, err := exec.CommandContext(ctx, reader, "-layout", pdf, "-").Output()
	require.NoError(t, err)
	return string(out), strings.Count(string(out), "\f")
}

// A printed page has what one would have to scroll, unfold or select on a screen.
func TestAPageIsPrintedAsAWhole(t *testing.T) {
	b := reports.NewBuilder(options())
	for i := range 150 {
		r := resource(fmt.Sprintf("new%03d", i), map[string]any{"size": fmt.Sprintf("size-of-%d", i)})
		for _, e := range taken(step(stages.OpCreate, nil, r, stages.Reason{Kind: stages.ReasonNew}), float64(i), float64(i)+1) {
			b.Observe(e)
		}
		calm := resource(fmt.Sprintf("calm%03d", i), nil)
		b.Observe(stages.StepDone{Step: step(stages.OpSame, calm, calm, stages.Reason{Kind: stages.ReasonUnchanged}), At: start})
	}
	b.Observe(stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.Warning, URN: named("aws:s3/bucket:Bucket", "new149"), Message: strings.Repeat("a line\n", 60) + "the last line"}})
	text, sheets := pdfText(t, page(t, b.Document(display.Ending{}, at(200))))
	for i := range 150 {
		require.Equal(t, 1, len(regexp.MustCompile(fmt.Sprintf(`new%03d +created`, i)).FindAllString(text, -1)), "the row of %d", i)
		require.Contains(t, text, fmt.Sprintf("size-of-%d\"", i), "its properties")
		require.Regexp(t, fmt.Sprintf(`new%03d aws:s3:Bucket +creating 1.00s`, i), text, "its bar")
		require.Contains(t, text, fmt.Sprintf("calm%03d", i), "an unchanged resource")
	}
	require.Contains(t, text, "the last line")
	require.Contains(t, text, "150 × created aws:s3:Bucket", "a folded part")
	require.NotContains(t, text, "Select a resource")
	require.Less(t, sheets, 30)
}

// Nothing of an outcome is cut in a narrow window: neither at an edge of its row nor by another part of it.
func TestOutcomesAreWholeInANarrowWindow(t *testing.T) {
	b := reports.NewBuilder(options())
	parent := stack
	for i := range 12 { // a deep tree of components
		group := &state.Resource{URN: urn.New("dev", "shop", "", "shop:index:Group", fmt.Sprintf("group-with-a-long-name-%d", i)), Type: "shop:index:Group", Parent: parent}
		b.Observe(stages.StepDone{Step: step(stages.OpCreate, nil, group, stages.Reason{Kind: stages.ReasonNew}), At: start})
		parent = group.URN
	}
	for i, op := range []stages.Op{stages.OpCreate, stages.OpUpdate, stages.OpDelete, stages.OpReplace, stages.OpImport, stages.OpRefresh} {
		r := resource(strings.Repeat("long-name-", 1+3*i), nil)
		r.Parent, r.Protect = parent, i%2 == 1
		s := step(op, r, r, stages.Reason{Kind: stages.ReasonInputs, Properties: []string{"size"}})
		b.Observe(stages.StepStarted{Step: s, At: at(1)})
		b.Observe(stages.StepFailed{Step: s, At: at(2), Err: errors.New("no quota")})
	}
	log := &why.Log{Decisions: []why.Decision{{
		URN: named("aws:s3/bucket:Bucket", "left"), Op: stages.OpReplace, Reason: stages.ReasonNew, Fate: stages.FateSkipped, Protected: true, DeleteFirst: true,
		FailedDependency: named("aws:s3/bucket:Bucket", strings.Repeat("long-name-", 16)),
	}}}
	inside := strings.Replace(page(t, b.Document(display.Ending{Log: log}, at(3))), "</body>", `<script>
		const rows = [...document.querySelectorAll("#rows .row"), ...document.querySelectorAll("#bars .row")];
		const cut = rows.filter((row) => {
			const fate = row.querySelector(".fate, .took"), at = fate.getBoundingClientRect(), within = row.getBoundingClientRect();
			const name = row.querySelector(".name").getBoundingClientRect(), overlaps = name.right > at.left + 1 && name.bottom > at.top + 1;
			return at.left < within.left || at.right > within.right + 1 || at.bottom > within.bottom + 1 || fate.scrollWidth > fate.clientWidth + 1 || overlaps;
		});
		parent.document.title = rows.length + " rows, cut: " + cut.map((row) => row.textContent).join(", ");
	</script></body>`, 1)
	for _, width := range []int{320, 400, 700} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			dom := opened(t, fmt.Sprintf(`<!doctype html><title></title><iframe srcdoc="%s" style="width: %dpx; height: 3000px; border: 0"></iframe>`, html.EscapeString(inside), width), 1200)
			require.Contains(t, dom, "<title>25 rows, cut: </title>")
		})
	}
}

func TestAPageIsDarkWhereItsReaderWantsThat(t *testing.T) {
	html := strings.Replace(page(t, built()), "</body>", `<script>document.title = getComputedStyle(document.body).backgroundColor</script></body>`, 1)
	require.Contains(t, opened(t, html, 1200, "--blink-settings=preferredColorScheme=0"), "<title>rgb(20, 23, 26)</title>")
	require.Contains(t, opened(t, html, 1200, "--blink-settings=preferredColorScheme=1"), "<title>rgb(255, 255, 255)</title>")
}

func TestThereIsADrawingOfWhatChanges(t *testing.T) {
	for n, says := range map[int]string{100: "", 1000: "Resources of the same type and component are one box.", 10_000: "Resources of the same type and component are one box."} {
		html := page(t, large(n))
		require.Contains(t, html, "<svg")
		require.LessOrEqual(t, strings.Count(html, `class="node"`), 100, n)
		if says != "" {
			require.Contains(t, html, says)
		}
	}
	b := reports.NewBuilder(options())
	for i := range 200 { // one changes, and one depends on that
		r := resource(fmt.Sprintf("r%d", i), nil)
		if i == 7 {
			r = resource("r7", nil, named("aws:s3/bucket:Bucket", "r6"))
		}
		op := stages.OpSame
		if i == 6 {
			op = stages.OpUpdate
		}
		b.Observe(stages.StepDone{Step: step(op, r, r, stages.Reason{Kind: stages.ReasonUnchanged}), At: start})
	}
	html := page(t, b.Document(display.Ending{}, start))
	require.Equal(t, 2, strings.Count(html, `class="node"`))
	require.Contains(t, html, "198 resources that neither change nor are next to a change are not drawn.")

	b = reports.NewBuilder(options())
	base := resource("base", nil)
	b.Observe(stages.StepDone{Step: step(stages.OpCreate, nil, base, stages.Reason{Kind: stages.ReasonNew}), At: start})
	for i := range 200 { // equal siblings, which share a box that names all of them
		r := resource(fmt.Sprintf("sibling%d", i), nil, base.URN)
		b.Observe(stages.StepDone{Step: step(stages.OpCreate, nil, r, stages.Reason{Kind: stages.ReasonNew}), At: start})
	}
	r := resource("calm", nil)
	b.Observe(stages.StepDone{Step: step(stages.OpSame, r, r, stages.Reason{Kind: stages.ReasonUnchanged}), At: start})
	html = page(t, b.Document(display.Ending{}, start))
	require.Equal(t, 2, strings.Count(html, `class="node"`))
	require.Contains(t, html, ">sibling0</text>")
	require.Contains(t, html, ">sibling199</text>")
	require.Contains(t, html, "1 resource that neither changes nor is next to a change is not drawn.")

	b = reports.NewBuilder(options())
	b.Observe(stages.StepDone{Step: step(stages.OpSame, r, r, stages.Reason{Kind: stages.ReasonUnchanged}), At: start})
	require.NotContains(t, page(t, b.Document(display.Ending{}, start)), "<svg", "nothing changes")
}

func TestALargeGraphHasTheChangesOpen(t *testing.T) {
	b := reports.NewBuilder(options())
	for i := range 400 {
		parent := urn.New("dev", "shop", "", "shop:index:Group", fmt.Sprintf("g%d", i/100))
		if i%100 == 0 {
			group := &state.Resource{URN: parent, Type: "shop:index:Group", Parent: stack}
			b.Observe(stages.StepDone{Step: step(stages.OpSame, group, group, stages.Reason{Kind: stages.ReasonUnchanged}), At: start})
		}
		r := resource(fmt.Sprintf("r%d", i), nil)
		if i == 251 {
			r = resource("r251", nil, named("aws:s3/bucket:Bucket", "r250"))
		}
		r.Parent = parent
		op := stages.OpSame
		if i == 250 {
			op = stages.OpUpdate
		}
		b.Observe(stages.StepDone{Step: step(op, r, r, stages.Reason{Kind: stages.ReasonUnchanged}), At: start})
	}
	html := page(t, b.Document(display.Ending{}, start))
	require.Equal(t, 4, strings.Count(html, `class="node"`), "the change, its neighbour, the rest of their component, and the other components")
	for _, text := range []string{">~ r250</text>", ">r251</text>", ">98 × aws:s3:Bucket</text>", ">3 × shop:index:Group</text>", ">with 300 resources in them</text>"} {
		require.Contains(t, html, text)
	}
	require.Contains(t, html, "Resources of the same type and component are one box, except those that change and their neighbours.")
	require.Less(t, strings.Index(html, `id="resources"`), strings.Index(html, `id="graph"`), "the list is before the graph")
}

func TestADenseGraphIsDrawnAllTheSame(t *testing.T) {
	b := reports.NewBuilder(options())
	var before []urn.URN
	for i := range 120 {
		r := resource(fmt.Sprintf("r%d", i), map[string]any{"i": float64(i)}, before...)
		b.Observe(stages.StepDone{Step: step(stages.OpCreate, nil, r, stages.Reason{Kind: stages.ReasonNew}), At: start})
		before = append(before, r.URN)
	}
	html := page(t, b.Document(display.Ending{}, start))
	require.Contains(t, html, "<svg")
	require.LessOrEqual(t, strings.Count(html, `class="edge"`), 600)
}

func TestABrowserDrawsTheRowsInSight(t *testing.T) {
	html := page(t, large(10_000))
	dom := opened(t, html, 1200)
	shown := regexp.MustCompile(`role="status">([^<]*)<`).FindStringSubmatch(dom)
	require.Len(t, shown, 2)
	require.Equal(t, "8,101 shown, 2,000 unchanged hidden", shown[1])
	require.Less(t, strings.Count(dom, `role="treeitem"`), 100)
	require.Less(t, strings.Count(dom, `role="listitem"`), 100)
}

func BenchmarkReport(b *testing.B) {
	d := large(100_000)
	for _, form := range []string{"md", "json", "html"} {
		b.Run(form, func(b *testing.B) {
			for b.Loop() {
				var out bytes.Buffer
				var err error
				switch form {
				case "md":
					err = reports.WriteMarkdown(&out, d, reports.DefaultMarkdownLimit)
				case "json":
					err = reports.WriteJSON(&out, d)
				default:
					err = reports.WriteHTML(b.Context(), &out, d)
				}
				require.NoError(b, err)
				b.ReportMetric(float64(out.Len())/1e6, "MB")
			}
		})
	}
	b.Run("document", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			large(100_000)
		}
	})
}
