package pipeline

import (
	"context"

	"github.com/sourcegraph/conc"

	"github.com/sluice-iac/sluice/pipeline/await"
)

// Actor is a single writer with workers. Receive, Resume, Flush and Abandon are never called at the same time, so they may
// share unlocked state; they decide and must not wait for anything but Emit. Slow work goes to the workers as an ask: Work
// runs in parallel, and its answer comes back through Resume, while the actor goes on with other input. Like a [Stage], an
// actor comes from a constructor, one per run.
//
// The actor always takes input, so only the bounds of the inputs bound the asks. While Receive or Resume blocks in Emit,
// the workers go on with the asks, and their answers queue in memory.
type Actor[In, Ask, Answer, Out any] struct {
	// Name is the name of the actor in errors. It is required.
	Name string
	// Workers is how many asks are worked on at once; 0 means 1. See also Unbounded.
	Workers int
	// Buffer is how many results may wait for the next step.
	Buffer int
	// Receive takes one input. If it returns an error or panics, the input is rejected and the error is reported.
	Receive func(ctx context.Context, in In, x Exchange[Ask, Out]) error
	// Work answers one ask; it is called in parallel and shares nothing with the other functions. An error or a panic is
	// reported like a stage's, the ask is rejected if it is a [Rejecter], and Resume is not called. A failure that the
	// actor has to handle is therefore part of the answer.
	Work func(ctx context.Context, ask Ask) (Answer, error)
	// Resume takes one answer, in the order in which answers come. If it returns an error or panics, the answer is rejected
	// if it is a Rejecter. Answers that come after the run is over are rejected instead.
	Resume func(ctx context.Context, answer Answer, x Exchange[Ask, Out]) error
	// Flush is optional. It is called when there is no more input and no ask is unanswered, unless the run is over by then.
	// If it makes asks, it is called again when they have been answered.
	Flush func(ctx context.Context, x Exchange[Ask, Out]) error
	// Abandon is optional. It is called last and once, with the reason, if Flush failed or the run was over before the
	// actor ended; Flush may have run by then. It rejects the items that the actor still keeps.
	Abandon func(reason error)
}

// Exchange gives a function of an actor access to the next step and to the workers. It is valid until that function
// returns, and in its goroutine only.
type Exchange[Ask, Out any] struct {
	emit Emit[Out]
	ask  func(Ask)
}

// Emit hands v to the next step; see [Emit].
func (x Exchange[Ask, Out]) Emit(v Out) error { return x.emit(v) }

// Ask gives an ask to the workers. It never blocks. An ask made when the run is over is rejected.
func (x Exchange[Ask, Out]) Ask(q Ask) { x.ask(q) }

// ViaActor adds an actor to a flow.
func ViaActor[In, Ask, Answer, Out any](f Flow[In], a Actor[In, Ask, Answer, Out]) Flow[Out] {
	checkStep(a.Name, a.Workers, a.Buffer)
	mustHave(a.Receive != nil, a.Name, "a Receive function")
	mustHave(a.Work != nil, a.Name, "a Work function")
	mustHave(a.Resume != nil, a.Name, "a Resume function")
	mustHave(f.start != nil, a.Name, "a flow that begins with From")
	if a.Workers == 0 {
		a.Workers = 1
	}
	return Flow[Out]{start: func(r *run) *link[Out] {
		in := f.start(r)
		n := r.addNode(a.Name)
		host := &actorRun[In, Ask, Answer, Out]{
			Actor: a, node: n, in: in, out: newLink[Out](n, a.Buffer),
			asks:    await.NewMailbox[question[Ask]](),
			answers: await.NewMailbox[reply[Answer]](),
		}
		host.exchange = Exchange[Ask, Out]{emit: host.out.send, ask: host.put}
		r.wg.Go(host.serve)
		return host.out
	}}
}

// actorRun is an actor at work. Its own goroutine (one at a time, see handle) is the only one that touches the fields
// below answers.
type actorRun[In, Ask, Answer, Out any] struct {
	Actor[In, Ask, Answer, Out]
	node    *node
	in      *link[In]
	out     *link[Out]
	asks    *await.Mailbox[question[Ask]]
	answers *await.Mailbox[reply[Answer]]

	exchange   Exchange[Ask, Out]
	input      parcel[In] // the input of Receive
	rank       rank       // of the cause of the next asks; 0 means the rank of input, which is computed only when it is needed
	unanswered int
	closed     bool  // there is no more input
	flushed    bool  // Flush has been called, and no ask was made since
	flushErr   error // as reported
}

