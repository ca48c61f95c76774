package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// The names of sessions in the server's lists, for its administrators too: those of pools, and those that hold a lock.
const (
	program = "sluice"
	locking = program + " lock: " // and the holder; together at most 63 bytes, the limit of a server
)

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
