package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice"
)

// checkPendingFlags refuses what contradicts itself.
func (f *operationFlags) checkPendingFlags() error {
	if f.skipCreates && f.clearCreates {
		return usageErrorf("cannot set both --skip-pending-creates and --clear-pending-creates")
	}
	if len(f.importCreates)%2 != 0 {
		return usageErrorf("--import-pending-creates: each URN must be followed by an ID: found an odd number of entries")
	}
	return nil
}

// resolvePending finds out, before the first phase, what is to be done about interrupted creates: what the flags say, and
// what somebody at a terminal answers about the rest. Nothing is changed before the refresh itself begins.
func (o *operation) resolvePending(ctx context.Context) error {
	if o.kind.history != refreshKind.history || o.creates != nil {
		return nil
	}
	snapshot, err := o.stack.Load(ctx)
	if err != nil || snapshot == nil {
		return err
	}
	f := o.flags
	imports := map[string]string{}
	for i := 0; i < len(f.importCreates); i += 2 {
		imports[f.importCreates[i]] = f.importCreates[i+1]
	}
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
		case f.yes, f.previewOnly, f.json, !o.cli.interactive():
			o.creates[name] = sluice.CreateResolution{}
			left = append(left, printable(name))
		default:
			if o.creates[name], err = o.cli.askAboutCreate(name); err != nil {
				return err
			}
		}
	}
	if len(left) > 0 {
		o.cli.warn("nobody knows what became of creates that were interrupted, and they stay pending:\n    %s\n"+
			"Answer with --import-pending-creates or --clear-pending-creates, or at a terminal without --yes.", strings.Join(left, "\n    "))
	}
	for i := 0; i < len(f.importCreates); i += 2 {
		if _, unused := imports[f.importCreates[i]]; unused {
			o.cli.warn("%q did not correspond to a pending create", f.importCreates[i])
		}
	}
	return nil
}

// askAboutCreate asks what an interrupted create has led to.
func (c *cli) askAboutCreate(name string) (sluice.CreateResolution, error) {
	for {
		answer, err := c.ask(fmt.Sprintf("The create of %s was interrupted. Nobody knows whether the object exists.\n"+
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
			id, err := c.ask("ID: ")
			if err != nil {
				return sluice.CreateResolution{}, err
			}
			if id != "" {
				return sluice.CreateResolution{ID: id}, nil
			}
			fmt.Fprintln(c.out, "Without its ID nothing can be imported.")
			continue
		}
		fmt.Fprintln(c.out, "Please answer clear, import or skip.")
	}
}

func (o *operation) resolveCreate(op sluice.PendingOperation) sluice.CreateResolution {
	answer, ok := o.creates[string(op.Resource.URN)]
	if !ok && o.assumeNotCreated {
		return sluice.CreateResolution{Clear: true}
	}
	return answer
}
