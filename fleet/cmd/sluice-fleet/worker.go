package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	sdk "go.temporal.io/sdk/worker"

	"github.com/sluice-iac/sluice/fleet/run"
	"github.com/sluice-iac/sluice/fleet/server"
	"github.com/sluice-iac/sluice/fleet/worker"
	"github.com/sluice-iac/sluice/pipeline/await"
)

// startWorkers starts workers for the fleet's workflows and for the queues of operations, with at most so many operations at once. stop
// interrupts running operations, which another worker then continues.
func (s *session) startWorkers(ctx context.Context, queues []string, most int) (stop func(), err error) {
	path, err := worker.FindSluice(s.sluice)
	if err != nil {
		return nil, usagef("%v", err)
	}
	w, err := worker.New(ctx, s.fleet, s.home, path, s.works)
	if err != nil {
		return nil, err
	}
	var started []sdk.Worker
	stop = func() {
		for _, w := range started {
			w.Stop()
		}
	}
	start := func(queue string, o sdk.Options, register func(sdk.Worker)) error {
		o.OnFatalError = func(err error) {
			fmt.Fprintf(errs(), "error: no work is taken from the queue %s any more: %v\n", queue, err)
		}
		one, err := startWorker(ctx, s.works, queue, o, register)
		if err == nil {
			started = append(started, one)
		}
		return err
	}
	err = start(run.WorkflowQueue(s.fleet.Name), sdk.Options{LocalActivityWorkerOnly: true}, func(one sdk.Worker) {
		run.Register(one)
		one.RegisterActivityWithOptions(w.Ask, activity.RegisterOptions{Name: run.AskActivity})
		one.RegisterActivityWithOptions(w.Ended, activity.RegisterOptions{Name: run.EndedActivity})
	})
	for _, queue := range queues {
		if err != nil {
			break
		}
		err = start(run.ActivityQueue(s.fleet.Name, queue), sdk.Options{
			DisableWorkflowWorker: true, MaxConcurrentActivityExecutionSize: most, WorkerStopTimeout: time.Minute,
			MaxHeartbeatThrottleInterval: 2 * time.Second, DefaultHeartbeatThrottleInterval: 2 * time.Second,
		}, func(one sdk.Worker) {
			one.RegisterActivityWithOptions(w.Survey, activity.RegisterOptions{Name: run.SurveyActivity})
			one.RegisterActivityWithOptions(w.Perform, activity.RegisterOptions{Name: run.PerformActivity})
		})
	}
	if err != nil {
		stop()
		return nil, err
	}
	return stop, nil
}

// startWorker starts a worker for one queue. It waits for a server that restarts in the meantime.
func startWorker(ctx context.Context, c client.Client, queue string, o sdk.Options, register func(sdk.Worker)) (sdk.Worker, error) {
	waiting, cancel := context.WithTimeout(ctx, server.Patience)
	defer cancel()
	for {
		one := sdk.New(c, queue, o)
		register(one)
		err := one.Start()
		if err == nil {
			return one, nil
		}
		if !server.IsPassing(err) || await.For(waiting, time.Second) != nil {
			return nil, fmt.Errorf("take from the queue %s: %w", queue, err)
		}
	}
}

func newWorker(g *global) *cobra.Command {
	var queues []string
	var most int
	cmd := &cobra.Command{
		Use: "worker", Short: "Work on stacks for runs that were started elsewhere", Args: arguments(0, 0),
		Long: "Take stacks of the fleet's queues and work on them until it is interrupted. You can run any number of workers, on any number of\n" +
			"machines. Each needs fleet.yaml, the folders of the stacks that are not in git, and the credentials for the stacks of its queues.\n\n" +
			"An interrupt stops the operations of the worker, and other workers continue them.",
		RunE: func(cmd *cobra.Command, _ []string) error { return work(cmd.Context(), g, queues, most) },
	}
	cmd.Flags().StringArrayVar(&queues, "queue", nil, "take stacks of this `queue`; may be repeated; all queues of fleet.yaml if not given")
	cmd.Flags().IntVar(&most, "concurrency", 4, "how many stacks of a queue to work on at once")
	return cmd
}

func work(ctx context.Context, g *global, queues []string, most int) error {
	if most < 1 {
		return usagef("--concurrency %d: write a whole number from 1 on", most)
	}
	var err error
	if g.metrics, err = startMetrics(ctx); err != nil {
		return err
	}
	defer g.metrics.end()
	s, err := g.connect(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	if err := worker.Prune(s.home, time.Now().Add(-server.Kept)); err != nil {
		return err
	}
	if len(queues) == 0 {
		queues = s.fleet.Queues()
	}
	stop, err := s.startWorkers(ctx, queues, most)
	if err != nil {
		return err
	}
	fmt.Fprintf(errs(), "working for %s on the queues %s\n", s.fleet.Name, strings.Join(queues, ", "))
	next, release := newSignals()
	defer release()
	next(ctx)
	fmt.Fprintln(errs(), "ending the running operations")
	stop()
	return nil
}
