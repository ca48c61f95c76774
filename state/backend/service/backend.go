package service

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/backend/internal/layout"
	"github.com/sluice-iac/sluice/state/backend/service/internal/api"
	"github.com/sluice-iac/sluice/state/backend/workspace"
	"github.com/sluice-iac/sluice/state/secrets"
)

// Backend is the service.
type Backend struct {
	core         *core
	organization func() (string, error)
}

var (
	_ backend.Backend = (*Backend)(nil)
	_ backend.Pages   = (*Backend)(nil)
)

// Open returns the service with the URL of the options, without a call. The error wraps [ErrLoggedOut] if there is no access token.
func Open(ctx context.Context, o Options) (*Backend, error) {
	lookup := o.lookup()
	credentials := workspace.NewCredentials(o.Home, lookup)
	account, err := credentials.Account(Address(o.URL))
	if err != nil {
		return nil, err
	}
	if token := TokenOf(lookup); token != "" {
		account.AccessToken = token
	}
	if account.AccessToken == "" {
		return nil, fmt.Errorf("%w %s", ErrLoggedOut, Address(o.URL))
	}
	client, err := newClient(o, account.AccessToken, account.Insecure)
	if err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	later := context.WithoutCancel(ctx)
	b := &Backend{core: &core{options: o, client: client, keys: map[api.StackID]*keys{}, copies: map[string]*copies{}}}
	var found await.Flight[struct{}, string] // it keeps no error, because the service may answer the next time
	b.organization = func() (string, error) {
		return found.Do(later, struct{}{}, func() (string, error) { return b.findOrganization(later, account) })
	}
	return b, nil
}

// EnvOrganization is the variable with the organization of stacks that are named without one.
const EnvOrganization = "PULUMI_DEFAULT_ORGANIZATION"

// findOrganization returns the organization for names without one: that of the environment, else the one that the user has chosen, else the
// default of the service, else the user's own.
func (b *Backend) findOrganization(ctx context.Context, account workspace.Account) (string, error) {
	if name, set := b.core.options.lookup()(EnvOrganization); set && name != "" {
		return name, nil
	}
	chosen, err := workspace.NewConfig(b.core.options.Home).DefaultOrganization(Address(b.core.options.URL))
	if err != nil || chosen != "" {
		return chosen, err
	}
	if chosen, err = b.core.client.DefaultOrganization(ctx); err != nil || chosen != "" {
		return chosen, err
	}
	if account.Username != "" {
		return account.Username, nil
	}
	user, err := b.core.client.User(ctx)
	return user.Login, err
}

// URL implements [backend.Backend].
func (b *Backend) URL() string { return b.core.options.URL }

// Close implements [backend.Backend].
func (b *Backend) Close() error {
	b.core.client.Close()
	b.core.mu.Lock()
	defer b.core.mu.Unlock()
	var errs []error
	for _, c := range b.core.copies {
		errs = append(errs, c.files.Close())
	}
	return errors.Join(errs...)
}

// Passphrases implements [backend.Backend].
func (b *Backend) Passphrases() secrets.Source { return b.core.passphrases() }

// DefaultSecrets implements [backend.Backend].
func (b *Backend) DefaultSecrets(ref backend.Ref) secrets.Manager { return b.core.keysOf(idOf(ref)) }

// Organization implements [backend.Catalog]. It is "" if the service does not return one.
func (b *Backend) Organization() string {
	name, _ := b.organization() // Resolve returns the error
	return name
}

// Resolve implements [backend.Catalog].
func (b *Backend) Resolve(name string) (backend.Ref, error) {
	parts := strings.Split(name, "/")
	ref := backend.Ref{Project: b.core.options.Project, Name: parts[len(parts)-1]}
	switch len(parts) {
	case 1:
	case 2:
		ref.Owner = parts[0]
	case 3:
		ref.Owner, ref.Project = parts[0], parts[1]
	default:
		return backend.Ref{}, fmt.Errorf("stack name %q must have the form <stack>, <organization>/<stack> or <organization>/<project>/<stack>", name)
	}
	if ref.Project == "" {
		return backend.Ref{}, errors.New("there is no current project; name the stack as <organization>/<project>/<stack>")
	}
	if err := errors.Join(layout.CheckName("stack", ref.Name, true), layout.CheckName("project", ref.Project, true)); err != nil {
		return backend.Ref{}, err
	}
	if len(parts) > 1 {
		return ref, layout.CheckName("organization", ref.Owner, true)
	}
	var err error
	ref.Owner, err = b.organization()
	return ref, err
}

