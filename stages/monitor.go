package stages

import (
	"bytes"
	"context"
	"sync"

	"github.com/google/uuid"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// monitor implements [Monitor] for one run.
type monitor struct {
	run *Run
	// open ends when the run answers no more; its cause is ErrShutDown.
	open  context.Context
	close context.CancelCauseFunc

	mu         sync.Mutex
	known      map[urn.URN]*family
	children   map[urn.URN][]urn.URN // of those known, by parent
	transforms []Transform
	invokes    []InvokeTransform
	hooks      map[string]Hook
	errorHooks map[string]ErrorHook
	packages   map[string]Package
	saved      map[familyKey][]Transform // of remote components, for their own registration
	inFlight   int
	beneath    map[urn.URN]int // registrations in flight, by parent
	settled    *await.Event    // fired, and replaced, when one of them ends
	ended      bool            // the program will submit no more
	waited     bool            // somebody waits for shutdown
}

// family is what a finished registration passes on to its children (steps.md 1.3).
type family struct {
	parent     urn.URN
	goal       *Goal
	transforms []Transform
	providers  map[string]string // nil for custom resources
	custom     bool
	id         string
}

type familyKey struct {
	parent urn.URN
	typ    urn.Type
	name   string
}

func newMonitor(r *Run) *monitor {
	open, closeIt := context.WithCancelCause(r.operations)
	return &monitor{
		run: r, open: open, close: closeIt,
		known:      map[urn.URN]*family{},
		children:   map[urn.URN][]urn.URN{},
		hooks:      map[string]Hook{},
		errorHooks: map[string]ErrorHook{},
		packages:   map[string]Package{},
		saved:      map[familyKey][]Transform{},
		beneath:    map[urn.URN]int{},
		settled:    await.NewEvent(),
	}
}

// begin admits a request; the function it returns ends it. The context it returns ends with the run.
func (m *monitor) begin(ctx context.Context) (context.Context, func(), error) {
	if m.open.Err() != nil {
		return nil, nil, ErrShutDown
	}
	m.mu.Lock()
	m.inFlight++
	m.mu.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	release := context.AfterFunc(m.open, func() { cancel(ErrShutDown) })
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
		m.run.intake.Close()
	}
}

// Info describes the run.
func (m *monitor) Info() RunInfo { return m.run.Info }

// Register submits a registration and waits for its outcome.
func (m *monitor) Register(ctx context.Context, req *RegisterRequest) (*RegisterReply, error) {
	ctx, done, err := m.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	defer m.registering(req.Parent)()
	q := newQuestion(req.SupportsResultReporting)
	if !m.run.intake.Put(Submitted{Question: q, Register: req}) {
		return nil, ErrShutDown
	}
	reply, err := q.promise.Wait(ctx)
	if err != nil {
		return nil, causeOf(ctx, err)
	}
	m.remember(reply, q.family)
	if !req.Custom && !req.Remote {
		// The outputs of a component may refer to resources that the program has not registered yet (steps.md 1.3).
		shown := *reply
		shown.Outputs = property.Map{}
		return &shown, nil
	}
	return reply, nil
}

// registering counts a registration beneath its parent until the function that it returns is called.
func (m *monitor) registering(parent urn.URN) (done func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.beneath[parent]++
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.beneath[parent]--; m.beneath[parent] == 0 {
			delete(m.beneath, parent)
		}
		m.settled.Fire()
		m.settled = await.NewEvent()
	}
}

// Read submits a read and waits for its outcome.
func (m *monitor) Read(ctx context.Context, req *ReadRequest) (*RegisterReply, error) {
	ctx, done, err := m.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	q := newQuestion(true)
	if !m.run.intake.Put(Submitted{Question: q, Read: req}) {
		return nil, ErrShutDown
	}
	reply, err := q.promise.Wait(ctx)
	if err != nil {
		return nil, causeOf(ctx, err)
	}
	m.remember(reply, q.family)
	return reply, nil
}

// causeOf prefers the reason for which the context ended over the bare "context canceled".
func causeOf(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func (m *monitor) remember(reply *RegisterReply, f *family) {
	if f == nil || reply.URN == "" {
		return
	}
	f.id = reply.ID
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known[reply.URN] == nil { // a remote component is registered twice: by its provider, and by who asked for it
		m.children[f.parent] = append(m.children[f.parent], reply.URN)
	}
	m.known[reply.URN] = f
}

func (m *monitor) familyOf(u urn.URN) *family {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known[u]
}

// transformsFor collects the transforms that apply to a registration: its own, its ancestors' from the nearest, and the
// stack's (protocol.md 4.10).
func (m *monitor) transformsFor(own []Transform, parent urn.URN) []Transform {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := append([]Transform(nil), own...)
	for parent != "" {
		f := m.known[parent]
		if f == nil {
			break
		}
		all = append(all, f.transforms...)
		parent = f.parent
	}
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
	if p.Name == "" {
		return "", &InvalidRequestError{errEmptyPackage}
	}
	key := packageKey(p)
	ref := uuid.NewSHA1(uuid.NameSpaceOID, key).String()
	m.mu.Lock()
	defer m.mu.Unlock()
	if p.Extension != nil {
		content := p.Extension.extensionRef()
		if have, ok := m.packages[content]; !ok || bytes.Equal(packageKey(have), key) {
			ref = content // else the same extension of another plugin has the name
		}
	}
	m.packages[ref] = p
	return ref, nil
}

// packageFor returns the package that a request means: that of its packageRef, which overrides what it spells out.
func (m *monitor) packageFor(p Package, ref string) (Package, error) {
	if ref == "" {
		return p, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	known, ok := m.packages[ref]
	if !ok {
		return Package{}, &unknownPackageError{ref}
	}
	return known, nil
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
	if msg.Severity == Error && (m.run.IsHalted() || m.run.failures.any()) && isEchoOfShutDown(msg.Message) {
		return // the program repeats what it was told when the run stopped
	}
	m.run.events.send(Diagnostic{LogMessage: msg})
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
	return m.run.over.Wait(ctx)
}
