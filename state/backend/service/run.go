package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/sourcegraph/conc"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/backend/service/internal/api"
)

// run is an operation that has begun at the service.
type run struct {
	stack   *stack
	held    *held // nil for a preview
	lease   *api.Lease
	preview bool
	created api.Created
	onLost  func(error)
	events  *events

	stop    context.CancelFunc // stops the renewal of the lease
	renewal conc.WaitGroup

	mu    sync.Mutex // guards the fields below
	lost  error
	ended bool
}

var _ backend.Run = (*run)(nil)

// kinds are the names that the service has for operations.
var kinds = map[string]string{"update": "update", "import": "update", "resource-import": "update", "refresh": "refresh", "destroy": "destroy", "preview": "preview"}

// start makes an update at the service and begins it.
func (r *run) start(ctx context.Context, o backend.Operation) error {
	s, client := r.stack, r.stack.subject.backend.client
	kind := cmp.Or(kinds[o.Kind], "update")
	config, err := configOf(o.Config)
	if err != nil {
		return err
	}
	now, err := s.subject.describe(ctx)
	if err != nil {
		return err
	}
	var about api.Metadata
	if o.Describe != nil {
		about.Message, about.Environment = o.Describe(ctx)
	}
	if r.created, err = client.CreateUpdate(ctx, s.subject.id(), kind, api.Program{
		Name: cmp.Or(o.Program.Name, s.subject.ref.Project), Runtime: cmp.Or(o.Program.Runtime, "unknown"), Main: o.Program.Main, Description: o.Program.Description,
		Options: api.ProgramOptions{Color: "raw", DryRun: o.Preview, PolicyPacks: []string{}, Parallel: int32(o.Parallel)}, Config: config,
		Metadata: about,
	}); err != nil {
		return s.subject.explain(ctx, err)
	}
	journal := api.JournalVersion
	if disabled, _ := s.subject.backend.options.lookup()(EnvNoJournal); disabled == "true" || disabled == "1" || o.Preview {
		journal = 0
	}
	if !o.Preview {
		content, err := r.held.workingCopy.content(ctx)
		if err != nil {
			return err
		}
		if hasPending(content) {
			journal = 0 // the service drops pending operations when a journal ends, also one without entries
		}
		if err := r.held.workingCopy.mark(ctx, unsent{Update: r.created.ID.ID, Version: now.Version, Sent: true}); err != nil {
			return err
		}
	}
	tags := maps.Clone(now.Tags)
	if tags == nil {
		tags = map[string]string{}
	}
	for name, value := range map[string]string{tagProject: o.Program.Name, tagRuntime: o.Program.Runtime, tagDescription: o.Program.Description} {
		if value != "" {
			tags[name] = value
		}
	}
	if r.lease, err = client.StartUpdate(ctx, r.created.ID, tags, journal); err == nil && !o.Preview && r.lease.Version <= now.Version {
		err = s.subject.contradicts("it has version %d", "the version that the update makes is %d", now.Version, r.lease.Version)
	}
	if err != nil {
		return s.subject.explain(ctx, r.notStarted(ctx, err))
	}
	later, stop := context.WithCancel(context.WithoutCancel(ctx))
	r.stop = stop
	r.renewal.Go(func() { r.renew(later) })
	r.events = newEvents(later, r)
	return nil
}

// notStarted ends an update that has not begun as far as is known, and returns the error.
func (r *run) notStarted(ctx context.Context, err error) error {
	if isDoubtful(err) { // it may have begun
		if left := r.stack.subject.backend.client.Cancel(context.WithoutCancel(ctx), r.created.ID); left != nil {
			return errors.Join(err, left) // the next command ends it
		}
	} else if api.IsAway(err) {
		return err
	}
	if !r.preview {
		err = errors.Join(err, r.held.workingCopy.settled(ctx))
	}
	return err
}

// own makes the working copy equal to the state of the service, which only this process changes from now on.
func (r *run) own(ctx context.Context) error {
	content, err := r.stack.subject.download(ctx)
	if err != nil {
		return err
	}
	if err := r.held.workingCopy.replace(ctx, content); err != nil {
		return err
	}
	drops := r.lease.Journal > 0 && hasPending(content) // another process has left it in the meantime
	if err := r.held.workingCopy.mark(ctx, unsent{Update: r.created.ID.ID, Version: r.lease.Version - 1, Sent: !drops}); err != nil {
		return err
	}
	shared := r.stack.shared
	shared.mu.Lock()
	defer shared.mu.Unlock()
	shared.run = r
	return nil
}

// abandon ends an operation that has begun at the service and that cannot be carried out.
func (r *run) abandon(ctx context.Context) error {
	r.events.close()
	return r.complete(ctx, api.Failed)
}

