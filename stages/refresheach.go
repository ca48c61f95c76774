package stages

import (
	"context"
	"errors"

	"github.com/sourcegraph/conc/pool"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/state"
)

// RefreshEach is the stage that reads recorded resources again as the program registers them (steps.md 7.4): what is found,
// with the provider that the program gives them, is recorded and takes the place of the recorded state. Of components and
// providers there is nothing to read. It calls providers, in previews too; what is new or not part of the operation passes
// through.
func RefreshEach(r *Run) pipeline.Stage[Located, Located] {
	return pipeline.Stage[Located, Located]{
		Name:    "refresh",
		Workers: readWorkers,
		Buffer:  readWorkers,
		Run: func(ctx context.Context, l Located, emit pipeline.Emit[Located]) error {
			if !l.rereads {
				return emit(l)
			}
			defer r.progress.pass(l.Seq, reread)
			l, err := r.refreshRegistered(ctx, l)
			if err != nil {
				return err
			}
			return emit(l)
		},
	}
}

func (r *Run) refreshRegistered(ctx context.Context, l Located) (Located, error) {
	managed := l.Goal.isManaged()
	if managed {
		if err := r.ensureProvider(ctx, l); err != nil {
			return l, err
		}
		if _, err := r.providerOf(l); err != nil {
			return l, err
		}
	}
	r.outcomes.add(l.URN, refreshed)
	s := &Decision{StepInfo: StepInfo{
		Op: OpRefresh, URN: l.URN, Type: l.Goal.Type, Old: l.Old, Provider: l.Goal.Provider, Internal: !managed,
		Reason: Reason{Kind: ReasonRefresh},
	}, Rank: Rank{Seq: l.Seq, Place: -1}}
	r.record.note(s)
	// Where there is nothing to read, the reference reports an update, as it makes a copy of the state. It does so for what is
	// shown to nobody, except for a resource that waits for its replacement.
	f := r.refreshOne(ctx, s, refreshing{into: l.toRefresh(r.Mode), unread: OpUpdate, record: true})
	if !f.ok {
		r.Halt()
		return l, &bailError{errRefreshFailed}
	}
	if l.Old = f.now; l.Old == nil {
		return l, nil
	}
	r.world.keep(s, l.Old)
	return l, nil
}

// toRefresh returns the state into which a refresh puts what it finds. If it is not followed by anything that records the
// program's options, it has those.
func (l Located) toRefresh(mode Mode) *state.Resource {
	if mode == ModeUpdate {
		return l.Old.Clone()
	}
	s := l.newState(Checked{Inputs: l.Old.Inputs})
	s.External, s.Taint = l.Old.External, l.Old.Taint
	return s
}

// refreshRest reads what the program of a refresh has not registered, all at once, and records it (steps.md 7.4). Nothing is
// deleted. A failure does not stop the others.
func (r *Run) refreshRest(ctx context.Context) error {
	selected := r.Refreshable()
	var steps []*Decision
	for i, res := range r.base.resources {
		in, now := selected(res), r.world.current(res)
		if !in || now == nil || res.ViewOf != "" || r.isOperatedOn(res.URN) {
			continue
		}
		steps = append(steps, &Decision{StepInfo: StepInfo{
			Op: OpRefresh, URN: now.URN, Type: now.Type, Old: now, Provider: now.Provider, Internal: now.URN.IsDefaultProvider(),
			Reason: Reason{Kind: ReasonRefresh},
		}, Rank: Rank{Seq: AfterAll, Place: i}})
	}
	r.record.note(steps...)
	p := pool.New().WithErrors().WithMaxGoroutines(readWorkers)
	for _, s := range steps {
		p.Go(func() error {
			if f := r.refreshOne(ctx, s, refreshing{into: s.Old.Clone(), unread: OpSame, record: true, unjudged: true}); !f.ok {
				return errRefreshFailed
			}
			return nil
		})
	}
	if err := p.Wait(); err != nil {
		r.Halt()
		return &bailError{errors.New("some of what the program does not declare could not be refreshed; see the errors of the resources")}
	}
	return nil
}
