package stages

import "github.com/sluice-iac/sluice/urn"

// Operation describes the present operation to a stage of a caller. It is a value; its methods may be called from any goroutine.
type Operation struct {
	// Name is "preview", "update", "destroy", "refresh", "import" or "recover".
	Name string
	// Mode distinguishes previews of updates, refreshes and destroys.
	Mode Mode
	Info RunInfo

	diagnose func(urn.URN, Severity, string)
}

// NewOperation returns an operation whose messages go to diagnose, which may be called from any goroutine. Engines make operations, and so do
// tests of stages; see package stagestest.
func NewOperation(name string, mode Mode, info RunInfo, diagnose func(urn.URN, Severity, string)) Operation {
	return Operation{Name: name, Mode: mode, Info: info, diagnose: diagnose}
}

// Diagnose shows a message at a resource, or about the operation as a whole if the name is "". A message with the severity [Error] does not make the operation
// fail: return an error such as that of [Located.Refuse] for that.
func (o Operation) Diagnose(at urn.URN, s Severity, text string) {
	if o.diagnose != nil {
		o.diagnose(at, s, text)
	}
}
