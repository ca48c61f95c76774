package about

import (
	"context"
	"errors"

	"github.com/sluice-iac/sluice/cloud"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/state/backend"
)

// lookAtBackend opens the backend and returns its name, or an error if it cannot be opened.
func lookAtBackend(ctx context.Context, t *terminal.Terminal, home string, project *workspace.Project) (*backendReport, error) {
	var named, name string
	if project != nil {
		named, name = project.BackendURL, project.Name
	}
	url, err := host.BackendURL(home, named, t.Lookup)
	if err != nil {
		return nil, err
	}
	who, err := session.IdentityAt(ctx, t, url)
	out := &backendReport{URL: who.URL, User: who.User, Organizations: who.Organizations}
	if err != nil {
		return out, err
	}
	b, err := host.OpenBackend(ctx, host.BackendOptions{URL: url, Project: name, LookupEnv: t.Lookup, Stores: cloud.Stores()})
	if err != nil {
		return out, err
	}
	return out, b.Close()
}

// lookAtStack describes the selected stack. It returns nil if none is selected, and needs no passphrase.
func lookAtStack(ctx context.Context, open *session.Opener, name string) (*stackReport, error) {
	in, err := open.Session(ctx)
	if err != nil {
		return nil, err
	}
	if name == "" {
		if name, err = in.Selected(); err != nil || name == "" {
			return nil, err
		}
	}
	ref, err := in.Choose(name)
	if err != nil {
		return nil, err
	}
	s, err := in.Open(ctx, ref)
	var missing *backend.NotFoundError
	if errors.As(err, &missing) {
		return nil, missing // without advice, in a report
	}
	if err != nil {
		return nil, err
	}
	out := &stackReport{Name: s.Name(), FullName: s.Ref.String(), Resources: []resourceReport{}, PendingOps: []resourceReport{}}
	snapshot, err := s.State.LoadSealed(ctx)
	if err != nil || snapshot == nil {
		return out, err
	}
	for _, r := range snapshot.Resources {
		out.Resources = append(out.Resources, resourceReport{Type: string(r.Type), URN: string(r.URN)})
	}
	for _, op := range snapshot.Pending {
		out.PendingOps = append(out.PendingOps, resourceReport{Type: string(op.Resource.Type), URN: string(op.Resource.URN)})
	}
	return out, nil
}
