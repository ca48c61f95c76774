package backend

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob/memblob"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/state/secrets"
	"github.com/sluice-iac/sluice/state/secrets/secretstest"
	"github.com/sluice-iac/sluice/state/store"
	"github.com/sluice-iac/sluice/state/store/objects"
)

// life is the life of a process that is killed after some moments. A dead process reads and writes nothing.
type life struct {
	mu   sync.Mutex // the locks of a process are renewed by goroutines of their own
	left int        // moments; negative for a process that is not killed
	dead bool
	seen int
	// intent is the number of moments before the first one at which the intent of an operation on two stacks exists.
	intent int
}

func (l *life) moment() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.dead {
		l.seen++
		l.dead = l.left == 0
		l.left--
	}
	return l.check()
}

func (l *life) alive() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.check()
}

func (l *life) check() error {
	if l.dead {
		return store.ErrKilled
	}
	return nil
}

// mortal is the store of a process that may be killed before and after every change of it.
type mortal struct {
	store.Store
	*life
}

func (m mortal) change(f func() error) error {
	if err := m.moment(); err != nil {
		return err
	}
	if err := f(); err != nil {
		return err
	}
	return m.moment()
}

func (m mortal) Read(ctx context.Context, key string) ([]byte, store.Info, error) {
	if err := m.alive(); err != nil {
		return nil, store.Info{}, err
	}
	return m.Store.Read(ctx, key)
}

func (m mortal) Stat(ctx context.Context, keys ...string) ([]store.Info, error) {
	if err := m.alive(); err != nil {
		return nil, err
	}
	return m.Store.Stat(ctx, keys...)
}

func (m mortal) List(ctx context.Context, prefix string) ([]store.Info, error) {
	if err := m.alive(); err != nil {
		return nil, err
	}
	return m.Store.List(ctx, prefix)
}

func (m mortal) Write(ctx context.Context, key string, content []byte, c store.Condition) (i store.Info, err error) {
	err = m.change(func() error {
		i, err = m.Store.Write(ctx, key, content, c)
		if strings.HasPrefix(key, ".pulumi/sluice/pairs/") {
			m.intent = m.seen
		}
		return err
	})
	return i, err
}

func (m mortal) Copy(ctx context.Context, from, to string) error {
	return m.change(func() error { return m.Store.Copy(ctx, from, to) })
}

func (m mortal) Keep(ctx context.Context, from, to string) error {
	return m.change(func() error { return store.Keep(ctx, m.Store, from, to) })
}

func (m mortal) Remove(ctx context.Context, keys ...string) error {
	for _, key := range keys {
		if err := m.change(func() error { return m.Store.Remove(ctx, key) }); err != nil {
			return err
		}
	}
	return nil
}

// place is the place for the stacks of processes that may be killed.
type place struct {
	*testing.T
	open  func(*life) store.Store // the store of one of them
	put   func(key, content string)
	slow  bool // writes wait for a disk
	keys  secrets.Source
	notes []string
	told  []string // renames, as reported to [Options.Renamed]
}

// places are a directory and an object store. fresh makes an empty one.
func places() map[string]func(t *testing.T) *place {
	return map[string]func(t *testing.T) *place{
		"directory": func(t *testing.T) *place {
			dir := t.TempDir()
			open := func(l *life) store.Store {
				d := store.NewDir(dir)
				d.Crash = func(store.Moment) error { return l.moment() }
				return mortal{d, l}
			}
			put := func(key, content string) {
				require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, key)), 0o777))
				require.NoError(t, os.WriteFile(filepath.Join(dir, key), []byte(content), 0o666))
			}
			return &place{T: t, keys: secretstest.Source("p"), open: open, put: put, slow: true}
		},
		"object store": func(t *testing.T) *place {
			bucket := memblob.OpenBucket(nil)
			open := func(l *life) store.Store {
				return mortal{objects.New(bucket, objects.Options{URL: "mem://states"}), l}
			}
			put := func(key, content string) {
				require.NoError(t, bucket.WriteAll(context.Background(), key, []byte(content), nil))
			}
			return &place{T: t, keys: secretstest.Source("p"), open: open, put: put}
		},
	}
}

// process opens the backend as a process that is killed after some moments; negative for never.
func (p *place) process(moments int) (*File, *life) {
	p.Helper()
	l := &life{left: -1}
	tick := 0
	b, err := openFile(context.Background(), Options{
		URL: "test://", Project: "shop", Version: "sluice/test", Passphrases: p.keys,
		Now: func() time.Time {
			tick++
			return time.Date(2026, 1, 2, 3, 4, 5, tick, time.UTC)
		},
		Note: func(text string, _ ...advice.Advice) { p.notes = append(p.notes, text) },
		Renamed: func(from, to Ref) (string, error) {
			p.told = append(p.told, from.String()+" "+to.String())
			return "", l.moment()
		},
		Stores: map[string]store.Opener{"test": func(context.Context, string, func(string) (string, bool)) (store.Store, error) {
			return p.open(l), nil
		}},
	})
	require.NoError(p, err)
	l.left = moments
	b.storage.every, b.storage.lost = time.Hour, 2*time.Hour // on a slow disk renewals would be moments, too
	return b, l
}

// store is the place for a process that is not killed.
func (p *place) store() store.Store { return p.open(&life{left: -1}) }

// files lists the contents below a prefix, without the remains of writes that were killed.
func (p *place) files(prefix string) map[string]string {
	p.Helper()
	s := p.store()
	infos, err := s.List(context.Background(), prefix)
	require.NoError(p, err)
	all := map[string]string{}
	for _, i := range infos {
		b, _, err := s.Read(context.Background(), i.Key)
		require.NoError(p, err)
		all[strings.TrimPrefix(i.Key, prefix)] = string(b)
	}
	return all
}

// bury removes the locks of the killed process, because that is really this one, which lives.
func (p *place) bury() {
	p.Helper()
	for key := range p.files(".pulumi/locks/") {
		require.NoError(p, p.store().Remove(context.Background(), ".pulumi/locks/"+key))
	}
}
