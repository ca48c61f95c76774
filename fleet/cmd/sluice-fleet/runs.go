package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/fleet/run"
	"github.com/sluice-iac/sluice/fleet/watch"
	"github.com/sluice-iac/sluice/fleet/worker"
)

// onRun returns a command on one run. Only a worker answers queries, so it starts one that takes no operations.
func onRun(g *global, open bool, do func(context.Context, *session, string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		s, err := g.connect(cmd.Context())
		if err != nil {
			return err
		}
		defer s.close()
		stop, err := s.startWorkers(cmd.Context(), nil, 1)
		if err != nil {
			return err
		}
		defer stop()
		id, err := s.pick(cmd.Context(), args, open)
		if err != nil {
			return err
		}
		return do(cmd.Context(), s, id)
	}
}

func newStatus(g *global) *cobra.Command {
	var follow, asJSON bool
	cmd := &cobra.Command{
		Use: "status [RUN]", Short: "Show a run: the newest if none is named", Args: arguments(0, 1),
		RunE: onRun(g, false, func(ctx context.Context, s *session, id string) error {
			now, err := s.client.See(ctx, id)
			if err != nil {
				return err
			}
			if asJSON && !follow {
				enc := json.NewEncoder(documents())
				enc.SetIndent("", "  ")
				return enc.Encode(now)
			}
			show := newShow(asJSON, follow && isOnTerminal())
			show.begin(id, now.Operation, false)
			if follow {
				if now, err = s.client.Follow(ctx, id, show.every(), show.look, show.note); err != nil {
					return err
				}
			} else {
				show.all(now)
			}
			if now.Over {
				show.end(now)
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&follow, "follow", false, "go on until the run is over")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}

func newLogs(g *global) *cobra.Command {
	var id string
	cmd := &cobra.Command{
		Use: "logs STACK", Short: "Print the output of sluice for a stack", Args: arguments(1, 1),
		Long: "Print the output of sluice for a stack in a run. For stacks that ran on other machines, it prints the end of the output of a failure.",
	}
	cmd.Flags().StringVar(&id, "run", "", "the run; the newest if not given")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		stack := args[0]
		var named []string
		if id != "" {
			named = []string{id}
		}
		return onRun(g, false, func(ctx context.Context, s *session, id string) error { return printLog(ctx, s, id, stack) })(cmd, named)
	}
	return cmd
}

func printLog(ctx context.Context, s *session, id, stack string) error {
	f, err := os.Open(worker.LogPath(s.home, id, stack))
	if err == nil {
		defer func() { _ = f.Close() }() // it is only read
		_, err = io.Copy(out(), f)
		return err
	}
	now, err := s.client.See(ctx, id)
	if err != nil {
		return err
	}
	for _, is := range now.Stacks {
		switch {
		case is.Name != stack:
		case is.Log != "":
			_, err := fmt.Fprintf(out(), "the end of what %s has printed:\n%s", is.Worker, is.Log)
			return err
		default:
			return fmt.Errorf("nothing was printed for %s: it is %s", stack, is.Status.Word())
		}
	}
	return usagef("the run %s has no stack %s", id, stack)
}

func newApprove(g *global) *cobra.Command {
	var id, message, plan string
	var refuse bool
	cmd := &cobra.Command{
		Use: "approve [STACK...]", Short: "Approve or refuse operations", Args: cobra.ArbitraryArgs,
		Long: "Approve operations of a run that wait for approval: those of the named stacks, or all. The run records who has approved.\n\n" +
			"An approval is of the plan that the run shows. If the operation would do something else when it begins, the run asks again.\n" +
			"With --plan, it is an error if the stack waits with another plan than the one that you have looked at.",
	}
	cmd.Flags().StringVar(&plan, "plan", "", "the `plan` of the stack that you have looked at")
	cmd.Flags().StringVar(&id, "run", "", "the run; the newest that goes on if not given")
	cmd.Flags().BoolVar(&refuse, "refuse", false, "refuse them")
	cmd.Flags().StringVarP(&message, "message", "m", "", "the reason")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var named []string
		if id != "" {
			named = []string{id}
		}
		if plan != "" && len(args) != 1 {
			return usagef("--plan is of one stack: name it")
		}
		return onRun(g, true, func(ctx context.Context, s *session, id string) error {
			return approve(ctx, s, id, args, plan, run.Approval{Granted: !refuse, By: who(), Message: message})
		})(cmd, named)
	}
	return cmd
}

func approve(ctx context.Context, s *session, id string, stacks []string, plan string, a run.Approval) error {
	now, err := s.client.See(ctx, id)
	if err != nil {
		return err
	}
	word := "approved"
	if !a.Granted {
		word = "refused"
	}
	waiting := waitingIn(now)
	if len(stacks) == 0 {
		stacks = slices.Sorted(maps.Keys(waiting))
	}
	if len(stacks) == 0 {
		return fmt.Errorf("nothing waits to be approved in the run %s", id)
	}
	var not []string
	for _, name := range stacks {
		is, waits := waiting[name]
		if !waits {
			not = append(not, name)
			continue
		}
		if plan != "" && plan != is.Plan {
			return fmt.Errorf("%s waits with the plan %s, not %s: `sluice fleet logs %s` shows it", name, is.Plan, plan, name)
		}
		if err := s.client.Approve(ctx, id, watch.Decide(now, is, a)); err != nil {
			return err
		}
		fmt.Fprintf(out(), "%s %s of %s\n", word, now.Operation, name)
	}
	if len(not) > 0 {
		return fmt.Errorf("these do not wait to be approved in the run %s: %s", id, strings.Join(not, ", "))
	}
	return nil
}

// waitingIn returns the stacks that wait for an approval, by name.
func waitingIn(now watch.State) map[string]run.StackView {
	waiting := map[string]run.StackView{}
	for _, is := range now.Stacks {
		if is.Status == run.Approving {
			waiting[is.Name] = is
		}
	}
	return waiting
}

func newCancel(g *global) *cobra.Command {
	var abort bool
	cmd := &cobra.Command{
		Use: "cancel [RUN]", Short: "Stop a run: the newest running one if none is named", Args: arguments(0, 1),
		Long: "Stop a run: no other stack begins, and running operations finish. With --abort, or if the command is repeated, the providers\nare asked to abort.",
		RunE: onRun(g, true, func(ctx context.Context, s *session, id string) error {
			again, err := s.client.Cancel(ctx, id)
			if err != nil {
				return err
			}
			if !abort && !again {
				fmt.Fprintf(out(), "the run %s stops\n", id)
				return nil
			}
			if err := s.client.Abort(ctx, id); err != nil {
				return err
			}
			fmt.Fprintf(out(), "the run %s stops, and its operations are aborted\n", id)
			return nil
		}),
	}
	cmd.Flags().BoolVar(&abort, "abort", false, "ask the providers to abort what they do")
	return cmd
}

func newHistory(g *global) *cobra.Command {
	var asJSON bool
	most := 20
	cmd := &cobra.Command{
		Use: "history", Short: "List the runs of the fleet, the newest first", Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := g.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer s.close()
			runs, err := s.client.History(cmd.Context(), s.fleet.Name, most)
			if err != nil {
				return err
			}
			if err := s.client.CountStacks(cmd.Context(), runs); err != nil {
				return err
			}
			return printRuns(runs, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	cmd.Flags().IntVar(&most, "limit", most, "how many at most")
	return cmd
}

func printRuns(runs []watch.Run, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(documents())
		enc.SetIndent("", "  ")
		return enc.Encode(runs)
	}
	w := tabwriter.NewWriter(out(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RUN\tSTATUS\tBEGAN\tTOOK\tSTACKS")
	for _, r := range runs {
		took := "-"
		if !r.Ended.IsZero() {
			took = r.Ended.Sub(r.Began).Round(time.Second).String()
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.ID, run.Status(r.Status).Word(), r.Began.Local().Format(time.DateTime), took, or(countsText(r.Stacks), "-"))
	}
	return w.Flush()
}
