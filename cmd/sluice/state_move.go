package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/interrupts"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/stateedit"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend"
)

type moveFlags struct {
	stateedit.Flags
	source, dest string
	parents      bool
}

func newStateMoveCommand(open *session.Opener) *cobra.Command {
	var f moveFlags
	cmd := &cobra.Command{
		Use:     "move [flags] urn...",
		Aliases: []string{"mv"},
		Short:   "Move resources from one stack to another",
		Long: "Move resources, with their children, from the state of one stack to that of another. The providers that they use\n" +
			"are copied, secrets are encrypted anew for the destination, and references between the two stacks are cut and\n" +
			"listed: move their values through stack outputs and references. Then move the code: the next updates of both\n" +
			"programs find everything in its place.\n\n" +
			"If the move is interrupted, even by a kill, the next command on one of the two stacks completes it.",
		Example: "  sluice state move --dest organization/network/prod 'urn:pulumi:prod::shop::aws:ec2/vpc:Vpc::main'",
		Args:    rangeArgs(1, math.MaxInt),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.source == "" && f.dest == "" {
				return exit.Usagef("at least one of --source and --dest must be given; the other one is the selected stack")
			}
			if !f.Yes && (f.JSON || !open.Terminal.Interactive()) {
				return exit.Usagef("--yes must be passed in to move resources in non-interactive mode")
			}
			return moveResources(cmd.Context(), open, &f, args)
		},
	}
	f.AddAnswers(cmd.Flags())
	cmd.Flags().StringVar(&f.source, "source", "", "the stack to move from; the selected one if not given")
	cmd.Flags().StringVar(&f.dest, "dest", "", "the stack to move to; the selected one if not given")
	cmd.Flags().BoolVar(&f.parents, "include-parents", false, "move the parents of the resources too, with all their children")
	return cmd
}

// stateMove is a move in progress. Both stacks are locked.
type stateMove struct {
	Session      *session.Session
	flags        *moveFlags
	source, dest backend.Stack
	// saveFile saves new secrets parameters of the destination; nil if there are none.
	saveFile func() error
}

func moveResources(ctx context.Context, open *session.Opener, f *moveFlags, args []string) error {
	s, err := open.AnySession(ctx)
	if err != nil {
		return err
	}
	m := &stateMove{Session: s, flags: f}
	if m.source, err = m.open(ctx, f.source); err != nil {
		return err
	}
	if m.dest, err = m.open(ctx, f.dest); err != nil {
		return err
	}
	if m.source.Ref() == m.dest.Ref() {
		return exit.Usagef("source and destination are the same stack, %s", m.nameOf(m.source.Ref()))
	}
	return interrupts.Hold(ctx, open.Terminal, []backend.Lockable{m.source, m.dest}, func(h *interrupts.Holder) error { return m.run(ctx, h, args) })
}

func (m *stateMove) open(ctx context.Context, name string) (backend.Stack, error) {
	ref, err := m.Session.Choose(name)
	if err != nil {
		return nil, err
	}
	return m.Session.Backend.Open(ctx, ref)
}

func (m *stateMove) nameOf(ref backend.Ref) string {
	return ref.Display(m.Session.Project.Name, m.Session.Backend.Organization())
}

func (m *stateMove) run(ctx context.Context, h *interrupts.Holder, args []string) error {
	source, err := m.source.Load(ctx)
	if err != nil {
		return err
	}
	dest, err := m.dest.Load(ctx)
	if err != nil {
		return err
	}
	if source == nil {
		source = &state.Snapshot{}
	}
	if m.dest.Ref().Project == "" {
		return fmt.Errorf("the destination %s has no project; upgrade the store with `sluice state upgrade`", m.nameOf(m.dest.Ref()))
	}
	var resources []*state.Resource
	var faults []error
	for _, text := range args {
		found, err := state.Find(source, text)
		if err != nil {
			faults = append(faults, err)
		}
		resources = append(resources, found...)
	}
	if faults != nil {
		return fmt.Errorf("nothing was moved: %w", errors.Join(faults...))
	}
	moved, err := sluice.MoveResources(ctx, source, dest, resources, state.MoveOptions{
		Parents: m.flags.parents, Stack: m.dest.Ref().Name, Project: m.dest.Ref().Project,
	})
	if err != nil {
		return fmt.Errorf("nothing was moved: %w", err)
	}
	if err := m.prepareSecrets(ctx, moved); err != nil {
		return err
	}
	plan := m.plan(moved)
	if m.flags.Yes {
		if !m.flags.JSON {
			fmt.Fprint(m.Session.Terminal.Out, plan)
		}
	} else if err := stateedit.ConfirmPlan(ctx, m.Session.Terminal, plan); err != nil {
		return err
	}
	if m.saveFile != nil {
		if err := m.saveFile(); err != nil {
			return err
		}
	}
	err = h.Busy(func() error { return m.source.SaveMove(ctx, moved.Source, m.dest, moved.Dest) })
	if err != nil {
		return err
	}
	return m.report(moved)
}

