package assembly

import (
	"sync"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/standard"
	"github.com/sluice-iac/sluice/urn"
)

// messages receives the messages of stages. It holds those of a constructor until there is a run.
type messages struct {
	mu    sync.Mutex // guards the rest
	early []func(*standard.Run)
	run   *standard.Run
}

func (m *messages) say(at urn.URN, s stages.Severity, text string) {
	m.mu.Lock()
	r := m.run
	if r == nil {
		m.early = append(m.early, func(r *standard.Run) { r.Diagnose(at, s, text) })
	}
	m.mu.Unlock()
	if r != nil {
		r.Diagnose(at, s, text)
	}
}

func (m *messages) goTo(r *standard.Run) {
	m.mu.Lock()
	early := m.early
	m.run, m.early = r, nil
	m.mu.Unlock()
	for _, say := range early {
		say(r)
	}
}
