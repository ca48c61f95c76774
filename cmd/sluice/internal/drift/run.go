package drift

import (
	"context"
	"time"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/operate"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/readtimes"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
)

// Options select what is read, and what is written.
type Options struct {
	Operation *flags.Operation
	JSON      bool   // instead of text
	Save      string // a file for the document, too; "" for none
	// Since leaves out resources that were read since this time. The zero time leaves out none.
	Since     time.Time
	NoProgram bool // do not predict what an update would do
}

// Run finds the drift of a stack, and writes it.
func Run(ctx context.Context, open *session.Opener, o Options) (*Document, error) {
	s, err := operate.OpenAny(ctx, open, o.Operation)
	if err != nil {
		return nil, err
	}
	reads := readtimes.Of(ctx, s)
	skipped := reads.Since(o.Since)
	o.Operation.Targeting.Excludes = append(o.Operation.Targeting.Excludes, skipped...)
	began := time.Now()
	found, sample, err := readAll(ctx, s, o.Operation, skipped)
	if err != nil {
		return nil, err
	}
	doc, err := moved(ctx, s, found)
	if err != nil {
		return nil, err
	}
	doc.Skipped, doc.Sample = len(skipped), sample
	reads.Keep(ctx, s, found.Steps(), began, false)
	if doc.Moved > 0 && !o.NoProgram {
		if err := planned(ctx, open, o.Operation, doc); err != nil {
			doc.Unplanned = err.Error()
		}
	}
	if o.Save != "" {
		if err := doc.save(o.Save); err != nil {
			return nil, err
		}
	}
	if err := doc.write(s.Session.Terminal.Out, o.JSON); err != nil {
		return nil, err
	}
	if doc.Unplanned != "" && !o.JSON {
		s.Session.Terminal.Warn("cannot predict what `up --refresh` would do: %s", doc.Unplanned)
	}
	return doc, nil
}
