// Package postgres makes a store of a table in a PostgreSQL database. It is the table of Pulumi's backend of that name
// ([state.md 4.10]), so that both tools share the state and locks of a stack.
//
// Every write is a transaction of its own. The lock of a stack is, besides its row, an advisory lock of the session: it ends
// with the connection when its process dies.
//
// [state.md 4.10]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#410-postgresql
package postgres

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/state/store"
	"github.com/sluice-iac/sluice/state/store/internal/doubts"
)

// Store is a [store.Store] in a table.
type Store struct {
	pool     *pgxpool.Pool
	name     string // URL without credentials
	table    string
	doubts   doubts.Doubts
	outage   outage
	patience time.Duration // the constant, except in tests
}

var (
	_ store.Store    = (*Store)(nil)
	_ store.Excluder = (*Store)(nil)
)

// defaultTable is Pulumi's name for the table.
const defaultTable = "pulumi_state"

// Open opens the database that a URL names: "postgres://user:password@host:port/database?table=…", with the parameters of
// libpq. Missing parts of the URL come from the PG* variables of the process. Nothing is created before the first write.
func Open(ctx context.Context, text string, _ func(string) (string, bool)) (store.Store, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, errUnreadableURL
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, fmt.Errorf("backend URL %s: its parameters cannot be read", masked(u))
	}
	table, err := tableOf(u, query)
	if err != nil {
		return nil, err
	}
	name := masked(u)
	query.Del("table")
	u.RawQuery = query.Encode()
	config, err := pgxpool.ParseConfig(u.String())
	if err != nil {
		return nil, fmt.Errorf("backend URL %s: %w", name, err)
	}
	if config.ConnConfig.RuntimeParams["application_name"] == "" {
		config.ConnConfig.RuntimeParams["application_name"] = program
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connecting
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s := &Store{pool: pool, name: name, table: table, patience: patience}
	// If the server has never answered, the URL may be wrong, and waiting does not help.
	if err := s.retryWhile(ctx, isBusy, func() error { return pool.Ping(ctx) }); err != nil {
		pool.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// tableOf returns the name of the table in the parameters of a URL.
func tableOf(u *url.URL, parameters url.Values) (string, error) {
	if !parameters.Has("table") {
		return defaultTable, nil
	}
	table := parameters.Get("table")
	if !regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_$]*(\.[A-Za-z_][A-Za-z0-9_$]*)?$`).MatchString(table) {
		return "", fmt.Errorf("backend URL %s: %q is not a name for a table", masked(u), table)
	}
	return table, nil
}

// masked is the URL without password and parameters.
func masked(u *url.URL) string {
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	text := shown.String()
	if u.User != nil {
		text = strings.Replace(text, "://", "://****@", 1)
	}
	return text
}

// Name implements [store.Store].
func (s *Store) Name(key string) string { return s.name + "/" + s.table + "/" + key }

// Close implements [store.Store].
func (s *Store) Close() error { s.pool.Close(); return nil }

// undefinedTable is the code of PostgreSQL for a table that does not exist.
const undefinedTable = "42P01"

func hasCode(err error, code string) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == code
}

// Read implements [store.Store].
func (s *Store) Read(ctx context.Context, key string) ([]byte, store.Info, error) {
	info := store.Info{Key: key}
	var text string
	err := s.retry(ctx, func() error {
		return s.pool.QueryRow(ctx, `SELECT data->>'data', updated_at, xmin::text FROM `+s.table+` WHERE key = $1`, key).
			Scan(&text, &info.Modified, &info.Revision)
	})
	if errors.Is(err, pgx.ErrNoRows) || hasCode(err, undefinedTable) {
		return nil, store.Info{}, store.Missing(s.Name(key))
	}
	if err != nil {
		return nil, store.Info{}, fmt.Errorf("%s: %w", s.Name(key), err)
	}
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, store.Info{}, fmt.Errorf("%s: the column data: %w", s.Name(key), err)
	}
	info.Size = int64(len(b))
	return b, info, nil
}

// described selects the columns of an [store.Info]. The size is that of the row, for which the content need not be
// read.
const described = `SELECT key, updated_at, xmin::text, pg_column_size(data) FROM `

func (s *Store) describe(ctx context.Context, where string, argument any) (infos []store.Info, err error) {
	err = s.retry(ctx, func() error {
		rows, err := s.pool.Query(ctx, described+s.table+where, argument)
		if err == nil {
			infos, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (i store.Info, err error) {
				return i, row.Scan(&i.Key, &i.Modified, &i.Revision, &i.Size)
			})
		}
		return err
	})
	if hasCode(err, undefinedTable) {
		return nil, nil
	}
	return infos, err
}

// Stat implements [store.Store] with one query.
func (s *Store) Stat(ctx context.Context, keys ...string) ([]store.Info, error) {
	infos, err := s.describe(ctx, ` WHERE key = ANY($1) ORDER BY array_position($1, key)`, keys)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	return infos, nil
}

// List implements [store.Store] with one query.
func (s *Store) List(ctx context.Context, prefix string) ([]store.Info, error) {
	pattern := strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(prefix) + "%"
	infos, err := s.describe(ctx, ` WHERE key LIKE $1 ORDER BY key COLLATE "C"`, pattern)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name(prefix), err)
	}
	return infos, nil
}

// Write implements [store.Store]. The statement that writes checks the condition. A conditional write puts its ID into the row: it is
// repeated when its reply is lost, and then the first one may cause a conflict.
func (s *Store) Write(ctx context.Context, key string, content []byte, c store.Condition) (store.Info, error) {
	if c == (store.Condition{}) {
		return s.write(ctx, key, content, c, "")
	}
	id := uuid.NewString()
	info, err := s.write(ctx, key, content, c, id)
	switch {
	case err == nil:
		s.doubts.Forget(key)
		return info, nil
	case !errors.Is(err, store.ErrConflict):
		s.doubts.Add(key, id)
		return store.Info{}, err
	}
	now, writer, reading := s.examine(ctx, key)
	switch {
	case reading == nil && writer == id:
		s.doubts.Forget(key)
		now.Size = int64(len(content))
		return now, nil
	case reading == nil && s.doubts.Has(key, writer):
		return s.Write(ctx, key, content, store.IfRevision(now.Revision))
	case reading != nil && !errors.Is(reading, fs.ErrNotExist):
		s.doubts.Add(key, id)
		return store.Info{}, reading
	}
	return store.Info{}, err
}

// write writes a row if a condition holds. The row gets the ID of the write, unless id is "".
func (s *Store) write(ctx context.Context, key string, content []byte, c store.Condition, id string) (store.Info, error) {
	info := store.Info{Key: key, Size: int64(len(content))}
	data := `{"data":"` + base64.StdEncoding.EncodeToString(content) + `"`
	if id != "" {
		data += `,"` + doubts.Name + `":"` + id + `"`
	}
	statement := `INSERT INTO ` + s.table + ` (key, data, updated_at) VALUES ($1, $2::json, now())
		ON CONFLICT (key) DO UPDATE SET data = EXCLUDED.data, updated_at = now()`
	arguments := []any{key, data + "}"}
	switch {
	case c.Absent():
		statement = `INSERT INTO ` + s.table + ` (key, data, updated_at) VALUES ($1, $2::json, now()) ON CONFLICT (key) DO NOTHING`
	case c.Revision() != "":
		statement = `UPDATE ` + s.table + ` SET data = $2::json, updated_at = now() WHERE key = $1 AND xmin::text = $3`
		arguments = append(arguments, c.Revision())
	}
	write := func() error {
		return s.retry(ctx, func() error {
			return s.pool.QueryRow(ctx, statement+` RETURNING updated_at, xmin::text`, arguments...).Scan(&info.Modified, &info.Revision)
		})
	}
	err := write()
	if hasCode(err, undefinedTable) {
		if err = s.create(ctx); err == nil {
			err = write()
		}
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return store.Info{}, store.Conflict(s.Name(key))
	}
	if err != nil {
		return store.Info{}, fmt.Errorf("%s: %w", s.Name(key), err)
	}
	return info, nil
}

// examine describes a row, except for its size, and returns the ID of the conditional write that wrote it, "" if
// another write did.
func (s *Store) examine(ctx context.Context, key string) (info store.Info, writer string, err error) {
	info.Key = key
	err = s.retry(ctx, func() error {
		return s.pool.QueryRow(ctx, `SELECT coalesce(data->>'`+doubts.Name+`', ''), updated_at, xmin::text FROM `+s.table+` WHERE key = $1`, key).
			Scan(&writer, &info.Modified, &info.Revision)
	})
	if errors.Is(err, pgx.ErrNoRows) || hasCode(err, undefinedTable) {
		return store.Info{}, "", store.Missing(s.Name(key))
	}
	if err != nil {
		return store.Info{}, "", fmt.Errorf("%s: %w", s.Name(key), err)
	}
	return info, writer, nil
}

// create makes the table and its index, as Pulumi does. Several processes may do so at once.
func (s *Store) create(ctx context.Context) error {
	index := s.table[strings.LastIndexByte(s.table, '.')+1:] + "_key_prefix_idx"
	statements := func(tx pgx.Tx) error {
		for _, statement := range []string{
			fmt.Sprintf(`SELECT pg_advisory_xact_lock(%d)`, number(s.table+"\x00create")),
			`CREATE TABLE IF NOT EXISTS ` + s.table +
				` (key TEXT PRIMARY KEY, data JSON NOT NULL, updated_at TIMESTAMPTZ NOT NULL DEFAULT now())`,
			`CREATE INDEX IF NOT EXISTS ` + index + ` ON ` + s.table + ` (key text_pattern_ops)`,
		} {
			if _, err := tx.Exec(ctx, statement); err != nil {
				return fmt.Errorf("make the table %s: %w", s.table, err)
			}
		}
		return nil
	}
	return s.retry(ctx, func() error { return pgx.BeginFunc(ctx, s.pool, statements) })
}

// Copy implements [store.Store]. The content does not leave the database.
func (s *Store) Copy(ctx context.Context, from, to string) error {
	var tag pgconn.CommandTag
	err := s.retry(ctx, func() (err error) {
		tag, err = s.pool.Exec(ctx, `INSERT INTO `+s.table+` (key, data, updated_at) SELECT $2, data, now() FROM `+s.table+` WHERE key = $1
			ON CONFLICT (key) DO UPDATE SET data = EXCLUDED.data, updated_at = now()`, from, to)
		return err
	})
	if hasCode(err, undefinedTable) || err == nil && tag.RowsAffected() == 0 {
		return store.Missing(s.Name(from))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.Name(to), err)
	}
	return nil
}

// Remove implements [store.Store].
func (s *Store) Remove(ctx context.Context, keys ...string) error {
	if len(keys) == 0 {
		return nil
	}
	err := s.retry(ctx, func() error {
		_, err := s.pool.Exec(ctx, `DELETE FROM `+s.table+` WHERE key = ANY($1)`, keys)
		return err
	})
	if err != nil && !hasCode(err, undefinedTable) {
		return fmt.Errorf("%s: %w", s.Name(keys[0]), err)
	}
	return nil
}

// Now implements [store.Excluder].
func (s *Store) Now(ctx context.Context) (now time.Time, err error) {
	err = s.retry(ctx, func() error { return s.pool.QueryRow(ctx, `SELECT now()`).Scan(&now) })
	return now, err
}

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

// number returns the number of the advisory lock of a name.
func (s *Store) number(name string) int64 { return number(s.table + "\x00" + name) }

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
