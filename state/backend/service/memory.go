package service

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/store"
)

// memory is a store in memory, for states that are only read.
type memory struct {
	mu       sync.Mutex // guards contents
	contents map[string][]byte
}

var _ store.Store = (*memory)(nil)

func (m *memory) info(key string) store.Info {
	b := m.contents[key]
	return store.Info{Key: key, Size: int64(len(b)), Revision: state.Digest(b), Modified: time.Unix(0, 0)}
}

// Name implements [store.Store].
func (m *memory) Name(key string) string { return key }

// Read implements [store.Store].
func (m *memory) Read(_ context.Context, key string) ([]byte, store.Info, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, there := m.contents[key]
	if !there {
		return nil, store.Info{}, store.Missing(key)
	}
	return bytes.Clone(b), m.info(key), nil
}

// Stat implements [store.Store].
func (m *memory) Stat(_ context.Context, keys ...string) ([]store.Info, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var infos []store.Info
	for _, key := range keys {
		if _, there := m.contents[key]; there {
			infos = append(infos, m.info(key))
		}
	}
	return infos, nil
}

// List implements [store.Store].
func (m *memory) List(_ context.Context, prefix string) ([]store.Info, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var infos []store.Info
	for key := range m.contents {
		if strings.HasPrefix(key, prefix) {
			infos = append(infos, m.info(key))
		}
	}
	slices.SortFunc(infos, func(a, b store.Info) int { return strings.Compare(a.Key, b.Key) })
	return infos, nil
}

// Write implements [store.Store].
func (m *memory) Write(_ context.Context, key string, content []byte, c store.Condition) (store.Info, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, there := m.contents[key]
	if err := c.Check(key, m.info(key), there); err != nil {
		return store.Info{}, err
	}
	m.contents[key] = bytes.Clone(content)
	return m.info(key), nil
}

// Copy implements [store.Store].
func (m *memory) Copy(ctx context.Context, from, to string) error {
	b, _, err := m.Read(ctx, from)
	if err == nil {
		_, err = m.Write(ctx, to, b, store.Condition{})
	}
	return err
}

// Remove implements [store.Store].
func (m *memory) Remove(_ context.Context, keys ...string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range keys {
		delete(m.contents, key)
	}
	return nil
}

// Close implements [store.Store].
func (m *memory) Close() error { return nil }
