// Package shown records the remarks that the user of this machine has seen about a stack, so that remarks about lasting
// conditions are shown once and not in every operation.
//
// It is not for warnings that require an action: those are repeated as long as the condition lasts.
//
// Invariant: if a remark cannot be recorded, it is shown again, and no operation fails because of that.
package shown

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/state/backend/workspace"
)

// note is the name of the note that has the remarks, one on a line.
const note = "shown"

// Stack has the remarks shown about one stack. It is safe for concurrent use.
type Stack struct {
	notes workspace.Notes
	mu    sync.Mutex
}

// About returns the remarks shown about a stack.
func About(ctx context.Context, s *session.Stack) *Stack {
	return &Stack{notes: s.Notes(ctx)}
}

// First reports whether a remark, which is one line, is shown for the first time.
func (s *Stack) First(remark string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	content, _ := s.notes.Read(note) // on an error, as if nothing had been shown
	if slices.Contains(strings.Split(string(content), "\n"), remark) {
		return false
	}
	_ = s.notes.Write(note, append(content, remark+"\n"...)) // on an error, it is shown again the next time
	return true
}

// Forget removes the record, with the stack.
func (s *Stack) Forget() error { return s.notes.Remove(note) }