type question[Ask any] struct {
	ask  Ask
	rank rank // of the input that led to it; 0 if asks are sequencers
}

type reply[Answer any] struct {
	answer Answer
	rank   rank
	failed bool // there is no answer; the reply only lowers the count of unanswered asks
}

// event is an input or a reply for the actor to handle, or its time to flush.
type event[In, Answer any] struct {
	kind  eventKind
	input parcel[In]
	reply reply[Answer]
}

type eventKind int

const (
	hasInput eventKind = iota
	hasReply
	timeToFlush
)

func (a *actorRun[In, Ask, Answer, Out]) serve() {
	defer close(a.out.ch)
	var wg conc.WaitGroup
	wg.Go(func() {
		next := func() (question[Ask], bool) { return a.asks.Take(context.Background()) }
		runWorkers(a.node.run.ctx, a.Workers, next, a.answer)
	})
	runWorkers(a.node.run.ctx, 1, a.next, a.handle)
	a.asks.Close()
	wg.Wait()
	abandonKept(a.node, a.flushErr, a.Abandon)
}

// next waits for the next event. Replies come first: they finish work that has begun, and so keep memory small.
func (a *actorRun[In, Ask, Answer, Out]) next() (event[In, Answer], bool) {
	type found = event[In, Answer]
	for {
		if r, ok := a.answers.TryTake(); ok {
			return found{kind: hasReply, reply: r}, true
		}
		if a.closed && a.unanswered == 0 {
			return found{kind: timeToFlush}, a.mayFlush()
		}
		input := a.in.ch
		if a.closed {
			input = nil // a nil channel is never ready
		}
		select {
		case <-a.answers.Ready():
		case p, ok := <-input:
			if ok {
				return found{kind: hasInput, input: p}, true
			}
			a.closed = true
		}
	}
}

func (a *actorRun[In, Ask, Answer, Out]) mayFlush() bool {
	return a.Flush != nil && !a.flushed && a.flushErr == nil && !a.node.run.isOver()
}

func (a *actorRun[In, Ask, Answer, Out]) handle(ctx context.Context, e event[In, Answer]) {
	switch e.kind {
	case hasInput:
		a.receive(ctx, e.input)
	case hasReply:
		a.unanswered--
		if !e.reply.failed {
			a.resume(ctx, e.reply)
		}
	case timeToFlush:
		a.flushed = true
		a.rank = lastRank
		Attempt(func() error { return a.Flush(ctx, a.exchange) }, func(err error) {
			if err != nil {
				a.flushErr = a.node.fail(lastRank, err)
			}
		})
	}
}

func (a *actorRun[In, Ask, Answer, Out]) receive(ctx context.Context, p parcel[In]) {
	if a.node.run.isOver() {
		drop(a.node, p.value)
		return
	}
	a.input, a.rank = p, 0
	workOn(a.node, p.value, p.arrival, func() error { return a.Receive(ctx, p.value, a.exchange) })
	a.input = parcel[In]{}
}

func (a *actorRun[In, Ask, Answer, Out]) resume(ctx context.Context, r reply[Answer]) {
	if a.node.run.isOver() {
		reject(a.node, r.answer, a.node.stopped())
		return
	}
	a.rank = r.rank
	Attempt(func() error { return a.Resume(ctx, r.answer, a.exchange) }, func(err error) {
		if err != nil {
			reject(a.node, r.answer, a.node.failFor(r.answer, r.rank, err))
		}
	})
}

func (a *actorRun[In, Ask, Answer, Out]) put(q Ask) {
	if a.rank == 0 && !isSequencer[Ask]() {
		a.rank = rankOf(a.input.value, a.input.arrival)
	}
	a.unanswered++
	a.flushed = false
	a.asks.Put(question[Ask]{ask: q, rank: a.rank})
}

// answer does the work of one ask. It always replies, since the actor counts the unanswered asks.
func (a *actorRun[In, Ask, Answer, Out]) answer(ctx context.Context, q question[Ask]) {
	r := reply[Answer]{rank: q.rank, failed: true}
	if r.rank == 0 && !isSequencer[Answer]() {
		r.rank = rankOf(q.ask, 0)
	}
	defer func() { a.answers.Put(r) }()
	if a.node.run.isOver() {
		reject(a.node, q.ask, a.node.stopped())
		return
	}
	Attempt(func() (err error) {
		r.answer, err = a.Work(ctx, q.ask)
		return err
	}, func(err error) {
		r.failed = err != nil
		if err != nil {
			reject(a.node, q.ask, a.node.failFor(q.ask, q.rank, err))
		}
	})
}
