package modelcheck

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/state/store"
)

// server is a database in the view of a process: a statement is atomic, and a session with a name excludes others with
// that name until it ends.
type server struct{ *process }

var (
	_ store.Store    = server{}
	_ store.Excluder = server{}
)

func (s server) Name(key string) string { return "test://states/" + key }
func (s server) Close() error           { return nil }

func infoOf(key string, c content) store.Info {
	return store.Info{Key: key, Modified: c.modified, Size: int64(len(c.bytes)), Revision: c.revision}
}

func (s server) Read(ctx context.Context, key string) (b []byte, i store.Info, err error) {
	fault := s.do(ctx, "SELECT "+key, kindOf(key, look), func() string {
		c, there := s.disk.contents[key]
		if !there {
			err = store.Missing(s.Name(key))
			return "none"
		}
		b, i = c.bytes, infoOf(key, c)
		return string(b) + c.String()
	})
	return b, i, errors.Join(fault, err)
}

func (s server) Stat(ctx context.Context, keys ...string) (all []store.Info, err error) {
	k := quiet
	for _, key := range keys {
		k = max(k, kindOf(key, look))
	}
	err = s.do(ctx, "SELECT "+strings.Join(keys, " "), k, func() string {
		var found strings.Builder
		for _, key := range keys {
			if c, there := s.disk.contents[key]; there {
				all = append(all, infoOf(key, c))
				found.WriteString(key + " " + c.String())
			}
		}
		return found.String()
	})
	return all, err
}

func (s server) List(ctx context.Context, prefix string) (all []store.Info, err error) {
	err = s.do(ctx, "SELECT "+prefix+"%", kindOf(prefix, look), func() string {
		var found strings.Builder
		for _, key := range s.disk.list(prefix) {
			c := s.disk.contents[key]
			all = append(all, infoOf(key, c))
			found.WriteString(key + " " + c.String())
		}
		return found.String()
	})
	return all, err
}

func (s server) Write(ctx context.Context, key string, b []byte, c store.Condition) (i store.Info, err error) {
	what, k := "INSERT "+key, kindOf(key, change)
	if k != quiet {
		what += short(b, c.Revision())
	}
	fault := s.do(ctx, what, k, func() string {
		if err = s.put(write{key: key, bytes: b, absent: c.Absent(), revision: c.Revision()}, s.serverNow()); err != nil {
			err = store.Conflict(s.Name(key))
			return "conflict"
		}
		now := s.disk.contents[key]
		i = infoOf(key, now)
		return now.String()
	})
	return i, errors.Join(fault, err)
}

func (s server) Copy(ctx context.Context, from, to string) (err error) {
	fault := s.do(ctx, "INSERT "+to+" SELECT "+from, kindOf(to, change), func() string {
		c, there := s.disk.contents[from]
		if !there {
			err = store.Missing(s.Name(from))
			return "none"
		}
		_ = s.disk.put(write{key: to, bytes: c.bytes}, s.serverNow())
		return ""
	})
	return errors.Join(fault, err)
}

func (s server) Remove(ctx context.Context, keys ...string) error {
	k := quiet
	for _, key := range keys {
		k = max(k, kindOf(key, change))
	}
	if len(keys) == 0 {
		return nil
	}
	return s.do(ctx, "DELETE "+strings.Join(keys, " "), k, func() string {
		for _, key := range keys {
			s.removed(key)
			delete(s.disk.contents, key)
		}
		return ""
	})
}

// session is a connection with a name.
type session struct {
	server
	number int
}

func (s server) Exclude(ctx context.Context, _, holder string) (h store.Hold, err error) {
	err = s.do(ctx, "LOCK", look, func() string {
		if s.holder != nil {
			return "another session has it"
		}
		s.process.session++
		s.holder, s.holderSession, s.holderName = s.process, s.process.session, holder
		h = session{s, s.process.session}
		return fmt.Sprint(s.process.session)
	})
	return h, err
}

func (s server) Holding(ctx context.Context, _ string) (held *store.Session, err error) {
	err = s.do(ctx, "SELECT pg_locks", look, func() string {
		if s.holder == nil {
			return "none"
		}
		held = &store.Session{ID: fmt.Sprint(s.holderSession), Holder: s.holderName}
		return fmt.Sprint(*held)
	})
	return held, err
}

func (s server) End(ctx context.Context, _ string, of store.Session) error {
	return s.do(ctx, "END "+of.ID, change, func() string {
		if s.holder != nil && fmt.Sprint(s.holderSession) == of.ID && s.holderName == of.Holder {
			s.holder = nil
		}
		return ""
	})
}

func (s server) Now(ctx context.Context) (now time.Time, err error) {
	err = s.do(ctx, "SELECT now()", look, func() string {
		now = s.serverNow()
		return now.String()
	})
	return now, err
}

// serverNow returns the time of the server's clock.
func (s server) serverNow() time.Time { return s.clock().Add(s.serverSkew) }

func (h session) lives() bool { return h.holder == h.process && h.holderSession == h.number }

func (h session) Alive(ctx context.Context) (err error) {
	fault := h.do(ctx, "SELECT 1", look, func() string {
		if !h.lives() {
			err = errors.New("the connection is closed")
		}
		return fmt.Sprint(err)
	})
	return errors.Join(fault, err)
}

func (h session) Close() error {
	return h.do(context.Background(), "UNLOCK", look, func() string {
		if h.lives() {
			h.holder = nil
		}
		return ""
	})
}
