package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sluice-iac/sluice/state/store"
)

// The names of sessions in the server's lists, for its administrators too: those of pools, and those that hold a lock.
const (
	program = "sluice"
	locking = program + " lock: " // and the holder; together at most 63 bytes, the limit of a server
)

// number returns the number of the advisory lock of a name.
func (s *Store) number(name string) int64 { return number(s.table + "\x00" + name) }

// number maps a name to the number of an advisory lock.
func number(name string) int64 {
	sum := sha256.Sum256([]byte(name))
	return int64(binary.BigEndian.Uint64(sum[:8]))
}

// hold is an advisory lock with the connection that has it.
type hold struct {
	number  int64
	isHeld  bool
	mu      sync.Mutex // a connection is for one at a time; guards conn
	conn    *pgx.Conn  // nil when it has been given back
	backend int
}

// Exclude implements [store.Excluder] with an advisory lock, on a connection of its own.
func (s *Store) Exclude(ctx context.Context, name, holder string) (taken store.Hold, err error) {
	var lost []string // sessions of this call without an answer: one may have the lock until the server ends it
	err = s.retry(ctx, func() error {
		h, session, err := s.take(ctx, name, holder)
		switch {
		case err != nil && session != "":
			lost = append(lost, session)
		case h != nil:
			taken = h
		case err == nil && len(lost) > 0:
			has, err := s.Holding(ctx, name)
			if err == nil && has != nil && slices.Contains(lost, has.ID) {
				return errLingers
			}
			return err
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	return taken, nil
}

// errLingers is the error if this process has taken a name on a connection that it has lost since.
var errLingers = errors.New("a session of this process whose connection was lost still holds the name")

// take takes a name, or returns nil if another session has it. The statement that takes the lock names the session, so that a
// process that stops right afterwards does not hold it without a name. With an error it returns the session if that may have the
// lock.
func (s *Store) take(ctx context.Context, name, holder string) (h *hold, session string, err error) {
	pooled, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, "", err
	}
	h = &hold{number: s.number(name), conn: pooled.Hijack()}
	session = strconv.FormatUint(uint64(h.conn.PgConn().PID()), 10)
	var got bool
	var named string
	err = h.conn.QueryRow(ctx, `SELECT set_config('application_name', $2, false), pg_try_advisory_lock($1), pg_backend_pid()`,
		h.number, locking+holder).Scan(&named, &got, &h.backend)
	if h.isHeld = got; err == nil && got {
		return h, session, nil
	}
	return nil, session, errors.Join(err, h.Close())
}

// Alive implements [store.Hold]: the lock lives as long as the session.
func (h *hold) Alive(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.conn == nil {
		return errors.New("it has been released")
	}
	var backend int
	if err := h.conn.QueryRow(ctx, `SELECT pg_backend_pid()`).Scan(&backend); err != nil {
		return err
	}
	if backend != h.backend {
		return errors.New("a connection pooler has changed the session; use a URL that leads to the server itself")
	}
	return nil
}

// Close implements [store.Hold]. The lock is free when it returns, unless the connection is broken: the server ends the session with the connection,
// but takes a moment.
func (h *hold) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.conn == nil {
		return nil
	}
	ctx, done := context.WithTimeout(context.Background(), 5*time.Second)
	defer done()
	if h.isHeld {
		_, _ = h.conn.Exec(ctx, `SELECT pg_advisory_unlock($1)`, h.number)
	}
	_ = h.conn.Close(ctx)
	h.conn = nil
	return nil
}
