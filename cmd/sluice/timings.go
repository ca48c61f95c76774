package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/timing"
)

// timings are the outputs of a command about where its time went.
type timings struct {
	path  string
	file  *timing.File    // nil without --trace
	table *timing.Timings // nil without --timings
}

// start begins the outputs that the flags request. Only commands that run operations have such flags.
func (t *timings) start(f *pflag.FlagSet) error {
	if wanted := f.Lookup(flags.TimingsFlag); wanted != nil && wanted.Value.String() == "true" {
		t.table = timing.NewTimings()
	}
	path := f.Lookup(flags.TraceFlag)
	if path == nil || path.Value.String() == "" {
		return nil
	}
	t.path = path.Value.String()
	var err error
	if t.file, err = timing.CreateFile(t.path); err != nil {
		return exit.Usagef("--%s: %w", flags.TraceFlag, err)
	}
	return nil
}

// sinks returns the consumers of the spans.
func (t *timings) sinks() (all []timing.Sink) {
	if t.file != nil {
		all = append(all, t.file)
	}
	if t.table != nil {
		all = append(all, t.table)
	}
	return all
}

// end completes the file, and writes the tables.
func (t *timings) end(to io.Writer) error {
	var errs []error
	if t.file != nil {
		if err := t.file.Close(); err != nil {
			errs = append(errs, fmt.Errorf("the trace %s is not complete: %w", t.path, err))
		}
	}
	if t.table != nil {
		errs = append(errs, t.table.Write(to))
	}
	return errors.Join(errs...)
}
