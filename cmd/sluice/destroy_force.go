package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/decisions"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/operate"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/stateedit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/internal/platform/private"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// undeletable is a resource whose delete has failed. In the file of forgotten resources it is what somebody needs to delete the object.
type undeletable struct {
	URN      urn.URN   `json:"urn"`
	Type     urn.Type  `json:"type"`
	ID       string    `json:"id"`
	Provider string    `json:"provider,omitempty"`
	Error    string    `json:"error"`
	At       time.Time `json:"forgotten"`

	resource *state.Resource
}

// destroyByForce forgets the resources whose delete has failed, and destroys the rest, until nothing is left or nothing more can be done.
// failed is the error of the destroy. Each round asks twice, unless the user has confirmed in advance.
func destroyByForce(ctx context.Context, open *session.Opener, s *session.Stack, f *destroyFlags, failed error) error {
	confirmed := f.Confirmation.Yes
	f.Confirmation.Yes, f.Confirmation.SkipPreview = true, true // the user has confirmed the destroy itself
	for {
		if status, _ := exit.Status(failed); status == exit.Cancelled || ctx.Err() != nil {
			return failed
		}
		forgotten, err := forgetUndeletable(ctx, open, s, f, confirmed, failed)
		if err != nil {
			return err
		}
		if forgotten == 0 {
			return failed
		}
		if s, err = operate.OpenAny(ctx, open, &f.Operation); err != nil {
			return err
		}
		job, err := operate.Prepare(ctx, s, operate.Destroy(), &f.Operation)
		if err != nil {
			return err
		}
		if failed = operate.Run(ctx, job); failed == nil {
			return nil
		}
	}
}

// forgetUndeletable removes the resources whose delete has failed from the state, after two confirmations unless confirmed is true, and returns
// their number. It writes them to a file first.
func forgetUndeletable(ctx context.Context, open *session.Opener, s *session.Stack, f *destroyFlags, confirmed bool, failed error) (int, error) {
	kept, err := decisions.Read(ctx, s, decisions.Operation)
	if err != nil || kept == nil {
		return 0, errors.Join(failed, err)
	}
	n := 0
	flags := &stateedit.Flags{Stack: f.Stack.Name, Yes: true}
	err = stateedit.Run(ctx, open, flags, false, func(ctx context.Context, e *stateedit.Edit) error {
		list := undeletables(e.Snapshot, kept, f.Run.IgnoreProtect)
		if len(list) == 0 {
			return nil
		}
		if !confirmed {
			if err := confirmForgetting(ctx, e, list); err != nil {
				return err
			}
		}
		file, err := writeForgotten(e.Name, list)
		if err != nil {
			return err
		}
		var targets []*state.Resource
		for _, u := range list {
			targets = append(targets, u.resource)
		}
		now, _, err := state.Delete(e.Snapshot, targets, state.DeleteOptions{Protected: true})
		if err != nil {
			return fmt.Errorf("they cannot be forgotten: %w", err)
		}
		if err := e.Save(ctx, now, ""); err != nil {
			return err
		}
		n = len(list)
		e.Terminal.Warn("%s forgotten, and may still exist; the list is in %s", format.Resources(n), file)
		return nil
	})
	return n, err
}

// undeletables returns the recorded resources whose delete has failed in the last operation, in the order of the state. A protected resource
// is not one of them, unless protection is ignored: its delete was refused.
func undeletables(s *state.Snapshot, log *decisions.Kept, ignoreProtect bool) []undeletable {
	type failure struct {
		urn urn.URN
		old bool
	}
	errs := map[failure]string{}
	for _, d := range log.Decisions {
		if d.Fate == stages.FateFailed && (d.Op == stages.OpDelete || d.Op == stages.OpDeleteReplaced) {
			errs[failure{d.URN, d.Op == stages.OpDeleteReplaced}] = strings.Join(d.Errors, "\n")
		}
	}
	var out []undeletable
	for _, r := range s.Resources {
		if text, has := errs[failure{r.URN, r.Delete}]; has && (ignoreProtect || !r.Protect) {
			out = append(out, undeletable{URN: r.URN, Type: r.Type, ID: r.ID, Provider: r.Provider, Error: text, At: time.Now().UTC(), resource: r})
		}
	}
	return out
}

func confirmForgetting(ctx context.Context, e *stateedit.Edit, list []undeletable) error {
	if !e.Terminal.Interactive() {
		return exit.Usagef("--force needs --yes without a terminal")
	}
	fmt.Fprintf(e.Terminal.Out, "\n%s could not be deleted:\n", format.Resources(len(list)))
	for _, u := range list {
		fmt.Fprintf(e.Terminal.Out, "  %s %s\n    %s\n", u.URN, u.ID, strings.ReplaceAll(u.Error, "\n", "\n    "))
	}
	forget, err := terminal.Confirm(ctx, e.Terminal, "Do you want to forget them? They may still exist and cost money, and nothing will manage them.")
	if err == nil && !forget {
		err = errors.New("nothing was forgotten")
	}
	if err != nil {
		return err
	}
	return terminal.ConfirmByName(ctx, e.Terminal, "They will be removed from the state of the stack.", e.Name)
}

// writeForgotten writes resources to a new file in the current directory and returns its name.
func writeForgotten(stack string, list []undeletable) (string, error) {
	name := fmt.Sprintf("forgotten-%s-%s.json", strings.NewReplacer("/", "-", `\`, "-").Replace(stack), time.Now().UTC().Format("20060102T150405.000Z"))
	text, err := json.MarshalIndent(struct {
		Version   int           `json:"version"`
		Stack     string        `json:"stack"`
		Resources []undeletable `json:"resources"`
	}{1, stack, list}, "", "  ")
	if err != nil {
		return "", err
	}
	file, err := private.Create(name, private.File)
	if err != nil {
		return "", fmt.Errorf("what is forgotten has to be written down first: %w", err)
	}
	_, err = file.Write(append(text, '\n'))
	return name, errors.Join(err, file.Close())
}
