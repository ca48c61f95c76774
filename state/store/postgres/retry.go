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

// patience is how long a server may be away, for a restart or while another takes its place: as long as the lease of a lock
// lasts that cannot be renewed.
const patience = time.Minute

// connecting is how long one attempt to connect may take, unless the URL or PGCONNECT_TIMEOUT says something else.
const connecting = 10 * time.Second

// outage is how long a server has been away. All calls of a store share it, so that they wait for the server as long as they would
// one by one, and not one after the other. The zero outage has not begun.
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

// retry calls f again while the server is away. f may have happened when its connection breaks: it is repeated only because all that
// the store asks has the same effect twice, or is recognised when it is there.
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
	}, backoff.WithBackOff(wait), backoff.WithMaxElapsedTime(0)) // the outage is what has a limit
	return err
}

// isBusy reports whether there is a server that does not serve now: it starts or stops, or has too many connections.
func isBusy(err error) bool { return hasCode(err, "57P03") || hasCode(err, "53300") }

// isAway reports whether there was no answer, since there was no connection or it was lost. An answer that is an error is one: that
// the password is wrong, say.
func isAway(err error) bool {
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		return isBusy(err) || strings.HasPrefix(answer.Code, "08") || answer.Code == "57P01" || answer.Code == "57P02" // it was lost
	}
	return errors.As(err, new(*pgconn.ConnectError)) || pgconn.SafeToRetry(err) || errors.As(err, new(net.Error)) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, errLingers)
}
