package postgres

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluice-iac/sluice/pipeline/await"
)

// patience is how long a server may be away, for a restart or while another takes its place.
const patience = 20 * time.Second

// retry calls f again while the server cannot be reached. What may have happened already is only repeated if
// repeating it has the same effect.
func (s *Store) retry(ctx context.Context, repeatable bool, f func() error) error {
	deadline := time.Now().Add(patience)
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		err := f()
		if err == nil || ctx.Err() != nil || !unreachable(err, repeatable) || time.Now().After(deadline) {
			return err
		}
		_ = await.For(ctx, wait) // the next call reports the end of the context
	}
}

func unreachable(err error, repeatable bool) bool {
	if errors.Is(err, pgx.ErrNoRows) {
		return false
	}
	var e *pgconn.PgError
	if errors.As(err, &e) {
		switch {
		case e.Code == "57P03", e.Code == "53300": // starting up or stopping, too many connections: nothing was done
			return true
		case strings.HasPrefix(e.Code, "08"), e.Code == "57P01", e.Code == "57P02": // the connection was lost
			return repeatable
		}
		return false
	}
	var connecting *pgconn.ConnectError
	if errors.As(err, &connecting) {
		return false // a wrong host or password does not get better; a server that is starting says so
	}
	return pgconn.SafeToRetry(err) || repeatable
}
