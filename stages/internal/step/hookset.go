package step

import (
	"sync"

	"github.com/sluice-iac/sluice/stages"
)

// HookSet are the hooks that programs have registered, by name. It is safe for concurrent use.
type HookSet struct {
	mu     sync.Mutex // guards the rest
	hooks  map[string]stages.Hook
	errors map[string]stages.ErrorHook
}

// Add adds a hook of one of the two kinds. Names are unique across both.
func (s *HookSet) Add(name string, h *stages.Hook, e *stages.ErrorHook) error {
	if name == "" {
		return stages.Invalid("resource hook name cannot be empty")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, hook := s.hooks[name]
	_, errorHook := s.errors[name]
	if hook || errorHook {
		return stages.Invalid("resource hook already registered for name %q", name)
	}
	if s.hooks == nil {
		s.hooks, s.errors = map[string]stages.Hook{}, map[string]stages.ErrorHook{}
	}
	if h != nil {
		s.hooks[name] = *h
	} else {
		s.errors[name] = *e
	}
	return nil
}

func (s *HookSet) hook(name string) (stages.Hook, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, ok := s.hooks[name]
	return h, ok
}

func (s *HookSet) errorHook(name string) (stages.ErrorHook, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, ok := s.errors[name]
	return h, ok
}
