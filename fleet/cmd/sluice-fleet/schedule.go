package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/sluice-iac/sluice/fleet/run"
	"github.com/sluice-iac/sluice/fleet/spec"
	"github.com/sluice-iac/sluice/fleet/watch"
)

func newSchedule(g *global) *cobra.Command {
	cmd := &cobra.Command{
		Use: "schedule", Short: "Repeat operations as fleet.yaml says", Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		&cobra.Command{
			Use: "apply", Short: "Copy the schedules of fleet.yaml to the server", Args: arguments(0, 0),
			Long: "Copy the schedules of fleet.yaml to the server: create missing ones, change others, and remove those that fleet.yaml does not have.\n" +
				"A worker has to run at the scheduled times. With the fleet's own server, the worker also keeps the server running.",
			RunE: func(cmd *cobra.Command, _ []string) error {
				return withSession(cmd.Context(), g, applySchedules)
			},
		},
		&cobra.Command{
			Use: "ls", Short: "List the schedules on the server", Args: arguments(0, 0),
			RunE: func(cmd *cobra.Command, _ []string) error { return withSession(cmd.Context(), g, listSchedules) },
		},
		&cobra.Command{
			Use: "trigger NAME", Short: "Begin the run of a schedule now", Args: arguments(1, 1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return withSession(cmd.Context(), g, func(ctx context.Context, s *session) error {
					return s.client.ScheduleClient().GetHandle(ctx, scheduleID(s.fleet.Name, args[0])).Trigger(ctx, client.ScheduleTriggerOptions{})
				})
			},
		})
	return cmd
}

func withSession(ctx context.Context, g *global, do func(context.Context, *session) error) error {
	s, err := g.connect(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	return do(ctx, s)
}

// scheduleID returns the ID of a schedule on the server.
func scheduleID(fleet, name string) string { return "sluice/" + fleet + "/" + name }

// applySchedules replaces the schedules on the server by those of fleet.yaml.
func applySchedules(ctx context.Context, s *session) error {
	wanted := map[string]bool{}
	for _, schedule := range s.fleet.Schedules {
		id := scheduleID(s.fleet.Name, schedule.Name)
		wanted[id] = true
		o, err := scheduleOptions(s.fleet, schedule, s.client.HasAttributes(ctx))
		if err != nil {
			return err
		}
		// A changed schedule is deleted and created again: it has no state that would be lost.
		var missing *serviceerror.NotFound
		if err := s.client.ScheduleClient().GetHandle(ctx, id).Delete(ctx); err != nil && !errors.As(err, &missing) {
			return err
		}
		if _, err := s.client.ScheduleClient().Create(ctx, o); err != nil {
			return fmt.Errorf("the schedule %s: %w", schedule.Name, err)
		}
		fmt.Fprintf(out(), "%s: %s %s\n", schedule.Name, schedule.Operation, or(schedule.Cron, "every "+schedule.Every))
	}
	return eachSchedule(ctx, s, func(e *client.ScheduleListEntry) error {
		if wanted[e.ID] {
			return nil
		}
		fmt.Fprintf(out(), "%s: removed\n", strings.TrimPrefix(e.ID, scheduleID(s.fleet.Name, "")))
		return s.client.ScheduleClient().GetHandle(ctx, e.ID).Delete(ctx)
	})
}

// scheduleOptions returns a schedule in the form of the server. If a run has not ended when the next one is due, the next one is skipped. Runs have
// search attributes if the server supports them.
func scheduleOptions(f *spec.Fleet, schedule spec.Schedule, attributes bool) (client.ScheduleOptions, error) {
	stacks, others, err := choose(f, schedule.Select)
	if err != nil {
		return client.ScheduleOptions{}, err
	}
	request := run.Request{
		Fleet: f.Name, Operation: run.Operation(schedule.Operation), Stacks: stacks, Others: others, Concurrency: f.Concurrency, Limits: f.Limits,
		By: "the schedule " + schedule.Name, Bound: true, Schedule: schedule.Name,
	}
	id, err := watch.RunID(request)
	if err != nil {
		return client.ScheduleOptions{}, err
	}
	action := &client.ScheduleWorkflowAction{ID: id, Workflow: run.FleetWorkflow, TaskQueue: run.WorkflowQueue(f.Name), Args: []any{request}}
	if attributes {
		action.TypedSearchAttributes = request.SearchAttributes()
	}
	o := client.ScheduleOptions{ID: scheduleID(f.Name, schedule.Name), Overlap: enumspb.SCHEDULE_OVERLAP_POLICY_SKIP, Action: action}
	if schedule.Cron != "" {
		o.Spec.CronExpressions = []string{schedule.Cron}
		return o, nil
	}
	every, err := time.ParseDuration(schedule.Every)
	o.Spec.Intervals = []client.ScheduleIntervalSpec{{Every: every}}
	return o, err
}

func eachSchedule(ctx context.Context, s *session, do func(*client.ScheduleListEntry) error) error {
	list, err := s.client.ScheduleClient().List(ctx, client.ScheduleListOptions{})
	if err != nil {
		return err
	}
	for list.HasNext() {
		e, err := list.Next()
		if err != nil {
			return err
		}
		if !strings.HasPrefix(e.ID, scheduleID(s.fleet.Name, "")) {
			continue
		}
		if err := do(e); err != nil {
			return err
		}
	}
	return nil
}

func listSchedules(ctx context.Context, s *session) error {
	w := tabwriter.NewWriter(out(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SCHEDULE\tNEXT\tLAST")
	err := eachSchedule(ctx, s, func(e *client.ScheduleListEntry) error {
		next, last := "-", "-"
		if len(e.NextActionTimes) > 0 {
			next = e.NextActionTimes[0].Local().Format(time.DateTime)
		}
		if n := len(e.RecentActions); n > 0 {
			last = e.RecentActions[n-1].ActualTime.Local().Format(time.DateTime)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", strings.TrimPrefix(e.ID, scheduleID(s.fleet.Name, "")), next, last)
		return nil
	})
	return errors.Join(err, w.Flush())
}
