package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/decisions"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/estimate"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/shown"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend"
)

// removeWithSettings removes a stack, its configuration file, the log of its decisions, and its selection.
func removeWithSettings(ctx context.Context, s *session.Stack, preserveConfig bool, removal backend.RemoveOptions) error {
	snapshot, loadErr := s.State.LoadSealed(ctx)
	if err := s.Session.Backend.Remove(ctx, s.Ref, removal); err != nil {
		return err
	}
	if loadErr == nil && snapshot != nil {
		warnOfUntracked(s.Session.Terminal, snapshot.Pending)
	}
	if !preserveConfig && s.Session.Owns(s.Ref) {
		if err := os.Remove(s.Session.Project.StackFilePath(s.Ref.Name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the stack's configuration: %w", err)
		}
	}
	decisions.Forget(ctx, s)
	if err := errors.Join(shown.About(ctx, s).Forget(), estimate.Forget(ctx, s)); err != nil {
		s.Session.Terminal.Warn("the notes about the stack were not removed: %v", err)
	}
	return s.Session.Forget(s.Ref)
}

// warnOfUntracked lists the pending operations of the removed state. A stack with nothing else counts as empty,
// because pending operations have no recorded resource.
func warnOfUntracked(t *terminal.Terminal, pending []state.Pending) {
	if len(pending) == 0 {
		return
	}
	lines := make([]string, len(pending))
	for i, op := range pending {
		lines[i] = fmt.Sprintf("%s %s", op.Type, format.Printable(string(op.Resource.URN)))
	}
	t.Warn("the stack had interrupted operations, which are removed with it; check what they may have left in the cloud:\n    %s",
		strings.Join(lines, "\n    "))
}
