package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
)

// checkPendingFlags refuses what contradicts itself.
func (f *operationFlags) checkPendingFlags() error {
	if f.skipCreates && f.clearCreates {
		return exit.Usagef("cannot set both --skip-pending-creates and --clear-pending-creates")
	}
	if len(f.importCreates)%2 != 0 {
		return exit.Usagef("--import-pending-creates: each URN must be followed by an ID: found an odd number of entries")
	}
	switch f.pendingCreates {
	case "", "error", "create", "clear":
	default:
		return exit.Usagef("--pending-creates %s: write error, create or clear", f.pendingCreates)
	}
	return nil
}

// addPendingCreates registers the flags for what is to be done about interrupted creates of which the program declares the
// resource (state.md 9.4 R-6).
func (f *operationFlags) addPendingCreates(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.pendingCreates, "pending-creates", "error",
		"what to do about creates that an earlier operation began and whose end nobody knows: error, when such a resource would be "+
			"created; create, make another object; clear, forget them: nothing was made")
	f.addImportCreates(cmd)
}

func (f *operationFlags) addImportCreates(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.importCreates, "import-pending-creates", nil,
		"import what an interrupted create has made: a URN, and with the flag given again its ID; may be repeated")
}

// importedCreates are the IDs that --import-pending-creates gives, by URN.
func (f *operationFlags) importedCreates() map[string]string {
	out := map[string]string{}
	for i := 0; i+1 < len(f.importCreates); i += 2 {
		out[f.importCreates[i]] = f.importCreates[i+1]
	}
	return out
}

// answerPending is resolvePending for updates: the flags say everything.
func (o *operation) answerPending(ctx context.Context) error {
	switch o.flags.pendingCreates {
	case "create":
		o.otherCreates.Again = true
	case "clear":
		o.otherCreates.Clear = true
	}
	imports := o.flags.importedCreates()
	if len(imports) == 0 {
		return nil
	}
	pending, err := o.pending(ctx)
	if err != nil {
		return err
	}
	o.creates = map[string]sluice.CreateResolution{}
	for name, id := range imports {
		o.creates[name] = sluice.CreateResolution{ID: id}
	}
	o.warnOfUnused(func(name string) bool { return !hasCreate(pending, name) })
	return nil
}

// warnOfUnused names what --import-pending-creates says about resources that have no interrupted create.
func (o *operation) warnOfUnused(unused func(name string) bool) {
	for i := 0; i < len(o.flags.importCreates); i += 2 {
		if name := o.flags.importCreates[i]; unused(name) {
			o.cli.Warn("%q did not correspond to a pending create", name)
		}
	}
}

// resolvePending finds out, before the first phase, what is to be done about interrupted creates: what the flags say, and
// what somebody at a terminal answers about the rest. Nothing is changed before the refresh itself begins.
func (o *operation) resolvePending(ctx context.Context) error {
	switch {
	case o.creates != nil:
		return nil
	case o.kind.history == updateKind.history:
		return o.answerPending(ctx)
	case o.kind.history != refreshKind.history:
		return nil
	}
	snapshot, err := o.stack.Load(ctx)
	if err != nil || snapshot == nil {
		return err
	}
	f := o.flags
	imports := f.importedCreates()
	o.creates = map[string]sluice.CreateResolution{}
	var left []string // unasked
	for _, op := range snapshot.Pending {
		if op.Type != sluice.PendingCreate {
			continue
		}
		name := string(op.Resource.URN)
		if _, again := o.creates[name]; again {
			continue // interrupted more than once: there is one answer for the resource
		}
		id, given := imports[name]
		delete(imports, name)
		switch {
		case given:
			o.creates[name] = sluice.CreateResolution{ID: id}
		case f.clearCreates:
			o.creates[name] = sluice.CreateResolution{Clear: true}
		case f.skipCreates:
		case f.yes, f.previewOnly, f.json, !o.cli.Interactive():
			o.creates[name] = sluice.CreateResolution{}
			left = append(left, format.Printable(name))
		default:
			if o.creates[name], err = o.cli.askAboutCreate(name); err != nil {
				return err
			}
		}
	}
	if len(left) > 0 {
		o.cli.Warn("nobody knows what became of creates that were interrupted, and they stay pending:\n    %s\n"+
			"Answer with --import-pending-creates or --clear-pending-creates, or at a terminal without --yes.", strings.Join(left, "\n    "))
	}
	o.warnOfUnused(func(name string) bool { _, unused := imports[name]; return unused })
	return nil
}

// askAboutCreate asks what an interrupted create has led to.
func (c *cli) askAboutCreate(name string) (sluice.CreateResolution, error) {
	for {
		answer, err := c.Ask(fmt.Sprintf("The create of %s was interrupted. Nobody knows whether the object exists.\n"+
			"  clear   it does not exist: forget the create\n"+
			"  import  it exists: read it by its ID and record it\n"+
			"  skip    leave it as it is\n"+
			"What is to be done? [clear/import/skip] (skip): ", name))
		if err != nil {
			return sluice.CreateResolution{}, err
		}
		switch strings.ToLower(answer) {
		case "clear":
			return sluice.CreateResolution{Clear: true}, nil
		case "", "skip":
			return sluice.CreateResolution{}, nil
		case "import":
			id, err := c.Ask("ID: ")
			if err != nil {
				return sluice.CreateResolution{}, err
			}
			if id != "" {
				return sluice.CreateResolution{ID: id}, nil
			}
			fmt.Fprintln(c.Out, "Without its ID nothing can be imported.")
			continue
		}
		fmt.Fprintln(c.Out, "Please answer clear, import or skip.")
	}
}

func (o *operation) resolveCreate(op sluice.PendingOperation) sluice.CreateResolution {
	if answer, ok := o.creates[string(op.Resource.URN)]; ok {
		return answer
	}
	return o.otherCreates
}
