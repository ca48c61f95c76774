package postgres

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// patience is how long a server may be away, for a restart or while another replaces it: as long as a lock's lease lasts
// without renewal.
const patience = time.Minute

// connecting is the time limit of one attempt to connect, unless the URL or PGCONNECT_TIMEOUT has another.
const connecting = 10 * time.Second

// outage is the time since which a server has been away. All calls of a store share it, so that they wait for the server at the
// same time and not one after the other. The zero outage has not begun.
type outage struct {
	mu    sync.Mutex // guards since
	since time.Time  // zero while the server is there
}

// lasts begins the outage, unless it has begun, and returns how long it has lasted.
func (o *outage) lasts() time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.since.IsZero() {
		o.since = time.Now()
	}
	return time.Since(o.since)
}

func (o *outage) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.since = time.Time{}
}

// retry calls f again while the server is away. f may have had its effect when its connection breaks. It is repeated because every
// request of the store has the same effect twice, or recognises its own earlier success.
func (s *Store) retry(ctx context.Context, f func() error) error {
	return s.retryWhile(ctx, isAway, f)
}

func (s *Store) retryWhile(ctx context.Context, away func(error) bool, f func() error) error {
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval = 50*time.Millisecond, 2*time.Second
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := f()
		switch {
		case err == nil || !away(err):
			s.outage.end()
		case s.outage.lasts() < s.patience:
			return struct{}{}, err
		}
		if err != nil {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(wait), backoff.WithMaxElapsedTime(0)) // the limit is that of the outage
	return err
}

// isBusy reports whether a server answers but does not serve now: it starts or stops, or has too many connections.
func isBusy(err error) bool { return hasCode(err, "57P03") || hasCode(err, "53300") }

// isAway reports whether there was no answer, since there was no connection or it was lost. An error from the server, such as for a
// wrong password, is an answer.
func isAway(err error) bool {
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		return isBusy(err) || strings.HasPrefix(answer.Code, "08") || answer.Code == "57P01" || answer.Code == "57P02" // the connection was lost
	}
	return errors.As(err, new(*pgconn.ConnectError)) || pgconn.SafeToRetry(err) || errors.As(err, new(net.Error)) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, errLingers)
}
