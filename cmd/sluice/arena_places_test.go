//go:build !windows

package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/cloud"
	"github.com/sluice-iac/sluice/internal/postgrestest"
	"github.com/sluice-iac/sluice/state/store"
)

// place is where states are kept.
type place struct {
	url   string // for the command line
	store store.Store
	dir   string      // where files are, "" elsewhere
	link  *connection // what connects the processes with the server, nil in a directory; the store needs none
}

// inDirectory is a place whose states are files.
func inDirectory(t *testing.T) place {
	dir := t.TempDir()
	return place{url: "file://" + dir, store: store.NewDir(dir), dir: dir}
}

// inBucket is a place in an object store that this process serves.
func inBucket(t *testing.T) place {
	buckets := s3mem.New()
	require.NoError(t, buckets.CreateBucket("states"))
	server := httptest.NewServer(gofakes3.New(buckets).Server())
	t.Cleanup(server.Close)
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "key")
	at := func(address string) string {
		return "s3://states/team?region=eu-central-1&endpoint=" + address + "&disableSSL=true&s3ForcePathStyle=true"
	}
	address := server.Listener.Addr()
	l := connect(t, address)
	return place{url: at(l.listener.Addr().String()), store: openStore(t, at(address.String())), link: l}
}

// inDatabase is a place in a PostgreSQL server.
func inDatabase(t *testing.T) place {
	direct := postgrestest.Start(t)
	u, err := url.Parse(direct)
	require.NoError(t, err)
	l := connect(t, &net.UnixAddr{Net: "unix", Name: filepath.Join(u.Query().Get("host"), ".s.PGSQL.5432")})
	return place{
		url:   "postgres://sluice@" + l.listener.Addr().String() + "/postgres?sslmode=disable",
		store: openStore(t, direct), link: l,
	}
}

func openStore(t *testing.T, text string) store.Store {
	u, err := url.Parse(text)
	require.NoError(t, err)
	s, err := cloud.Stores()[u.Scheme](context.Background(), text, os.LookupEnv)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// keys lists everything that is kept, temporary files too.
func (p place) keys(t *testing.T) []string {
	var all []string
	if p.dir != "" {
		require.NoError(t, filepath.WalkDir(p.dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				path, err = filepath.Rel(p.dir, path)
				all = append(all, filepath.ToSlash(path))
			}
			return err
		}))
		return all
	}
	infos, err := p.store.List(t.Context(), "")
	require.NoError(t, err)
	for _, i := range infos {
		all = append(all, i.Key)
	}
	return all
}

// connection passes connections on to a server, and can be cut.
type connection struct {
	listener net.Listener
	server   net.Addr
	work     conc.WaitGroup

	mu   sync.Mutex // guards what follows
	down bool
	open map[net.Conn]bool
}

func connect(t *testing.T, server net.Addr) *connection {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l := &connection{listener: listener, server: server, open: map[net.Conn]bool{}}
	l.work.Go(l.serve)
	t.Cleanup(func() {
		_ = listener.Close()
		l.cut()
		l.work.Wait()
	})
	return l
}

func (l *connection) serve() {
	for {
		client, err := l.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(time.Millisecond)
			continue
		}
		l.work.Go(func() { l.pass(client) })
	}
}

// pass connects a client with the server until one of them, or a cut, ends the connection.
func (l *connection) pass(client net.Conn) {
	server, err := net.Dial(l.server.Network(), l.server.String())
	if err != nil {
		_ = client.Close()
		return
	}
	if l.add(client, server) {
		var both conc.WaitGroup
		for _, way := range [2][2]net.Conn{{client, server}, {server, client}} {
			both.Go(func() {
				_, _ = io.Copy(way[0], way[1]) // it ends with an error when the connection is cut
				_ = way[0].Close()
				_ = way[1].Close()
			})
		}
		both.Wait()
	}
	l.remove(client, server)
}

// add reports whether it is not cut.
func (l *connection) add(ends ...net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range ends {
		l.open[c] = true
	}
	return !l.down
}

func (l *connection) remove(ends ...net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range ends {
		_ = c.Close()
		delete(l.open, c)
	}
}

// cut closes every connection. Until mend, there are no new ones. What the server has received it carries out; its reply
// does not arrive.
func (l *connection) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = true
	for c := range l.open {
		_ = c.Close()
	}
}

func (l *connection) mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = false
}
