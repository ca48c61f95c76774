package requests

import (
	"context"
	"fmt"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/access"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/stages/internal/step"
	"github.com/sluice-iac/sluice/urn"
)

// NewAdmission returns the admission of a run, with a monitor.
func NewAdmission(
	c *control.Control, outputs *rooms.OutputsWriter, omissions *rooms.OmissionsWriter, migrations *rooms.MigrationsWriter, a *access.Access, o *step.Outputs,
	h *step.HookSet, s stages.Settings,
) *Admission {
	intake := await.NewMailbox[stages.Submitted]()
	ad := &Admission{
		control: c, outputs: outputs, omissions: omissions, access: a, registered: o, hooks: h, Families: newFamilies(), Defaults: newDefaultProviders(intake, s), packages: &packages{},
		Migrations: newMigrations(c, a.Rooms, migrations, s),
		intake:     intake, Directory: s.Directory, Memory: s.Memory, MonitorAddress: s.MonitorAddress,
	}
	ad.monitor = newMonitor(ad)
	return ad
}

// Admission admits the requests of programs.
type Admission struct {
	control    *control.Control
	outputs    *rooms.OutputsWriter
	omissions  *rooms.OmissionsWriter
	access     *access.Access
	registered *step.Outputs
	hooks      *step.HookSet
	Families   *Families
	Defaults   *DefaultProviders
	Migrations *Migrations
	packages   *packages
	monitor    *monitor
	intake     *await.Mailbox[stages.Submitted]

	Directory      string
	Memory         stages.Memory
	MonitorAddress func() (string, error)
}

// deployment describes the run for providers that call back.
func (a *Admission) deployment() providers.Deployment {
	return providers.Deployment{
		Project: a.control.Info.Project, Stack: a.control.Info.Stack, Organization: a.control.Info.Organization, Config: a.control.Info.Config,
		ConfigSecretKeys: a.control.Info.ConfigSecretKeys, DryRun: a.control.DryRun(), Parallel: a.control.Info.Parallel,
		MonitorAddress: a.MonitorAddress,
	}
}

// Monitor returns the monitor for the run's program.
func (a *Admission) Monitor() stages.Monitor { return a.monitor }

// Close ends the source of the pipeline: nothing more is submitted.
func (a *Admission) Close() { a.intake.Close() }

// EndOfProgram records that no more registrations will come.
func (a *Admission) EndOfProgram() { a.monitor.end() }

// Submissions is the source of the pipeline: everything that programs submit, until the program has ended.
func (a *Admission) Submissions() pipeline.Flow[stages.Submitted] {
	return pipeline.From("submit", 0, func(ctx context.Context, emit pipeline.Emit[stages.Submitted]) error {
		for {
			s, ok := a.intake.Take(ctx)
			if !ok {
				return nil
			}
			if err := emit(s); err != nil {
				return err
			}
		}
	})
}

// resolveProvider finds the explicit provider of a resource: its own, that of its package among those given with it, or that of its
// package among its parent component's (protocol.md 4.5).
func (a *Admission) resolveProvider(own string, given map[string]string, parent urn.URN, pkg string) string {
	if own != "" {
		return own
	}
	if p, ok := given[pkg]; ok {
		return p
	}
	if f := a.Families.Of(parent); parent != "" && f != nil {
		return f.providers[pkg]
	}
	return ""
}

// providerOfFunction finds the explicit provider of a function: its own, that of its parent if that is a custom resource of the same package,
// or that of its package among its parent component's. The default provider of a parent does not count: the version of the request
// chooses the default provider.
func (a *Admission) providerOfFunction(own string, parent urn.URN, pkg string) string {
	if f := a.Families.Of(parent); own == "" && f != nil && f.Own != nil {
		if ref, err := urn.ParseProviderRef(f.Own.provider); err == nil && !ref.URN.IsDefaultProvider() && ref.Package() == pkg {
			return f.Own.provider
		}
	}
	return a.resolveProvider(own, nil, parent, pkg)
}

// lacksProvider reports whether the provider of a reference has failed in a preview.
func (a *Admission) lacksProvider(reference string) bool {
	ref, err := urn.ParseProviderRef(reference)
	if err != nil || !a.control.DryRun() {
		return false
	}
	_, failed := a.access.Rooms.Failures.Of(ref.URN)
	return failed
}

// remoteProvider finds the provider of a call or an invoke. If a preview could not make it, the error is a notMadeError.
func (a *Admission) remoteProvider(reference, token string) (providers.Provider, error) {
	if a.lacksProvider(reference) {
		ref, _ := urn.ParseProviderRef(reference) // lacksProvider has parsed it
		return nil, &notMadeError{pkg: ref.Package(), urn: ref.URN}
	}
	return a.access.RemoteProvider(reference, token)
}

// CompleteRead turns a read request into a goal.
func (a *Admission) CompleteRead(ctx context.Context, s stages.Submitted) (*stages.ReadGoal, error) {
	req := s.Read
	if !req.Type.IsToken() {
		return nil, stages.Invalid("type %q of resource %q is not a full type token <package>:<module>:<type>", req.Type, req.Name)
	}
	if err := req.Type.CheckPackage(); err != nil {
		return nil, stages.Invalid("type %q of resource %q: %w", req.Type, req.Name, err)
	}
	pkg, err := a.packages.meant(req.Package, req.PackageRef)
	if err != nil {
		return nil, err
	}
	provider := req.Provider
	if provider == "" {
		provider, err = a.Defaults.reference(ctx, pkg.ServedBy(req.Type), pkg)
		if reference, ok := unmade(a.control, err); ok {
			provider, err = reference, nil
		}
		if err != nil {
			return nil, err
		}
	}
	if ref, err := urn.ParseProviderRef(provider); err == nil {
		if pkg, denied := ref.Denied(); denied {
			return nil, fmt.Errorf(access.DeniedText, pkg, req.Type)
		}
	}
	a.Families.expect(s.PendingReply, &family{parent: req.Parent, Own: &own{provider: provider}, custom: true})
	extension := ""
	if pkg.Extension != nil {
		extension = a.access.Extensions.Register(*pkg.Extension)
	}
	return &stages.ReadGoal{
		ExtensionRef: extension, Type: req.Type, Name: req.Name, ID: req.ID, Parent: req.Parent, Properties: req.Properties.DowngradeOutputs(),
		Dependencies: urn.SortedSet(req.Dependencies), Provider: provider, AdditionalSecretOutputs: req.AdditionalSecretOutputs,
		SourcePosition: req.SourcePosition, StackTrace: req.StackTrace,
	}, nil
}