// Stacks implements [backend.Catalog].
func (b *Backend) Stacks(ctx context.Context, f backend.Filter) ([]backend.Listing, error) {
	found, err := b.core.client.Stacks(ctx, api.Filter{Project: f.Project, Organization: f.Organization, TagName: f.Tag, TagValue: f.Value})
	if err != nil {
		return nil, err
	}
	all := make([]backend.Listing, 0, len(found))
	for _, s := range found {
		l := backend.Listing{Ref: backend.Ref{Owner: s.Organization, Project: s.Project, Name: s.Name}}
		if s.LastUpdate != nil {
			l.Summary.Deployed, l.Summary.Time = true, time.Unix(*s.LastUpdate, 0)
		}
		if s.ResourceCount != nil {
			l.Summary.Resources = *s.ResourceCount
		}
		all = append(all, l)
	}
	own := b.Organization()
	slices.SortFunc(all, func(x, y backend.Listing) int {
		if a, c := x.Ref.Owner == own, y.Ref.Owner == own; a != c {
			if a {
				return -1
			}
			return 1
		}
		return cmp.Or(strings.Compare(x.Ref.Owner, y.Ref.Owner), strings.Compare(x.Ref.Project, y.Ref.Project), strings.Compare(x.Ref.Name, y.Ref.Name))
	})
	return all, nil
}

// stack returns a handle without checking that the stack exists.
func (b *Backend) stack(ref backend.Ref) *stack {
	if ref.Owner == "" {
		ref.Owner = b.Organization()
	}
	return &stack{subject: subject{b.core, ref}, shared: &shared{}}
}

// Open implements [backend.Backend]. It first sends the unsent changes of an interrupted operation.
func (b *Backend) Open(ctx context.Context, ref backend.Ref) (backend.Stack, error) {
	s := b.stack(ref)
	d, err := s.subject.describe(ctx)
	if err != nil {
		return nil, err
	}
	s.kept = d.Config
	return s, s.settle(ctx)
}

