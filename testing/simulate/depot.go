package simulate

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/state"
	journals "github.com/sluice-iac/sluice/state/journal"
)

// depot stores the stack file of a stack and its journal, in memory. It is safe for concurrent use.
type depot struct {
	mu                  sync.Mutex // guards the rest
	file, journal, base []byte
}

// set makes a change atomically.
func (d *depot) set(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
}

// copy returns the content at one moment.
func (d *depot) copy() *depot {
	d.mu.Lock()
	defer d.mu.Unlock()
	return &depot{file: slices.Clone(d.file), journal: slices.Clone(d.journal), base: slices.Clone(d.base)}
}

// read returns the state that another command would read at this moment: the stack file, brought up to date with the journal.
// It changes nothing.
func (d *depot) read(ctx context.Context) (*state.Snapshot, error) {
	c := d.copy()
	if err := c.recover(ctx); err != nil {
		return nil, err
	}
	return decode(ctx, string(c.file))
}

// recover brings the stack file up to date with the journal, as the next command that takes the lock does.
func (d *depot) recover(ctx context.Context) error {
	p := &process{depot: d}
	_, err := journals.Recover(ctx, journals.Recovery{
		Stack: stackName, Store: p, Content: d.copy().file, Decode: decodeOptions(), Ledger: ledgerOptions(),
		Checkpoint: state.CheckpointOptions{Save: p.save},
		Encoder:    func(context.Context, *state.SecretsProvider) *state.Encoder { return encoder() },
	})
	return err
}

// process is the access of one process to a depot. Each write takes time, during which the process may die; a dead process
// writes nothing. Half of an append is there before the rest.
type process struct {
	depot  *depot
	pause  func()       // takes the time of half a write; nil for none
	isDead func() error // nil for a process that does not die
}

// write makes changes one after the other.
func (p *process) write(changes ...func()) error {
	for _, change := range changes {
		if p.pause != nil {
			p.pause()
		}
		if p.isDead != nil {
			if err := p.isDead(); err != nil {
				return err
			}
		}
		p.depot.set(change)
	}
	return nil
}

func (p *process) Name() string { return "the journal" }

func (p *process) Read(context.Context) ([]byte, error) { return p.depot.copy().journal, nil }

func (p *process) Base(context.Context) ([]byte, error) { return p.depot.copy().base, nil }

func (p *process) Create(_ context.Context, first, base []byte) error {
	d := p.depot
	return p.write(func() { d.base = append([]byte{}, base...) }, func() { d.journal = slices.Clone(first[:len(first)/2]) }, func() { d.journal = slices.Clone(first) })
}

func (p *process) Append(_ context.Context, b []byte) error {
	d := p.depot
	half := len(b) / 2
	return p.write(func() { d.journal = append(d.journal, b[:half]...) }, func() { d.journal = append(d.journal, b[half:]...) })
}

func (p *process) Truncate(_ context.Context, size int64) error {
	return p.write(func() { p.depot.journal = p.depot.journal[:size] })
}

func (p *process) Remove(context.Context) error {
	return p.write(func() { p.depot.journal = nil }, func() { p.depot.base = nil })
}

func (p *process) save(_ context.Context, checkpoint []byte) error {
	return p.write(func() { p.depot.file = slices.Clone(checkpoint) })
}

// recorder returns the recorder for a run of this process on the base in the depot.
func (p *process) recorder(base *state.Snapshot) *journals.Recorder {
	return journals.NewRecorder(journals.Options{
		Ledger: state.NewLedger(base, ledgerOptions()), Base: base, Content: p.depot.copy().file, Store: p, Tool: "simulate", Now: now,
		Checkpoint: state.CheckpointOptions{Stack: stackName, Encoder: encoder(), Save: p.save},
	})
}

func ledgerOptions() state.LedgerOptions { return state.LedgerOptions{Version: "simulate", Now: now} }

// pauses returns a function that waits for a time up to the maximum. The time depends on the number of the call.
func pauses(seed uint64, most time.Duration) func() {
	var mu sync.Mutex
	at := seed
	return func() {
		if most <= 0 {
			return
		}
		mu.Lock()
		at = at*6364136223846793005 + 1442695040888963407
		wait := time.Duration(at>>33) % most
		mu.Unlock()
		time.Sleep(wait)
	}
}
