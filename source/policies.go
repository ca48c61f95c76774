package source

import (
	"context"

	"github.com/sluice-iac/sluice/stages"
)

// PolicyPack is a pack of policies that operations must comply with. Package policy has those that run as processes.
type PolicyPack interface {
	// Load starts the pack for one run and describes the run to it (protocol.md 7.3). The output of the pack goes to log, which may be
	// called from many goroutines until the pack is closed. The end of ctx may end the pack. If the configuration is invalid, the error is
	// a [PolicyConfigError]. Otherwise the caller must Close the analyzer.
	Load(ctx context.Context, run stages.RunInfo, log func(stages.LogMessage)) (PolicyAnalyzer, error)
}

// PolicyAnalyzer is a running policy pack.
type PolicyAnalyzer interface {
	stages.Analyzer
	// Close ends the pack.
	Close() error
}

// PolicyConfigError is the error of a policy pack with an invalid configuration.
type PolicyConfigError interface {
	error
	// Messages returns the problems, one message each.
	Messages() []string
}
