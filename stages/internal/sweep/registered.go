package sweep

import (
	"context"
	"errors"

	"github.com/sourcegraph/conc/pool"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// RefreshRegistered reads the recorded state that a registration continues. It waits for the decisions that could concern that
// state: one that a delete-before-replace deletes is not read (steps.md 7.6).
func (r *Reader) RefreshRegistered(ctx context.Context, l stages.Located) (stages.Located, error) {
	managed := l.Goal.IsManaged()
	if managed {
		if err := r.Access.EnsureProvider(ctx, l); err != nil {
			return l, err
		}
		if _, err := r.Access.ProviderOf(l); err != nil {
			return l, err
		}
		if err := r.Book.Ancestors.AwaitDecisions(ctx, l.Seq, l.Claimed); err != nil {
			return l, err
		}
	}
	s := &stages.Decision{StepInfo: stages.StepInfo{
		Op: stages.OpRefresh, URN: l.URN, Type: l.Goal.Type, Old: l.Old, Provider: l.Goal.Provider, Internal: !managed,
		Reason: stages.Reason{Kind: stages.ReasonRefresh},
	}, Rank: stages.Rank{Seq: l.Seq, Place: -1}}
	r.Taker.Expect(s)
	// Where there is nothing to read, Pulumi reports an update, as it makes a copy of the state. Nobody sees it, except for a
	// resource that waits for its replacement.
	f := r.refreshOne(ctx, s, refreshing{into: r.toRefresh(l), opWithoutRead: stages.OpUpdate, record: true})
	if !f.ok {
		r.Control.Halt()
		return l, &stages.ReportedError{Err: errRefreshFailed}
	}
	if l.Old = f.now; l.Old == nil {
		return l, nil
	}
	r.Taker.Keep(s, l.Old)
	return l, nil
}

// toRefresh returns the state into which a refresh puts what it finds. Unless the run is an update, which records the options
// of the program later, the state has them.
func (r *Reader) toRefresh(l stages.Located) *state.Resource {
	if r.Book.Mode == stages.ModeUpdate {
		return l.Old.Clone()
	}
	s := l.NewState(stages.Checked{Inputs: l.Old.Inputs})
	s.External, s.Taint = l.Old.External, l.Old.Taint
	if r.Book.Names.LeavesRecorded() && r.closesCircle(s) {
		old := l.Old
		s.Provider, s.Dependencies, s.PropertyDependencies = old.Provider, old.Dependencies, old.PropertyDependencies
		s.DeletedWith, s.ReplaceWith = old.DeletedWith, old.ReplaceWith
	}
	return s
}

// closesCircle reports whether a state with the program's references would come to refer to itself, because something that they lead to is left as
// it is recorded: a refresh does not touch what refers to something that is not created. What the program's references lead to has been answered;
// what only recorded ones lead to may change meanwhile, and counts as it is recorded.
func (r *Reader) closesCircle(s *state.Resource) bool {
	type node struct {
		*state.Resource
		recorded bool
	}
	seen := map[urn.URN]bool{}
	for todo := []node{{s, false}}; len(todo) > 0; todo = todo[1:] {
		here := todo[0]
		for ref := range here.References() {
			u := r.Book.Names.NewNameOf(ref.URN)
			if u == s.URN {
				return true
			}
			if seen[u] {
				continue
			}
			seen[u] = true
			if now, ok := r.Book.Results.Lookup(u); ok && !here.recorded {
				todo = append(todo, node{now, false})
			} else if old := r.Book.Base.Olds[ref.URN]; old != nil {
				todo = append(todo, node{old, true})
			}
		}
	}
	return false
}

// refreshRest reads what the program of a refresh has not registered, all at once, and records it (steps.md 7.4). Nothing is
// deleted. A failure does not stop the others.
func (r *Reader) refreshRest(ctx context.Context) error {
	selected := r.Book.Refreshable()
	var steps []*stages.Decision
	for i, res := range r.Book.Base.Resources {
		in, now := selected(res), r.Book.Results.Current(res)
		if !in || now == nil || res.ViewOf != "" || r.Book.IsOperatedOn(res.URN) {
			continue
		}
		steps = append(steps, &stages.Decision{StepInfo: stages.StepInfo{
			Op: stages.OpRefresh, URN: now.URN, Type: now.Type, Old: now, Provider: now.Provider, Internal: now.URN.IsDefaultProvider(),
			Reason: stages.Reason{Kind: stages.ReasonRefresh},
		}, Rank: stages.Rank{Seq: stages.EndPhaseSeq, Place: i}})
	}
	r.Taker.Expect(steps...)
	p := pool.New().WithErrors().WithMaxGoroutines(r.Access.ReadWorkers())
	for _, s := range steps {
		p.Go(func() error {
			if f := r.refreshOne(ctx, s, refreshing{into: s.Old.Clone(), opWithoutRead: stages.OpSame, record: true, keepsUncompared: true}); !f.ok {
				return errRefreshFailed
			}
			return nil
		})
	}
	if err := p.Wait(); err != nil {
		r.Control.Halt()
		return &stages.ReportedError{Err: errors.New("some of what the program does not declare could not be refreshed; see the errors of the resources")}
	}
	return nil
}