// Init implements [backend.Backend].
func (b *Backend) Init(ctx context.Context, ref backend.Ref, m secrets.Manager) (backend.Stack, error) {
	s := b.stack(ref)
	s.secrets = m
	err := b.core.client.CreateStack(ctx, s.subject.id(), map[string]string{tagProject: ref.Project})
	if api.Is(err, http.StatusConflict) && strings.Contains(err.Error(), "already exists") {
		return nil, &backend.ExistsError{Name: ref.Name}
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// The tags that the service gives every stack.
const (
	tagProject     = "pulumi:project"
	tagRuntime     = "pulumi:runtime"
	tagDescription = "pulumi:description"
)

// Rename implements [backend.Backend].
func (b *Backend) Rename(ctx context.Context, from, to backend.Ref) (backend.Stack, error) {
	s, renamed := b.stack(from), b.stack(to)
	if s.subject.ref.Owner != renamed.subject.ref.Owner {
		return nil, &TransferError{s.subject.ref, renamed.subject.ref, b.core.page(s.subject.ref.Owner, s.subject.ref.Project, s.subject.ref.Name, "settings", "options")}
	}
	if err := s.subject.exists(ctx); err != nil {
		return nil, err
	}
	if err := s.settle(ctx); err != nil {
		return nil, err
	}
	err := b.core.client.RenameStack(ctx, s.subject.id(), to.Project, to.Name)
	switch {
	case api.Is(err, http.StatusConflict) && strings.Contains(err.Error(), "already exists"):
		return nil, &backend.ExistsError{Name: to.Name}
	case api.Is(err, http.StatusConflict):
		return nil, &BusyError{Ref: s.subject.ref}
	case err != nil:
		return nil, err
	}
	if b.core.options.Renamed != nil {
		remark, err := b.core.options.Renamed(s.subject.ref, renamed.subject.ref)
		if remark != "" {
			b.core.note("%s", remark)
		}
		if err != nil {
			b.core.note("%v", err)
		}
	}
	return renamed, nil
}

// StackPage implements [backend.Pages].
func (b *Backend) StackPage(ref backend.Ref) string {
	return b.core.page(ref.Organization(), ref.Project, ref.Name)
}

// Upgrade implements [backend.Backend]. The service has no layouts.
func (b *Backend) Upgrade(context.Context, func(string) (string, error)) ([]backend.Upgraded, error) {
	return nil, nil
}

// Remove implements [backend.Backend].
func (b *Backend) Remove(ctx context.Context, ref backend.Ref, o backend.RemoveOptions) error {
	s := b.stack(ref)
	if err := s.subject.exists(ctx); err != nil {
		return err
	}
	if !o.Force {
		if err := s.settle(ctx); err != nil {
			return err
		}
	}
	err := b.core.client.DeleteStack(ctx, s.subject.id(), o.Force)
	if api.Is(err, http.StatusBadRequest) && strings.Contains(err.Error(), "still contains resources") {
		content, asked := s.subject.download(ctx)
		if asked != nil {
			return errors.Join(err, asked)
		}
		summary, asked := state.Summarise(content, s.subject.File(ctx))
		if asked != nil {
			return errors.Join(err, asked)
		}
		return &backend.NotEmptyError{Name: ref.Name, Resources: summary.Resources}
	}
	if err != nil {
		return err
	}
	return s.forget(ctx)
}

// StackOutputs implements [backend.Backend].
func (b *Backend) StackOutputs(ctx context.Context, name string) (property.Map, error) {
	return backend.Referenced(b.referenced).Outputs(ctx, name)
}

// StackResources implements [backend.Backend].
func (b *Backend) StackResources(ctx context.Context, name string) ([]*state.Resource, error) {
	return backend.Referenced(b.referenced).Resources(ctx, name)
}

func (b *Backend) referenced(ctx context.Context, name string) (backend.Stack, error) {
	ref, err := b.Resolve(name)
	if err != nil {
		return nil, err
	}
	s := b.stack(ref)
	return s, s.subject.exists(ctx)
}

// WhoAmI returns the owner of the token in use, as the service reports it.
func (b *Backend) WhoAmI(ctx context.Context) (Identity, error) {
	user, err := b.core.client.User(ctx)
	return identityOf(user), err
}

// OpenEnvironment implements [backend.Environments].
func (b *Backend) OpenEnvironment(ctx context.Context, organization string, q backend.EnvironmentQuery) (backend.Environment, error) {
	ask := func() (map[string]json.RawMessage, error) {
		return b.core.client.Environments(organization).Check(ctx, q.Definition)
	}
	if q.Open {
		ask = func() (map[string]json.RawMessage, error) {
			return b.core.client.Environments(organization).Open(ctx, q.Definition, q.Overrides)
		}
	}
	properties, err := ask()
	var refused *api.AnswerError
	if errors.As(err, &refused) && len(refused.Diagnostics) > 0 {
		return nil, problemsOf(refused.Diagnostics)
	}
	if err != nil {
		return nil, fmt.Errorf("open the environments of the stack: %w", err)
	}
	out := backend.Environment{}
	for name, text := range properties {
		var v backend.EnvironmentValue
		if err := json.Unmarshal(text, &v); err != nil {
			return nil, fmt.Errorf("the environments of the stack: %s: %w", name, err)
		}
		out[name] = v
	}
	return out, nil
}

// CreateEnvironment implements [backend.Environments]. If setting the definition fails, or the user interrupts it, the new
// environment is removed.
func (b *Backend) CreateEnvironment(ctx context.Context, organization, name string, definition []byte) error {
	project, short, _ := strings.Cut(name, "/")
	all := b.core.client.Environments(organization)
	err := all.Create(context.WithoutCancel(ctx), project, short) // an interruption would leave it uncertain whether it was made
	if api.Is(err, http.StatusConflict) {
		return fmt.Errorf("there is an environment %s/%s already", organization, name)
	}
	if err != nil {
		return fmt.Errorf("make the environment %s/%s: %w", organization, name, err)
	}
	if err = set(ctx, all, project, short, definition); err == nil {
		return nil
	}
	undo, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(undoTime, stop) })()
	if left := all.Delete(undo, project, short); left != nil {
		return fmt.Errorf("the environment %s/%s was made, is empty, and could not be removed (%v): %w", organization, name, left, err)
	}
	return fmt.Errorf("the environment %s/%s was not made: %w", organization, name, err)
}

// set gives an environment a definition.
func set(ctx context.Context, all api.Environments, project, name string, definition []byte) error {
	wrong, err := all.Set(ctx, project, name, definition)
	var refused *api.AnswerError
	if errors.As(err, &refused) && len(refused.Diagnostics) > 0 {
		wrong, err = refused.Diagnostics, nil
	}
	if len(wrong) > 0 {
		return problemsOf(wrong)
	}
	return err
}

func problemsOf(all []api.Diagnostic) *EnvironmentError {
	e := &EnvironmentError{}
	for _, d := range all {
		text := d.Summary
		if d.Detail != "" {
			text += "; " + d.Detail
		}
		if at := d.Range; at.Environment != "" {
			text = fmt.Sprintf("%s:%d:%d: %s", at.Environment, at.Begin.Line, at.Begin.Column, text)
		}
		e.Problems = append(e.Problems, text)
	}
	return e
}

var _ backend.Environments = (*Backend)(nil)

// EnvironmentError lists the problems of the environments of a stack.
type EnvironmentError struct {
	Problems []string // "project/name:3:4: the problem"
}

func (e *EnvironmentError) Error() string {
	return "the environments of the stack cannot be opened:\n  " + strings.Join(e.Problems, "\n  ")
}

// undoTime is how long the removal of an unusable new environment is tried after the user has interrupted the creation. Without an interruption
// only the patience with the service ends it.
const undoTime = 10 * time.Second
