// Package told remembers what the user of this machine has been told about a stack, so that remarks about it that stay true are
// made once and not with every operation.
//
// It is not for warnings that ask for something to be done: those are made as long as they are true.
//
// Invariant: what cannot be remembered is told again, and no operation fails because of it.
package told

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/state/backend/workspace"
)

// note is the name of the note that has the remarks, one on a line.
const note = "told"

// Stack remembers what has been told about one stack. It is safe for concurrent use.
type Stack struct {
	notes workspace.Notes
	mu    sync.Mutex
}

// About returns what has been told about a stack.
func About(ctx context.Context, s *session.Stack) *Stack {
	return &Stack{notes: s.Notes(ctx)}
}

// First reports whether a remark, which is one line, is made for the first time.
func (s *Stack) First(remark string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	content, _ := s.notes.Read(note) // as if nothing had been told
	if slices.Contains(strings.Split(string(content), "\n"), remark) {
		return false
	}
	_ = s.notes.Write(note, append(content, remark+"\n"...)) // it is made again the next time
	return true
}

// Forget removes the memory, with the stack.
func (s *Stack) Forget() error { return s.notes.Remove(note) }
