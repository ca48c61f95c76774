package source

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/sourcegraph/conc/pool"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// atOnce is the largest number of registrations of a [Requests] program that wait for their replies at the same time.
const atOnce = 512

// Requests returns a program that registers the requests of a sequence. An error of the sequence fails the program. A registration begins
// when its parent, its dependencies and its provider, as far as they come earlier in the sequence, have succeeded. Other registrations run
// at the same time, up to a few hundred. So a request refers to earlier ones by URNs under [urn.RootStack].
//
// The sequence is iterated over once in each run, in one goroutine.
func Requests(seq iter.Seq2[*stages.RegisterRequest, error]) Func {
	if seq == nil {
		return nil // which an operation refuses
	}
	return func(ctx context.Context, m stages.Monitor) error {
		info := m.Info()
		r := &requests{monitor: m, root: urn.RootStack(info.Stack, info.Project), made: map[urn.URN]*await.Promise[struct{}]{}}
		ctx, stop := context.WithCancelCause(ctx)
		defer stop(nil)
		workers := pool.New().WithErrors().WithFirstError().WithMaxGoroutines(atOnce)
		ended := false
		defer func() {
			if !ended { // the sequence has panicked
				stop(nil)
				_ = workers.Wait()
			}
		}()
		for request, err := range seq {
			if err == nil && request == nil {
				err = errors.New("the sequence of registrations has yielded neither a registration nor an error")
			}
			if err != nil {
				workers.Go(func() error { return err })
				break
			}
			if ctx.Err() != nil { // a sequence that ended here would count as complete
				workers.Go(func() error { return context.Cause(ctx) })
				break
			}
			earlier, own := r.enter(request)
			workers.Go(func() error {
				err := r.register(ctx, request, earlier)
				own.Decide(struct{}{}, err)
				if errors.Is(err, stages.ErrShutDown) {
					stop(err) // nothing more will be registered
				}
				return err
			})
		}
		ended = true
		return workers.Wait()
	}
}

// requests is one run of a sequence. Only the iterating goroutine uses made.
type requests struct {
	monitor stages.Monitor
	root    urn.URN
	made    map[urn.URN]*await.Promise[struct{}]
}

// enter adds a registration. It returns the promises of the earlier registrations that q refers to, and its own.
func (r *requests) enter(q *stages.RegisterRequest) (earlier []*await.Promise[struct{}], own *await.Promise[struct{}]) {
	names := []urn.URN{q.Parent, q.DeletedWith}
	names = append(append(names, q.Dependencies...), q.ReplaceWith...)
	for _, list := range q.PropertyDependencies {
		names = append(names, list...)
	}
	if ref, err := urn.ParseProviderRef(q.Provider); err == nil {
		names = append(names, ref.URN)
	}
	for _, text := range q.Providers {
		if ref, err := urn.ParseProviderRef(text); err == nil {
			names = append(names, ref.URN)
		}
	}
	for _, name := range names {
		if p := r.made[name]; p != nil {
			earlier = append(earlier, p)
		}
	}
	parent := q.Parent
	if parent == "" {
		parent = r.root
	}
	own = await.NewPromise[struct{}]()
	r.made[parent.Child(q.Type, q.Name)] = own
	return earlier, own
}

func (r *requests) register(ctx context.Context, q *stages.RegisterRequest, earlier []*await.Promise[struct{}]) error {
	for _, p := range earlier {
		if _, err := p.Wait(ctx); err != nil {
			return fmt.Errorf("%s %q is not registered, because what it names is not: %w", q.Type, q.Name, err)
		}
	}
	_, err := r.monitor.Register(ctx, q)
	return err
}