// errNotRenewed is the error for a lease that has run out.
var errNotRenewed = errors.New("it could not be reached in time to renew it")

// renew renews the lease until ctx ends or the lease is lost. It is lost if a renewal is refused, which means that the update was cancelled, or if no
// renewal succeeds until shortly before its end.
func (r *run) renew(ctx context.Context) {
	lasts := cmp.Or(r.stack.subject.backend.options.Lease, api.LeaseTime)
	every := cmp.Or(r.stack.subject.backend.options.Renew, lasts/4)
	usable := lasts - lasts/10
	for until := time.Now().Add(usable); ; {
		if await.For(ctx, min(every, time.Until(until))) != nil {
			return
		}
		began := time.Now()
		attempt, stop := context.WithDeadlineCause(ctx, until, errNotRenewed)
		err := r.stack.subject.backend.client.Renew(attempt, r.lease, lasts)
		stop()
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			until = began.Add(usable)
		case !api.IsAway(err) || !time.Now().Before(until):
			r.lose(err)
			return
		}
	}
}

// lose ends the right to begin operations.
func (r *run) lose(why error) {
	r.mu.Lock()
	first := r.lost == nil && !r.ended
	if first {
		r.lost = &LeaseError{r.stack.subject.ref, why}
	}
	err := r.lost
	r.mu.Unlock()
	if first && r.onLost != nil {
		r.onLost(err)
	}
}

// lostBecause returns why the lease was lost, nil while it was not.
func (r *run) lostBecause() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lost
}

// refused handles an error of a call with the lease.
func (r *run) refused(err error) {
	if api.Is(err, http.StatusForbidden) || api.Is(err, http.StatusConflict) || api.Is(err, http.StatusUnauthorized) {
		r.lose(err)
	}
}

// Page implements [backend.Run].
func (r *run) Page() string {
	parts := []string{"updates", strconv.Itoa(r.lease.Version)}
	if r.preview {
		parts = []string{"previews", r.created.ID.ID}
	}
	return r.stack.subject.backend.page(append([]string{r.stack.subject.ref.Owner, r.stack.subject.ref.Project, r.stack.subject.ref.Name}, parts...)...)
}

// Policies implements [backend.Run].
func (r *run) Policies() []backend.RequiredPolicy {
	return r.stack.subject.backend.required(r.created.Policies)
}

// Events implements [backend.Run].
func (r *run) Events() io.Writer { return r.events }

// End implements [backend.Run].
func (r *run) End(ctx context.Context, u backend.Update) error {
	r.mu.Lock()
	again := r.ended
	r.ended = true
	r.mu.Unlock()
	if again {
		return nil
	}
	status := api.Succeeded
	if u.Result == backend.ResultFailed {
		status = api.Failed
	}
	ctx = context.WithoutCancel(ctx)
	r.events.close()
	if !r.preview {
		shared := r.stack.shared
		shared.mu.Lock()
		shared.run = nil
		shared.mu.Unlock()
	}
	err := r.complete(ctx, status)
	if r.preview {
		return err
	}
	left, asked := r.held.workingCopy.unsent(ctx)
	if asked != nil || left == nil || !left.Sent {
		return errors.Join(err, asked)
	}
	if err != nil {
		return fmt.Errorf("the service has the state of stack %s, but could not be notified of the end of the operation: %w", r.stack.subject.ref, err)
	}
	if err := r.confirm(ctx); err != nil {
		marked := r.held.workingCopy.mark(ctx, unsent{Update: r.created.ID.ID, Version: r.lease.Version - 1})
		return errors.Join(&UnsentError{r.stack.subject.ref, r.held.workingCopy.name(), err}, marked)
	}
	return r.held.workingCopy.settled(ctx)
}

// confirm reads the saved state of the service, and returns an error if it differs from the recorded one.
func (r *run) confirm(ctx context.Context) error {
	content, err := r.held.workingCopy.content(ctx)
	if err != nil {
		return err
	}
	return r.stack.subject.confirm(ctx, content, r.lease.Version)
}

// complete ends the update at the service.
func (r *run) complete(ctx context.Context, status string) error {
	r.stop()
	r.renewal.Wait()
	if r.lostBecause() != nil {
		return nil // it was ended at the service
	}
	client := r.stack.subject.backend.client
	err := client.Complete(ctx, r.lease, status)
	if err == nil || api.IsAway(err) && !isDoubtful(err) {
		return err
	}
	if now, _, asked := client.Status(ctx, r.created.ID); asked == nil && now == status {
		return nil // the answer to the first attempt was lost
	}
	return err
}
