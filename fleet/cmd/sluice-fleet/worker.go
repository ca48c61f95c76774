package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/activity"
	sdk "go.temporal.io/sdk/worker"

	"github.com/sluice-iac/sluice/fleet/run"
	"github.com/sluice-iac/sluice/fleet/worker"
)

// startWorkers takes from the queue of the fleet's workflows and from those of operations, at most that many at once. The returned function ends
// that: what runs is interrupted, and another worker goes on with it.
func (s *session) startWorkers(ctx context.Context, queues []string, most int) (stop func(), err error) {
	path, err := worker.FindSluice(s.sluice)
	if err != nil {
		return nil, usagef("%v", err)
	}
	w, err := worker.New(ctx, s.fleet.Root, s.home, path, s.client.Client)
	if err != nil {
		return nil, err
	}
	var started []sdk.Worker
	stop = func() {
		for _, w := range started {
			w.Stop()
		}
	}
	workflows := sdk.New(s.client.Client, run.WorkflowQueue(s.fleet.Name), sdk.Options{LocalActivityWorkerOnly: true})
	run.Register(workflows)
	if err := workflows.Start(); err != nil {
		return nil, err
	}
	started = append(started, workflows)
	for _, queue := range queues {
		activities := sdk.New(s.client.Client, run.ActivityQueue(s.fleet.Name, queue), sdk.Options{
			DisableWorkflowWorker: true, MaxConcurrentActivityExecutionSize: most, WorkerStopTimeout: time.Minute,
			MaxHeartbeatThrottleInterval: 2 * time.Second, DefaultHeartbeatThrottleInterval: 2 * time.Second,
		})
		activities.RegisterActivityWithOptions(w.Survey, activity.RegisterOptions{Name: run.SurveyActivity})
		activities.RegisterActivityWithOptions(w.Perform, activity.RegisterOptions{Name: run.PerformActivity})
		if err := activities.Start(); err != nil {
			stop()
			return nil, err
		}
		started = append(started, activities)
	}
	return stop, nil
}

func newWorker(g *global) *cobra.Command {
	var queues []string
	var most int
	cmd := &cobra.Command{
		Use: "worker", Short: "Do the work of runs that are begun elsewhere", Args: cobra.NoArgs,
		Long: "Take stacks of the fleet's queues and work on them until it is interrupted. Any number of workers may run, on any number of\n" +
			"machines; each needs fleet.yaml, the folders of the stacks that are not in git, and the rights that the stacks of its queues need.\n\n" +
			"An interrupt ends what has begun, and other workers go on with it.",
		RunE: func(cmd *cobra.Command, _ []string) error { return work(cmd.Context(), g, queues, most) },
	}
	cmd.Flags().StringArrayVar(&queues, "queue", nil, "take stacks of this `queue`; may be repeated; all queues of fleet.yaml if not given")
	cmd.Flags().IntVar(&most, "concurrency", 4, "how many stacks of a queue to work on at once")
	return cmd
}

func work(ctx context.Context, g *global, queues []string, most int) error {
	s, err := g.connect(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	if len(queues) == 0 {
		queues = s.fleet.Queues()
	}
	stop, err := s.startWorkers(ctx, queues, most)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "working for %s on the queues %s\n", s.fleet.Name, strings.Join(queues, ", "))
	next, release := newSignals()
	defer release()
	next(ctx)
	fmt.Fprintln(os.Stderr, "ending what has begun")
	stop()
	return nil
}
