package operate

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/reports"
	"github.com/sluice-iac/sluice/stages/why"
)

// report writes the report of one phase of an operation to the files of --report. That of the operation takes the place of that of its preview.
type report struct {
	builder *reports.Builder
	files   reports.Files
	tell    func(string)

	mu   sync.Mutex // guards left, and is locked while files are written
	left bool       // the process ends in the middle of the phase
}

// newReport begins the report of a phase, nil if none is to be written.
func newReport(j *Job, preview bool) *report {
	files := j.Flags.Reports.Files
	if len(files.Paths) == 0 {
		return nil
	}
	r := &report{files: files, tell: func(string) {}}
	r.builder = reports.NewBuilder(reports.Options{
		Operation: reports.Operation{
			Kind: j.Kind.Noun, Preview: preview, Project: j.Stack.Project.Name, Stack: j.Stack.Name(), Message: j.Flags.History.Message,
			Began: time.Now().UTC(),
		},
		Limits: reports.DefaultLimits(), Mask: j.known.Mask, // also if secrets are shown: a report is for others
	})
	last := !preview || j.Flags.Confirmation.PreviewOnly || !j.Flags.Confirmation.Yes
	if last && !j.Flags.Display.JSON() {
		r.tell = func(text string) { fmt.Fprint(j.Terminal.Out, text) }
	}
	return r
}

// close writes the report of a phase with the given result, which is nil if it has not come to its end. A phase that was left has its report:
// what it reports while its processes end is no news.
func (r *report) close(result *sluice.Result) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left {
		return nil
	}
	return r.write(result)
}

// leave writes the report in the middle of the phase, because the process ends.
func (r *report) leave() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left = true
	return r.write(nil)
}

func (r *report) write(result *sluice.Result) error {
	var log *why.Log
	if result != nil {
		log = result.Decisions()
	}
	if err := r.files.Write(r.builder.Document(log, time.Now())); err != nil {
		return err
	}
	quoted := make([]string, len(r.files.Paths))
	for i, path := range r.files.Paths {
		quoted[i] = format.Printable(path)
	}
	r.tell("\nThe report is in " + strings.Join(quoted, " and ") + "\n")
	return nil
}
