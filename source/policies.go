package source

import (
	"context"

	"github.com/sluice-iac/sluice/stages"
)

// PolicyPack is a pack of policies that operations are held to. Package policy has those that are processes.
type PolicyPack interface {
	// Load starts the pack for one run and describes the run to it (protocol.md 7.3). What the pack prints goes to log, which
	// may be called from many goroutines until the pack is closed. The end of ctx may end the pack. If the configuration does
	// not fit, the error is a [PolicyConfigError]. Otherwise the caller must Close the analyzer.
	Load(ctx context.Context, run stages.RunInfo, log func(stages.LogMessage)) (PolicyAnalyzer, error)
}

// PolicyAnalyzer is a policy pack that runs.
type PolicyAnalyzer interface {
	stages.Analyzer
	// Close ends the pack.
	Close() error
}

// PolicyConfigError is returned for a policy pack whose configuration does not fit.
type PolicyConfigError interface {
	error
	// Messages says what is wrong, one problem each.
	Messages() []string
}
