package stages

import (
	"context"
	"sync"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// monitor implements [Monitor] for one run.
type monitor struct {
	*admission

	mu         sync.Mutex // guards the rest
	transforms []Transform
	invokes    []InvokeTransform
	saved      map[familyKey][]Transform // of remote components, for their own registration
	inFlight   int
	ended      bool // the program will submit no more
	waited     bool // somebody waits for shutdown
}

func newMonitor(a *admission) *monitor {
	return &monitor{admission: a, saved: map[familyKey][]Transform{}}
}

type familyKey struct {
	parent urn.URN
	typ    urn.Type
	name   string
}

// begin admits a request; the function it returns ends it. The context it returns ends with the run.
func (m *monitor) begin(ctx context.Context) (context.Context, func(), error) {
	if m.answering.Err() != nil {
		return nil, nil, ErrShutDown
	}
	m.mu.Lock()
	m.inFlight++
	m.mu.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	release := context.AfterFunc(m.answering, func() { cancel(ErrShutDown) })
	return ctx, func() {
		release()
		cancel(nil)
		m.mu.Lock()
		m.inFlight--
		m.mu.Unlock()
		m.closeIfDone()
	}, nil
}

// end says that the program will submit nothing new. What it has submitted is still worked on.
func (m *monitor) end() {
	m.mu.Lock()
	m.ended = true
	m.mu.Unlock()
	m.closeIfDone()
}

func (m *monitor) closeIfDone() {
	m.mu.Lock()
	done := m.ended && m.inFlight == 0
	m.mu.Unlock()
	if done {
		m.intake.Close()
	}
}

// Info describes the run.
func (m *monitor) Info() RunInfo { return m.control.Info }

// Register submits a registration and waits for its outcome.
func (m *monitor) Register(ctx context.Context, req *RegisterRequest) (*RegisterReply, error) {
	ctx, done, err := m.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	defer m.families.registering(req.Parent)()
	q := newQuestion(req.SupportsResultReporting)
	if !m.intake.Put(Submitted{Question: q, Register: req}) {
		return nil, ErrShutDown
	}
	reply, err := q.wait(ctx)
	m.families.answered(q, reply)
	if err != nil {
		return nil, causeOf(ctx, err)
	}
	if !req.Custom && !req.Remote {
		// The outputs of a component may refer to resources that the program has not registered yet (steps.md 1.3).
		shown := *reply
		shown.Outputs = property.Map{}
		return &shown, nil
	}
	return reply, nil
}

// Read submits a read and waits for its outcome.
func (m *monitor) Read(ctx context.Context, req *ReadRequest) (*RegisterReply, error) {
	ctx, done, err := m.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	q := newQuestion(true)
	if !m.intake.Put(Submitted{Question: q, Read: req}) {
		return nil, ErrShutDown
	}
	reply, err := q.wait(ctx)
	m.families.answered(q, reply)
	if err != nil {
		return nil, causeOf(ctx, err)
	}
	return reply, nil
}

// causeOf prefers the reason for which the context ended over the bare "context canceled".
func causeOf(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// transformsFor collects the transforms that apply to a registration: its own, its ancestors' from the nearest, and the
// stack's (protocol.md 4.10).
func (m *monitor) transformsFor(own []Transform, parent urn.URN) []Transform {
	all := append([]Transform(nil), own...)
	for parent != "" {
		f := m.families.of(parent)
		if f == nil {
			break
		}
		all = append(all, f.transforms...)
		parent = f.parent
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return append(all, m.transforms...)
}

// ownTransforms returns the transforms of a request, or those that an enclosing remote registration saved for it.
func (m *monitor) ownTransforms(req *RegisterRequest) []Transform {
	key := familyKey{req.Parent, req.Type, req.Name}
	m.mu.Lock()
	defer m.mu.Unlock()
	if saved, ok := m.saved[key]; ok {
		delete(m.saved, key)
		return saved
	}
	if req.Remote && len(req.Transforms) > 0 {
		m.saved[key] = req.Transforms
	}
	return req.Transforms
}

// RegisterPackage remembers a package and returns a name for it: for an extension that of its content (protocol.md 4.9).
func (m *monitor) RegisterPackage(_ context.Context, p Package) (string, error) {
	return m.packages.register(p)
}

// RegisterHook makes a lifecycle hook known under its name.
func (m *monitor) RegisterHook(_ context.Context, h Hook) error { return m.hooks.add(h.Name, &h, nil) }

// RegisterErrorHook makes an error hook known under its name. Names are unique across both kinds.
func (m *monitor) RegisterErrorHook(_ context.Context, h ErrorHook) error {
	return m.hooks.add(h.Name, nil, &h)
}

// RegisterStackTransform adds a transform for every later registration.
func (m *monitor) RegisterStackTransform(_ context.Context, t Transform) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.transforms = append(m.transforms, t)
	return nil
}

// RegisterInvokeTransform adds a transform for every later invoke.
func (m *monitor) RegisterInvokeTransform(_ context.Context, t InvokeTransform) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.invokes = append(m.invokes, t)
	return nil
}

// Log reports a message. An error message alone does not make the run fail: the program says by how it ends whether it has
// failed.
func (m *monitor) Log(_ context.Context, msg LogMessage) {
	if msg.Severity == Error && (m.IsHalted() || m.failures.any()) && isEchoOfShutDown(msg.Message) {
		return // the program repeats what it was told when the run stopped
	}
	m.events.send(Diagnostic{LogMessage: msg})
}

// WaitForShutdown says that the program will submit no more, and waits for the end of the run.
func (m *monitor) WaitForShutdown(ctx context.Context) error {
	m.mu.Lock()
	again := m.waited
	m.waited = true
	m.mu.Unlock()
	if again {
		return errAlreadyWaiting
	}
	m.end()
	return m.over.Wait(ctx)
}

// Monitor is what the run's program talks to.
func (r *admission) Monitor() Monitor { return r.monitor }

// EndOfProgram says that no more registrations will come.
func (r *admission) EndOfProgram() { r.monitor.end() }

// Submissions is the source of the pipeline: everything that programs submit, until the program has ended.
func (r *admission) Submissions() pipeline.Flow[Submitted] {
	return pipeline.From("submit", 0, func(ctx context.Context, emit pipeline.Emit[Submitted]) error {
		for {
			s, ok := r.intake.Take(ctx)
			if !ok {
				return nil
			}
			if err := emit(s); err != nil {
				return err
			}
		}
	})
}
