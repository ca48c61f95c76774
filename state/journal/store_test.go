package journal

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// memory is a store in memory that keeps its content after every write.
type memory struct {
	mu      sync.Mutex
	journal []byte // nil for none
	base    []byte
	file    []byte // the stack file
	appends int
	saves   int
	// crash is called before every write; an error stops it. part is the written part of the bytes in that case.
	crash func(what string) (part float64, err error)
}

var errFull = errors.New("no space left on device")

func (m *memory) Name() string { return "dev.jnl" }

func (m *memory) Read(context.Context) ([]byte, error) { return slices.Clone(m.journal), nil }

func (m *memory) Base(context.Context) ([]byte, error) { return m.base, nil }

func (m *memory) Create(_ context.Context, first, base []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.journal != nil {
		return errors.New("there is a journal")
	}
	m.base = base
	return m.write("create", first)
}

func (m *memory) Append(_ context.Context, b []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.journal == nil {
		return errors.New("there is no journal")
	}
	return m.write("append", b)
}

func (m *memory) write(what string, b []byte) error {
	m.appends++
	if part, err := m.check(what); err != nil {
		m.journal = append(m.journal, b[:int(part*float64(len(b)))]...)
		return err
	}
	m.journal = append(m.journal, b...)
	return nil
}

func (m *memory) Truncate(_ context.Context, size int64) error {
	m.journal = m.journal[:size]
	return nil
}

func (m *memory) Remove(context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.check("remove"); err != nil {
		return err
	}
	m.journal, m.base = nil, nil
	return nil
}

func (m *memory) save(_ context.Context, b []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.check("save"); err != nil {
		return err
	}
	m.saves++
	m.file = b
	return nil
}

func (m *memory) check(what string) (float64, error) {
	if m.crash == nil {
		return 0, nil
	}
	return m.crash(what)
}

// copy is the store after a kill at this moment.
func (m *memory) copy() *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &memory{journal: slices.Clone(m.journal), base: m.base, file: m.file, saves: m.saves}
}
