package flags

import (
	"github.com/spf13/pflag"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/reports"
)

// Reports selects the files to which reports of an operation are written.
type Reports struct{ reports.Files }

// Add registers the flags.
func (r *Reports) Add(f *pflag.FlagSet) {
	f.StringArrayVar(&r.Paths, "report", nil, "write a report to this `file`: a page (.html), a comment for a pull request (.md) or JSON (.json); may be repeated")
	r.AddLimit(f)
}

// AddLimit registers the flag that bounds reports in Markdown.
func (r *Reports) AddLimit(f *pflag.FlagSet) {
	f.IntVar(&r.Markdown, "report-limit", reports.DefaultMarkdownLimit, "the largest size of a report in Markdown, in `bytes`")
}

// Check refuses files that cannot be written.
func (r *Reports) Check() error {
	if len(r.Paths) == 0 && r.Markdown == 0 { // the command does not have these flags
		return nil
	}
	if err := r.Files.Check(); err != nil {
		return exit.AsUsage(err)
	}
	return nil
}
