package operate

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/ciservice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/reports"
	"github.com/sluice-iac/sluice/stages"
)

// report is the report of one phase of an operation: for the files of --report, where the report of the operation replaces that of its preview, and
// for the page of a job.
type report struct {
	builder *reports.Builder
	files   reports.Files // none, if only the page of a job is written
	tell    func(string)

	mu   sync.Mutex // guards left, and is locked while files are written
	left bool       // the process ends during the phase
}

// newReport begins the report of a phase, nil if none is to be written. d are the options of its screen.
func newReport(o *operation, preview bool, d display.Options) *report {
	j, files := o.job, o.job.Flags.Reports.Files
	if len(files.Paths) == 0 && o.service.SummaryRoom() == 0 && !o.service.Files() {
		return nil
	}
	r := &report{files: files, tell: func(string) {}}
	r.builder = reports.NewBuilder(reports.Options{
		Operation: reports.Operation{
			Kind: j.Kind.Noun, Preview: preview, Project: j.Stack.Session.Project.Name, Stack: j.Stack.Name(), Message: j.Flags.History.Message,
			Began: time.Now().UTC(),
		},
		Limits: reports.DefaultLimits(), Runtime: j.Stack.Session.Project.Runtime, Failure: d, Mask: j.known.Mask, // even if secrets are shown: a report is for others
	})
	last := !preview || j.Flags.Confirmation.PreviewOnly || !j.Flags.Confirmation.Yes
	if last && !j.Flags.Display.JSON() {
		r.tell = func(text string) { fmt.Fprint(j.Terminal.Out, text) }
	}
	return r
}

// close writes the report of a phase with the given ending. After leave it does nothing, because later events only come from ending processes.
func (r *report) close(ctx context.Context, e display.Ending) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left {
		return nil
	}
	return r.write(ctx, e)
}

// leave writes the report when the process ends during the phase.
func (r *report) leave() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left = true
	return r.write(context.Background(), display.Ending{})
}

func (r *report) write(ctx context.Context, e display.Ending) error {
	if len(r.files.Paths) == 0 {
		return nil
	}
	if err := r.files.Write(context.WithoutCancel(ctx), r.builder.Document(e, time.Now())); err != nil {
		return err
	}
	quoted := make([]string, len(r.files.Paths))
	for i, path := range r.files.Paths {
		quoted[i] = format.Printable(path)
	}
	r.tell("\nThe report is in " + strings.Join(quoted, " and ") + "\n")
	return nil
}

// summarize writes the summary of the job, if there is room for one, and the files that its service reads.
func (r *report) summarize(ctx context.Context, s *ciservice.Service, e display.Ending) error {
	d := r.builder.Document(e, time.Now())
	if s.Files() {
		if err := s.WriteFiles(planned(d)); err != nil {
			return err
		}
	}
	room := min(s.SummaryRoom(), reports.DefaultMarkdownLimit)
	if room < reports.MinMarkdownLimit {
		return nil
	}
	var b strings.Builder
	if err := reports.WriteMarkdown(&b, d, room); err != nil {
		return err
	}
	return s.Summarize(ctx, ciservice.Summary{About: title(d.Operation), Failed: e.Failed != "", Markdown: b.String()})
}

func title(o reports.Operation) string {
	if o.Preview {
		return "preview of " + o.Kind + " of " + o.Project + "/" + o.Stack
	}
	return o.Kind + " of " + o.Project + "/" + o.Stack
}

// planned counts the predicted changes of a preview; nil for an operation.
func planned(d *reports.Document) *ciservice.Planned {
	if !d.Operation.Preview {
		return nil
	}
	var out ciservice.Planned
	for op, n := range d.Summary.Changes {
		switch op {
		case stages.OpCreate, stages.OpImport:
			out.Create += n
		case stages.OpUpdate:
			out.Update += n
		case stages.OpDelete:
			out.Delete += n
		case stages.OpReplace:
			out.Create, out.Delete = out.Create+n, out.Delete+n
		}
	}
	return &out
}
