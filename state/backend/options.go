package backend

import (
	"errors"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/state/backend/internal/compression"
	"github.com/sluice-iac/sluice/state/lock"
	"github.com/sluice-iac/sluice/state/secrets"
	"github.com/sluice-iac/sluice/state/store"
)

// Options define how a backend is opened.
type Options struct {
	// URL names the backend (state.md 4.2).
	URL string
	// Project is the current project, to which bare stack names belong; "" when there is none.
	Project string
	// Environment looks up variables, as [os.LookupEnv] does; nil means that none is set. See state.md appendix A.
	Environment func(name string) (string, bool)
	// Passphrases opens the secrets in states.
	Passphrases secrets.Source
	// Version names this tool in manifests, for example "sluice/0.1.0".
	Version string
	// SkipIntegrity loads states that fail the integrity check (--disable-integrity-checking).
	SkipIntegrity bool
	// Now is the clock; nil means [time.Now].
	Now func() time.Time
	// Machine describes the machine of this process in locks; nil means this machine.
	Machine lock.Machine
	// Stores opens the stores of URLs with other schemes than file, by scheme.
	Stores map[string]store.Opener
	// Checkpoints defines how often a run writes the stack file.
	Checkpoints Cadence
	// Note is called with one line about each operation that was interrupted, or that runs while its stack is read, and with advice
	// about it; nil discards.
	Note func(text string, as ...advice.Advice)
	// Undecided is called when a stack is opened or read whose journal may be applied only after a decision. Locking the stack
	// returns the same error. nil means Note.
	Undecided func(*JournalError)
	// Renamed is called after a stack was renamed, or an interrupted rename was completed, so that references to the stack
	// outside the backend can be changed too. It may be called again for the same rename. remark describes the work that
	// remains for the user; it may be "". An error does not undo the rename. nil does nothing.
	Renamed func(from, to Ref) (remark string, err error)
}

// Cadence defines how often a run writes the whole stack file ([state.md 9.5]). Recorded changes are durable in any case.
//
// [state.md 9.5]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#95-the-journal
type Cadence string

const (
	// CheckpointsTimed writes from time to time and at the end.
	CheckpointsTimed Cadence = ""
	// CheckpointsEveryStep writes before and after every step, as Pulumi does, and keeps no journal.
	CheckpointsEveryStep Cadence = "every-step"
	// CheckpointsAtEnd writes at the end.
	CheckpointsAtEnd Cadence = "end"
)

// compression returns the format of written files, which the environment sets.
func (o *Options) compression() (compression.Format, error) {
	gz, zst := o.flag("GZIP"), o.flag("ZSTD")
	switch {
	case gz && zst:
		return compression.Plain, errors.New("PULUMI_DIY_BACKEND_GZIP and PULUMI_DIY_BACKEND_ZSTD are both set; unset one of them")
	case gz:
		return compression.Gzip, nil
	case zst:
		return compression.Zstandard, nil
	}
	return compression.Plain, nil
}

// flag reads a boolean variable of the backend under its present and its former name.
func (o *Options) flag(name string) bool {
	return o.isTrue("PULUMI_DIY_BACKEND_"+name) || o.isTrue("PULUMI_SELF_MANAGED_STATE_"+name)
}

func (o *Options) isTrue(variable string) bool {
	if o.Environment == nil {
		return false
	}
	v, _ := o.Environment(variable)
	return v == "1" || strings.EqualFold(v, "true")
}

// note calls Note, if there is one.
func (o *Options) note(text string, as ...advice.Advice) {
	if o.Note != nil {
		o.Note(text, as...)
	}
}

// undecided reports a journal that needs a decision.
func (o *Options) undecided(err *JournalError) {
	if o.Undecided == nil {
		o.note(err.Error(), advice.Of(err)...)
		return
	}
	o.Undecided(err)
}
