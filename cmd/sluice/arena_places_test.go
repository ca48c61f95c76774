//go:build !windows

package main

import (
	"context"
	"encoding/json"
	"io/fs"
	"net"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/cloud"
	"github.com/sluice-iac/sluice/state/store"
	"github.com/sluice-iac/sluice/testing/cuttest"
	"github.com/sluice-iac/sluice/testing/postgrestest"
	"github.com/sluice-iac/sluice/testing/servicetest"
)

// place is a place for states.
type place struct {
	url   string // for the command line
	store store.Store
	dir   string              // the directory of the files; "" elsewhere
	link  *cuttest.Connection // the connection between the processes and the server; nil in a directory; the store does not use it
	// service is the service; nil elsewhere. With it, the store has only the working copies.
	service *servicetest.Server
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
	l := cuttest.Connect(t, address)
	return place{url: at(l.Address()), store: openStore(t, at(address.String())), link: l}
}

// inDatabase is a place in a PostgreSQL server.
func inDatabase(t *testing.T) place {
	direct := postgrestest.Start(t)
	u, err := url.Parse(direct)
	require.NoError(t, err)
	l := cuttest.Connect(t, &net.UnixAddr{Net: "unix", Name: filepath.Join(u.Query().Get("host"), ".s.PGSQL.5432")})
	return place{
		url:   "postgres://sluice@" + l.Address() + "/postgres?sslmode=disable",
		store: openStore(t, direct), link: l,
	}
}

// inJournals is a place at the service with journals, and inCheckpoints one with checkpoints.
func inJournals(t *testing.T) place    { return inService(t, servicetest.Options{Journal: true}) }
func inCheckpoints(t *testing.T) place { return inService(t, servicetest.Options{Delta: true}) }

// inService is a place at the service.
func inService(t *testing.T, can servicetest.Options) place {
	can.Users, can.Batch = map[string]string{"pul-alice": "alice"}, true
	server := servicetest.New(can)
	t.Cleanup(func() {
		server.Close()
		require.Empty(t, server.Violations())
	})
	t.Setenv("PULUMI_ACCESS_TOKEN", "pul-alice")
	address, err := net.ResolveTCPAddr("tcp", strings.TrimPrefix(server.URL(), "http://"))
	require.NoError(t, err)
	l := cuttest.Connect(t, address)
	return place{url: "http://" + l.Address(), link: l, service: server}
}

// state returns the deployment of the stack, read from the place.
func (p place) state(t *testing.T) (d deployment) {
	if p.service != nil {
		require.NoError(t, json.Unmarshal(p.service.State("alice/demo/dev"), &d))
		return d
	}
	var file struct{ Checkpoint struct{ Latest deployment } }
	text, _, err := p.store.Read(t.Context(), ".pulumi/stacks/demo/dev.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &file), "the stack file is whole at every moment")
	return file.Checkpoint.Latest
}

func openStore(t *testing.T, text string) store.Store {
	u, err := url.Parse(text)
	require.NoError(t, err)
	s, err := cloud.Stores()[u.Scheme](context.Background(), text, os.LookupEnv)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// keys lists all keys of the place, including temporary files.
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
