package display

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/stages"
)

// begin writes the title.
func (f *facts) begin() {
	if f.p.Frame != nil {
		f.p.Frame.Begin(f.p.Title)
		return
	}
	f.write(f.p.style.bold(f.p.Title))
}

// end writes the text after the rows: the legend, messages, outputs, counts, and why the operation has failed.
func (f *facts) end() {
	if text := f.legend(); text != "" && !f.p.OnlyEnd {
		f.write(f.p.fitted(text))
	}
	if f.p.Frame != nil {
		f.p.Frame.End(f.ending.Failed != "")
	}
	failure, told := f.failureSection()
	diagnostics := f.p.diagnosticsSection(f.m, told, f.ending.Failed != "" && failure != "")
	for _, section := range []string{
		f.p.policiesSection(f.m), diagnostics, f.p.outputsSection(f.m), f.p.fitted(f.p.wavesSection(f.m)),
		f.p.fitted(f.p.summarySection(f.m, f.ending.Log)), f.p.fitted(f.p.causesSection(f.ending.Log)), failure,
	} {
		if section == "" {
			continue
		}
		if title, rest, _ := strings.Cut(section, "\n"); f.p.Frame != nil && section == diagnostics {
			f.p.Frame.Begin(strings.TrimSuffix(title, ":"))
			f.write(strings.TrimSuffix(rest, "\n"))
			f.p.Frame.End(f.ending.Failed != "")
			continue
		}
		f.write("\n" + strings.TrimSuffix(section, "\n"))
	}
}

// legend explains the signs of the rows, and describes the resources without a row.
func (f *facts) legend() string {
	var signs []string
	if f.p.Legend {
		for _, op := range slices.Concat(summaryOrder[:], []stages.Op{
			stages.OpCreateReplacement, stages.OpDeleteReplaced, stages.OpRead, stages.OpReadReplacement, stages.OpRefresh, stages.OpDiscardReplaced,
			stages.OpImportReplacement,
		}) {
			if w := wordsFor(op); f.signs[op] {
				signs = append(signs, f.p.style.paint(w.colour, strings.TrimSpace(w.mark))+" "+w.plan)
			}
		}
	}
	var lines []string
	if f.p.Hidden && !f.p.ShowSames && len(f.signs) > 0 && f.m.summary != nil && f.m.unchanged() > 0 {
		lines = append(lines, fmt.Sprintf("    %d unchanged hidden (--show-sames shows them)", f.m.unchanged()))
	}
	if len(signs) > 0 {
		lines = append(lines, "    signs: "+strings.Join(signs, ", "))
	}
	return strings.Join(lines, "\n")
}

// still describes the progress of the operation: "still updating after 4m0s: 3 running, 12 of 40 done, slowest aws:rds:Instance
// db 3m10s".
func (f *facts) still(now time.Time) string {
	doing, _, _ := strings.Cut(strings.ToLower(f.p.Title), " (")
	text := fmt.Sprintf(" @  still %s after %s: ", doing, formatTook(now.Sub(f.m.started)))
	if f.isBeginning() {
		return text + f.p.Beginning
	}
	done := fmt.Sprint(f.m.done, " done")
	if f.p.Expected > 0 {
		done = fmt.Sprintf("%d of %d done", f.m.done, max(f.p.Expected, f.m.done))
	}
	text += fmt.Sprintf("%d running, %s", len(f.m.running), done)
	if len(f.m.limits) > 0 {
		text += ", waiting for the " + limitNames(f.m.limits)
	}
	if oldest, ok := f.m.oldest(); ok {
		return text + fmt.Sprintf(", slowest %s %s", f.p.subject(oldest.step.URN), max(now.Sub(oldest.since), 0).Truncate(time.Second))
	}
	if f.p.WaitsFor != "" {
		text += ", " + f.waits(now)
	}
	return text
}