// prepareSecrets makes a secrets manager for a destination that has none yet. This requires the settings file of the
// destination, which is available only in its own project.
func (m *stateMove) prepareSecrets(ctx context.Context, moved *state.Movement) error {
	if moved.Dest.SecretsProvider != nil || !holdsSecrets(moved.Dest.Resources) {
		return nil
	}
	ref := m.dest.Ref()
	if ref.Project != m.Session.Project.Name {
		return fmt.Errorf("nothing was moved: stack %s cannot encrypt the secrets of the resources yet; run `sluice up` there once, "+
			"or this command in the folder of its project", m.nameOf(m.dest.Ref()))
	}
	there := &session.Stack{Session: m.Session, Ref: ref, State: m.dest}
	if err := there.ReadSettings(""); err != nil {
		return err
	}
	manager, err := session.SecretsManager(ctx, there)
	if err != nil {
		return err
	}
	m.dest, m.saveFile = m.dest.WithSecrets(manager), there.Settings.Save
	return nil
}

func holdsSecrets(resources []*state.Resource) bool {
	for _, r := range resources {
		for _, properties := range []property.Map{r.Inputs, r.Outputs} {
			if properties.HasSecrets() {
				return true
			}
		}
		if r.ReplacementTrigger.HasSecrets() {
			return true
		}
	}
	return false
}

// plan describes what the move does, and what it cannot keep.
func (m *stateMove) plan(moved *state.Movement) string {
	var b strings.Builder
	from, to := m.nameOf(m.source.Ref()), m.nameOf(m.dest.Ref())
	fmt.Fprintf(&b, "Moving from %s to %s:\n", from, to)
	for _, r := range moved.Moved {
		fmt.Fprintf(&b, "  %s\n  -> %s%s\n", format.Printable(string(r.From.URN)), format.Printable(string(r.To.URN)),
			noteIf(r.Existing, " (is there already, from a move that was interrupted)"))
	}
	if len(moved.Providers) > 0 {
		b.WriteString("Copying providers:\n")
		for _, p := range moved.Providers {
			fmt.Fprintf(&b, "  %s\n  -> %s%s\n", format.Printable(string(p.From.URN)), format.Printable(string(p.To.URN)), noteIf(p.Existing, " (is there already)"))
		}
	}
	for _, w := range m.warnings(moved) {
		fmt.Fprintf(&b, "warning: %s\n", format.Printable(w))
	}
	return b.String()
}

func noteIf(condition bool, note string) string {
	if condition {
		return note
	}
	return ""
}

// warnings describes what the move does not keep.
func (m *stateMove) warnings(moved *state.Movement) []string {
	var all []string
	for _, c := range moved.Left {
		all = append(all, fmt.Sprintf("%s, which moves: the reference is dropped from %s", c, m.nameOf(m.source.Ref())))
	}
	for _, c := range moved.Lost {
		all = append(all, fmt.Sprintf("%s, which does not move: the reference is dropped in %s", c, m.nameOf(m.dest.Ref())))
	}
	for _, p := range moved.Dropped {
		all = append(all, fmt.Sprintf("the pending operation %q on %s is dropped; find out whether it took effect", p.Type, p.Resource.URN))
	}
	return all
}

func (m *stateMove) report(moved *state.Movement) error {
	if !m.flags.JSON {
		_, err := fmt.Fprintf(m.Session.Terminal.Out, "Moved %s from %s to %s.\n", format.Resources(len(moved.Moved)), m.nameOf(m.source.Ref()), m.nameOf(m.dest.Ref()))
		return err
	}
	r := stateedit.Report{Stack: m.nameOf(m.source.Ref()), Dest: m.nameOf(m.dest.Ref()), Changed: []stateedit.Changed{}, Warnings: m.warnings(moved)}
	for _, c := range moved.Moved {
		r.Changed = append(r.Changed, stateedit.Changed{URN: string(c.From.URN), ID: c.From.ID, NewURN: string(c.To.URN)})
	}
	return format.JSON(m.Session.Terminal.Data(), r)
}
