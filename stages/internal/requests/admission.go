package requests

import (
	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/access"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/stages/internal/step"
)

// NewAdmission returns the admission of a run, with a monitor.
func NewAdmission(
	c *control.Control, outputs *rooms.OutputsWriter, omissions *rooms.OmissionsWriter, a *access.Access, t *step.Executor, h *step.HookSet, s stages.Settings,
) *Admission {
	intake := await.NewMailbox[stages.Submitted]()
	ad := &Admission{
		control: c, outputs: outputs, omissions: omissions, access: a, executor: t, hooks: h, Families: newFamilies(), Defaults: newDefaultProviders(intake, s), packages: &packages{},
		intake: intake, Directory: s.Directory, MonitorAddress: s.MonitorAddress,
	}
	ad.monitor = newMonitor(ad)
	return ad
}

// Admission admits the requests of programs.
type Admission struct {
	control   *control.Control
	outputs   *rooms.OutputsWriter
	omissions *rooms.OmissionsWriter
	access    *access.Access
	executor  *step.Executor
	hooks     *step.HookSet
	Families  *Families
	Defaults  *DefaultProviders
	packages  *packages
	monitor   *monitor
	intake    *await.Mailbox[stages.Submitted]

	Directory      string
	MonitorAddress func() (string, error)
}
