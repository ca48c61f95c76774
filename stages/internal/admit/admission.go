package admit

import (
	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/access"
	"github.com/sluice-iac/sluice/stages/internal/book"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/take"
)

// NewAdmission returns the admission of a run, with a monitor.
func NewAdmission(
	c *control.Control, outputs *book.OutputsWriter, omissions *book.OmissionsWriter, a *access.Access, t *take.Taker, h *take.HookSet, s stages.Settings,
) *Admission {
	intake := await.NewMailbox[stages.Submitted]()
	ad := &Admission{
		control: c, outputs: outputs, omissions: omissions, access: a, taker: t, hooks: h, Families: newFamilies(), Defaults: newDefaultProviders(intake, s), packages: &packages{},
		intake: intake, Directory: s.Directory, MonitorAddress: s.MonitorAddress,
	}
	ad.monitor = newMonitor(ad)
	return ad
}

// Admission is where programs come in.
type Admission struct {
	control   *control.Control
	outputs   *book.OutputsWriter
	omissions *book.OmissionsWriter
	access    *access.Access
	taker     *take.Taker
	hooks     *take.HookSet
	Families  *Families
	Defaults  *DefaultProviders
	packages  *packages
	monitor   *monitor
	intake    *await.Mailbox[stages.Submitted]

	Directory      string
	MonitorAddress func() (string, error)
}
