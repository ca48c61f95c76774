package stages

import (
	"context"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// Analyzer judges resources before they are planned, and may rewrite their inputs (steps.md 11). Its methods may be
// called from many goroutines.
type Analyzer interface {
	Name() string
	// Remediate may replace a resource's inputs. Analyzers remediate one after the other.
	Remediate(ctx context.Context, r Analysis) ([]Remediation, error)
	// Analyze reports violations. Analyzers analyze in parallel.
	Analyze(ctx context.Context, r Analysis) ([]Violation, error)
}

// Analysis is what an analyzer sees of a registration: checked inputs, secrets kept.
type Analysis struct {
	URN        urn.URN
	Type       urn.Type
	Name       string
	Properties property.Map
	Goal       *Goal
	Provider   *ProviderState // nil for components and provider resources
}

// ProviderState describes the provider of an analyzed resource.
type ProviderState struct {
	URN        urn.URN
	Type       urn.Type
	Name       string
	Properties property.Map
}

// Remediation replaces inputs, or says in Diagnostic why it could not.
type Remediation struct {
	Policy     string
	Properties *property.Map
	Diagnostic string
}

// Violation is a broken policy.
type Violation struct {
	Policy  string
	Message string
	Level   EnforcementLevel
	URN     urn.URN // "" is the resource analyzed
}

// EnforcementLevel says what a violation leads to (steps.md 11.3).
type EnforcementLevel int

// The levels of enforcement, with their numbers on the wire.
const (
	Advisory EnforcementLevel = iota
	Mandatory
	Disabled
	Remediate
)
