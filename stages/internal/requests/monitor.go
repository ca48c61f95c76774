package requests

import (
	"context"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// monitor implements [Monitor] for one run.
type monitor struct {
	admission *Admission

	mu         sync.Mutex // guards the rest
	transforms []stages.Transform
	invokes    []stages.InvokeTransform
	saved      map[familyKey][]stages.Transform // of remote components, for their own registration
	inFlight   int
	ended      bool // the program will submit no more
	waited     bool // a program waits for shutdown

	memory      memoryCheck
	independent independent
}

func newMonitor(a *Admission) *monitor {
	return &monitor{admission: a, saved: map[familyKey][]stages.Transform{}, memory: memoryCheck{began: time.Now()}}
}

type familyKey struct {
	parent urn.URN
	typ    urn.Type
	name   string
}

// enter admits a request, unless it returns an error. leave ends it.
func (m *monitor) enter() error {
	if !m.admission.control.IsAnswering() {
		return stages.ErrShutDown
	}
	m.mu.Lock()
	m.inFlight++
	m.mu.Unlock()
	return nil
}

// enterNew is enter for a request that takes memory until the end of the run.
func (m *monitor) enterNew() error {
	if err := m.checkMemory(); err != nil {
		return err
	}
	return m.enter()
}

func (m *monitor) leave() {
	m.mu.Lock()
	m.inFlight--
	done := m.ended && m.inFlight == 0
	m.mu.Unlock()
	if done {
		m.admission.intake.Close()
	}
}

// begin is enter for a request that calls others: the returned context ends with the run. The returned function ends the request.
func (m *monitor) begin(ctx context.Context) (context.Context, func(), error) {
	if err := m.enter(); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	release := context.AfterFunc(m.admission.control.Answering, func() { cancel(stages.ErrShutDown) })
	return ctx, func() {
		release()
		cancel(nil)
		m.leave()
	}, nil
}

// beginNew is begin for a request that takes memory until the end of the run, or calls code that may call back.
func (m *monitor) beginNew(ctx context.Context) (context.Context, func(), error) {
	if err := m.checkMemory(); err != nil {
		return nil, nil, err
	}
	return m.begin(ctx)
}

// end records that the program will submit nothing new. Submitted requests are still processed.
func (m *monitor) end() {
	m.mu.Lock()
	m.ended = true
	done := m.inFlight == 0
	m.mu.Unlock()
	if done {
		m.admission.intake.Close()
	}
}

// Info describes the run.
func (m *monitor) Info() stages.RunInfo { return m.admission.control.Info }

// checkMemory stops the run if there is no memory for another resource. The program cannot handle that error: the resources that it
// then leaves out would be deleted.
func (m *monitor) checkMemory() error {
	if !m.memory.isDue() {
		return nil
	}
	err := memoryNow().full()
	if err == nil {
		return nil
	}
	if m.admission.control.Failed.Once("memory") {
		m.admission.control.Fail(stages.EndPhaseSeq, "", 0, err)
		m.admission.control.Halt()
	}
	return stages.ErrShutDown
}

// Register submits a registration and waits for its outcome.
func (m *monitor) Register(ctx context.Context, req *stages.RegisterRequest) (*stages.RegisterReply, error) {
	if err := m.enterNew(); err != nil {
		return nil, err
	}
	defer m.leave()
	m.admission.Families.registering(req.Parent)
	defer m.admission.Families.registered(req.Parent)
	q := stages.NewPendingReply(req.SupportsResultReporting)
	if !m.admission.intake.Put(stages.Submitted{PendingReply: q, Register: req, Caller: ctx}) {
		return nil, stages.ErrShutDown
	}
	reply, err := q.WaitUnder(ctx, m.admission.control.Answering)
	m.admission.Families.answered(q, reply)
	if err != nil {
		return nil, m.refusal(ctx, err)
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
func (m *monitor) Read(ctx context.Context, req *stages.ReadRequest) (*stages.RegisterReply, error) {
	if err := m.enterNew(); err != nil {
		return nil, err
	}
	defer m.leave()
	q := stages.NewPendingReply(true)
	if !m.admission.intake.Put(stages.Submitted{PendingReply: q, Read: req, Caller: ctx}) {
		return nil, stages.ErrShutDown
	}
	reply, err := q.WaitUnder(ctx, m.admission.control.Answering)
	m.admission.Families.answered(q, reply)
	if err != nil {
		return nil, m.refusal(ctx, err)
	}
	return reply, nil
}

// causeOf prefers the cause of the context's end over the bare "context canceled".
func causeOf(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// refusal returns the error of a failed request: the reason why it must not go on rather than an error that may follow from it.
func (m *monitor) refusal(ctx context.Context, err error) error {
	if m.admission.control.Answering.Err() != nil && ctx.Err() == nil {
		return stages.ErrShutDown
	}
	return causeOf(ctx, err)
}

// transformsFor collects the transforms that apply to a registration: its own, its ancestors' from the nearest, and the
// stack's (protocol.md 4.10).
func (m *monitor) transformsFor(own []stages.Transform, parent urn.URN) []stages.Transform {
	all := append([]stages.Transform(nil), own...)
	for parent != "" {
		f := m.admission.Families.Of(parent)
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
func (m *monitor) ownTransforms(req *stages.RegisterRequest) []stages.Transform {
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

// RegisterPackage adds a package and returns a name for it; that of an extension is derived from its content (protocol.md 4.9).
func (m *monitor) RegisterPackage(_ context.Context, p stages.Package) (string, error) {
	return m.admission.packages.register(p)
}

// RegisterHook registers a lifecycle hook under its name.
func (m *monitor) RegisterHook(_ context.Context, h stages.Hook) error {
	return m.admission.hooks.Add(h.Name, &h, nil)
}

// RegisterErrorHook registers an error hook under its name. Names are unique across both kinds.
func (m *monitor) RegisterErrorHook(_ context.Context, h stages.ErrorHook) error {
	return m.admission.hooks.Add(h.Name, nil, &h)
}

// Omit records that the program declares a resource and does not register it.
func (m *monitor) Omit(_ context.Context, req *stages.RegisterRequest, because []urn.URN) urn.URN {
	return m.admission.omissions.Add(req, because)
}

// RegisterStackTransform adds a transform for every later registration.
func (m *monitor) RegisterStackTransform(_ context.Context, t stages.Transform) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.transforms = append(m.transforms, t)
	return nil
}

// RegisterInvokeTransform adds a transform for every later invoke.
func (m *monitor) RegisterInvokeTransform(_ context.Context, t stages.InvokeTransform) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.invokes = append(m.invokes, t)
	return nil
}

// Log reports a message. An error message alone does not make the run fail: the end of the program decides whether it
// has failed.
func (m *monitor) Log(_ context.Context, msg stages.LogMessage) {
	if msg.Severity == stages.Error && (m.admission.control.IsHalted() || m.admission.control.HasFailed()) && repeatsShutDown(msg.Message) {
		return // the program repeats the error that it got when the run stopped
	}
	if msg.Severity == stages.Error {
		m.admission.control.Said(msg)
	}
	m.admission.control.Emit(stages.Diagnostic{LogMessage: msg})
}

// WaitForShutdown records that the program will submit no more, and waits for the end of the run.
func (m *monitor) WaitForShutdown(ctx context.Context) error {
	m.mu.Lock()
	again := m.waited
	m.waited = true
	m.mu.Unlock()
	if again {
		return errAlreadyWaiting
	}
	m.end()
	return m.admission.control.AwaitEnd(ctx)
}

// Monitor returns the monitor for the run's program.
func (a *Admission) Monitor() stages.Monitor { return a.monitor }

// Close ends the source of the pipeline: nothing more is submitted.
func (a *Admission) Close() { a.intake.Close() }

// EndOfProgram records that no more registrations will come.
func (a *Admission) EndOfProgram() { a.monitor.end() }

// Submissions is the source of the pipeline: everything that programs submit, until the program has ended.
func (a *Admission) Submissions() pipeline.Flow[stages.Submitted] {
	return pipeline.From("submit", 0, func(ctx context.Context, emit pipeline.Emit[stages.Submitted]) error {
		for {
			s, ok := a.intake.Take(ctx)
			if !ok {
				return nil
			}
			if err := emit(s); err != nil {
				return err
			}
		}
	})
}
