package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
)

// answerPending is resolvePending for updates: the flags say everything.
func (o *operation) answerPending(ctx context.Context) error {
	o.otherCreates = o.flags.Creates.Others()
	imports, _ := o.flags.Creates.Imported()
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
	_, urns := o.flags.Creates.Imported()
	for _, name := range urns {
		if unused(name) {
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
	imports, _ := f.Creates.Imported()
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
		case f.Creates.Clear:
			o.creates[name] = sluice.CreateResolution{Clear: true}
		case f.Creates.Skip:
		case f.Confirmation.Yes, f.Confirmation.PreviewOnly, f.Display.JSON, !o.cli.Interactive():
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
