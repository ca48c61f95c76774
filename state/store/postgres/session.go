package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/state/store"
)

// holding selects from the sessions that hold the advisory lock with the number $1 in this database. The server's lists show
// the numbers and names of sessions to every role.
const holding = ` FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
	WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
	AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
	AND l.classid::bigint << 32 | l.objid::bigint = $1`

// Holding implements [store.Excluder].
func (s *Store) Holding(ctx context.Context, name string) (*store.Session, error) {
	var found store.Session
	var called string
	var since *time.Time // NULL for roles that may not see it
	err := s.retry(ctx, func() error {
		return s.pool.QueryRow(ctx, `SELECT a.pid::text, coalesce(a.usename::text, ''), coalesce(a.application_name, ''), a.backend_start`+
			holding, s.number(name)).Scan(&found.ID, &found.Account, &called, &since)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	if since != nil {
		found.Since = *since
	}
	if rest, ours := strings.CutPrefix(called, locking); ours {
		found.Holder = rest
	}
	return &found, nil
}

// patienceWithEnd is how long the end of a session may take.
const patienceWithEnd = 10 * time.Second

// End implements [store.Excluder]. The statement that ends the session checks its holder once more.
func (s *Store) End(ctx context.Context, name string, which store.Session) error {
	if which.Holder == "" {
		return fmt.Errorf("%s: the session %s of the role %s has the lock and is not sluice's: it was not ended", s.name, which.ID, which.Account)
	}
	backend, err := strconv.Atoi(which.ID)
	if err != nil {
		return fmt.Errorf("%s: %q is not the number of a session", s.name, which.ID)
	}
	deadline := time.Now().Add(patienceWithEnd)
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		var told bool
		err := s.retry(ctx, func() error {
			return s.pool.QueryRow(ctx, `SELECT pg_terminate_backend(a.pid)`+holding+` AND a.pid = $2 AND a.application_name = $3`,
				s.number(name), backend, locking+which.Holder).Scan(&told)
		})
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return nil
		case hasCode(err, insufficientPrivilege):
			return s.mayNotEnd(ctx, which, err)
		case err != nil:
			return fmt.Errorf("%s: end the session %s: %w", s.name, which.ID, err)
		case time.Now().After(deadline):
			return fmt.Errorf("%s: the session %s was told to end and has not ended", s.name, which.ID)
		}
		_ = await.For(ctx, wait) // the next statement reports the end of the context
	}
}

// insufficientPrivilege is PostgreSQL's code for an action that the role may not perform.
const insufficientPrivilege = "42501"

// mayNotEnd returns an error with the missing right.
func (s *Store) mayNotEnd(ctx context.Context, which store.Session, refusal error) error {
	var self string
	var superuser bool
	err := s.retry(ctx, func() error {
		return s.pool.QueryRow(ctx, `SELECT current_user::text, coalesce((SELECT rolsuper FROM pg_roles WHERE rolname = $1), false)`, which.Account).
			Scan(&self, &superuser)
	})
	if err != nil {
		return fmt.Errorf("%s: end the session %s: %w", s.name, which.ID, errors.Join(refusal, err))
	}
	right := fmt.Sprintf("GRANT pg_signal_backend TO %s, or connect as %s", pgx.Identifier{self}.Sanitize(), which.Account)
	if superuser {
		right = "only a superuser may end the session of one"
	}
	return fmt.Errorf("%s: the role %s may not end the session %s of the role %s: %s: %w", s.name, self, which.ID, which.Account, right, refusal)
}
