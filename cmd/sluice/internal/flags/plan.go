package flags

import (
	"github.com/spf13/pflag"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
)

// Plan selects the plan that an operation is held to, and the file to which a preview writes one.
type Plan struct {
	Save   string // the file of the plan that a preview makes
	File   string // the file of the plan that an update is held to
	Strict bool   // an update is held to its own preview
}

// AddSave registers the flag of previews.
func (p *Plan) AddSave(f *pflag.FlagSet) {
	AddFile(f, &p.Save, "save-plan", "write a plan to this `file`, to be used with up --plan; "+
		"with --show-secrets it holds secrets in plain text")
}

// AddFollow registers the flags of updates.
func (p *Plan) AddFollow(f *pflag.FlagSet) {
	AddFile(f, &p.File, "plan", "do nothing that the plan in this `file` does not allow")
	f.BoolVar(&p.Strict, "strict", false, "do nothing that the preview has not shown; cannot be used with --skip-preview")
}

// Check refuses contradictory flags.
func (p *Plan) Check(skipPreview bool) error {
	if p.Strict && skipPreview {
		return exit.Usagef("--strict cannot be used with --skip-preview: it holds the update to its preview")
	}
	return nil
}
