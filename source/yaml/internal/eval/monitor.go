package eval

import (
	"context"
	"errors"
	"sync"

	"github.com/sluice-iac/sluice/internal/text/syntax"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Monitor makes the calls of one run whose failure may be due to the program. It reports the error of a call at the place of the call in the
// program. It is safe for many goroutines.
type Monitor struct {
	ctx    context.Context // of the run
	engine stages.Monitor
	report *syntax.Report

	mu    sync.Mutex // guards fatal
	fatal error
}

// NewMonitor returns a monitor for a run whose context is ctx.
func NewMonitor(ctx context.Context, engine stages.Monitor, r *syntax.Report) *Monitor {
	return &Monitor{ctx: ctx, engine: engine, report: r}
}

// Register registers a resource. The error is [syntax.ErrReported].
func (m *Monitor) Register(at syntax.Range, req *stages.RegisterRequest) (*stages.RegisterReply, error) {
	reply, err := m.engine.Register(m.ctx, req)
	return reply, m.judged(at, err)
}

// Read reads a resource. The error is [syntax.ErrReported].
func (m *Monitor) Read(at syntax.Range, req *stages.ReadRequest) (*stages.RegisterReply, error) {
	reply, err := m.engine.Read(m.ctx, req)
	return reply, m.judged(at, err)
}

// Invoke calls a function. The error is [syntax.ErrReported].
func (m *Monitor) Invoke(at syntax.Range, req *stages.InvokeRequest) (*stages.InvokeReply, error) {
	reply, err := m.engine.Invoke(m.ctx, req)
	return reply, m.judged(at, err)
}

// Omit reports to the engine that a resource is not registered, because others were not made. It returns the URN of the resource.
func (m *Monitor) Omit(req *stages.RegisterRequest, because []urn.URN) urn.URN {
	return m.engine.Omit(m.ctx, req, because)
}

// judged reports the error of a call, unless the engine has reported it or the run is over.
func (m *Monitor) judged(at syntax.Range, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, stages.ErrShutDown), m.ctx.Err() != nil:
		m.stop(err)
		return syntax.ErrReported
	case errors.Is(err, stages.ErrRegistrationFailed):
		return syntax.ErrReported
	}
	return m.report.Fail(at, "", "%w", err)
}

// stop records the first error, after which nothing more is evaluated.
func (m *Monitor) stop(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fatal == nil {
		m.fatal = err
	}
}

// Err returns the error that ended the evaluation, nil if there was none.
func (m *Monitor) Err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.fatal
}

// IsOver reports whether the evaluation has ended.
func (m *Monitor) IsOver() bool { return m.ctx.Err() != nil || m.Err() != nil }
