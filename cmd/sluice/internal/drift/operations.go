package drift

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/operate"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/pending"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// readAll reads the recorded resources, except those that are skipped, or a sample of them. It returns the result that a refresh would record.
func readAll(ctx context.Context, s *session.Stack, o *flags.Operation, skipped []string) (*sluice.Result, *operate.Sampled, error) {
	job, err := operate.Prepare(ctx, s, operate.Refresh(), o)
	if err != nil {
		return nil, nil, err
	}
	sample, err := operate.TargetSample(ctx, job, func(r *state.Resource) bool {
		_, skips := slices.BinarySearch(skipped, string(r.URN))
		return !r.External && !skips
	})
	if err != nil {
		return nil, nil, err
	}
	if job.Creates, err = pending.ForRefresh(ctx, s, &o.Creates, false); err != nil {
		return nil, nil, err
	}
	var shown bytes.Buffer
	result, err := resultOf(ctx, job, &shown)
	if err != nil {
		_, _ = shown.WriteTo(s.Session.Terminal.Err)
	}
	return result, sample, err
}

// resultOf runs a preview that shows only its end, in the given writer, and returns its result.
func resultOf(ctx context.Context, job *operate.Job, shown io.Writer) (*sluice.Result, error) {
	var result *sluice.Result
	job.Terminal, job.Flags.Display.Form = job.Terminal.Diverted(shown), flags.Quiet
	job.AfterPreview = func(_ context.Context, r *sluice.Result) error {
		result = r
		return nil
	}
	err := operate.Run(ctx, job)
	return result, err
}

// planned sets, for each resource that has drifted, what an update would do. It uses the values that were read.
func planned(ctx context.Context, open *session.Opener, o *flags.Operation, doc *Document) error {
	o.Display.EventLog = "" // it has the events of the refresh
	o.Targeting = flags.Targeting{}
	o.Program.MakeRefresh()
	for _, e := range doc.Resources {
		o.Targeting.Targets = append(o.Targeting.Targets, string(e.URN))
	}
	s, err := operate.Open(ctx, open, o)
	if err != nil {
		return err
	}
	job, err := operate.Prepare(ctx, s, operate.Update(), o)
	if err != nil {
		return err
	}
	if job.Creates, err = pending.ForUpdate(ctx, s, &o.Creates); err != nil {
		return err
	}
	result, err := resultOf(ctx, job, io.Discard) // the caller says why there is no prediction
	if err != nil {
		return err
	}
	entries := make(map[urn.URN]*Entry, len(doc.Resources))
	for i := range doc.Resources {
		entries[doc.Resources[i].URN] = &doc.Resources[i]
	}
	for _, step := range result.Steps() {
		if e := entries[step.URN]; e != nil && (e.Update == "" || e.Update == stages.OpSame) {
			e.Update, e.Why = step.Op, strings.TrimSpace(step.Reason.String())
		}
	}
	return nil
}
