package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/fleet/server"
	"github.com/sluice-iac/sluice/fleet/worker"
)

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
