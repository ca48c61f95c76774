package simulate

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/state/store"
)

// locks is a store of small contents in memory. Every call takes time before and after its effect. It is safe for
// concurrent use.
type locks struct {
	pause func()

	mu       sync.Mutex // guards the rest
	contents map[string]content
	writes   int
	holds    map[string]*hold
}

type content struct {
	text []byte
	info store.Info
}

func (l *locks) do(f func()) {
	l.pause()
	defer l.pause()
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}

func (l *locks) Name(key string) string { return key }

func (l *locks) Read(_ context.Context, key string) (text []byte, info store.Info, err error) {
	l.do(func() {
		c, ok := l.contents[key]
		if text, info = slices.Clone(c.text), c.info; !ok {
			err = store.Missing(key)
		}
	})
	return text, info, err
}

func (l *locks) List(_ context.Context, prefix string) (infos []store.Info, err error) {
	l.do(func() {
		for _, key := range slices.Sorted(maps.Keys(l.contents)) {
			if strings.HasPrefix(key, prefix) {
				infos = append(infos, l.contents[key].info)
			}
		}
	})
	return infos, nil
}

func (l *locks) Write(_ context.Context, key string, text []byte, c store.Condition) (info store.Info, err error) {
	l.do(func() {
		is, exists := l.contents[key]
		if err = c.Check(key, is.info, exists); err != nil {
			return
		}
		l.writes++
		info = store.Info{Key: key, Modified: time.Now(), Size: int64(len(text)), Revision: strconv.Itoa(l.writes)}
		l.contents[key] = content{slices.Clone(text), info}
	})
	return info, err
}

func (l *locks) Remove(_ context.Context, keys ...string) error {
	l.do(func() {
		for _, key := range keys {
			delete(l.contents, key)
		}
	})
	return nil
}

// exclusive is a store that detects dead processes.
type exclusive struct{ *locks }

// hold is a name held by a process. The mutex of its locks guards it.
type hold struct {
	locks        *locks
	name, holder string
}

var _ store.Excluder = exclusive{}

func (e exclusive) Exclude(_ context.Context, name, holder string) (taken store.Hold, err error) {
	e.do(func() {
		if e.holds[name] == nil {
			h := &hold{e.locks, name, holder}
			e.holds[name], taken = h, h
		}
	})
	return taken, nil
}

func (e exclusive) Holding(_ context.Context, name string) (s *store.Session, err error) {
	e.do(func() {
		if h := e.holds[name]; h != nil {
			s = &store.Session{ID: h.holder, Holder: h.holder}
		}
	})
	return s, nil
}

func (e exclusive) End(_ context.Context, name string, s store.Session) error {
	e.do(func() {
		if h := e.holds[name]; h != nil && h.holder == s.Holder {
			delete(e.holds, name)
		}
	})
	return nil
}

func (e exclusive) Now(context.Context) (time.Time, error) { return time.Now(), nil }

func (h *hold) Alive(context.Context) error { return nil }

func (h *hold) Close() error {
	h.locks.do(func() {
		if h.locks.holds[h.name] == h {
			delete(h.locks.holds, h.name)
		}
	})
	return nil
}
