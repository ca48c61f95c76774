//go:build !windows

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/cloud"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/state/store"
	"github.com/sluice-iac/sluice/testing/emulatortest"
	"github.com/sluice-iac/sluice/testing/tier"
)

// bucket is an arena whose states are in an object store.
type bucket struct {
	*arena
	store store.Store
}

// newBucket starts an object store, with a handler between it and the command line, and makes a stack in it.
func newBucket(t *testing.T, at emulatortest.Store, between emulatortest.Between) *bucket {
	t.Helper()
	there := at.Start(t, "/team/a", between)
	there.Use(t)
	open := cloud.Stores()[strings.SplitN(there.URL, ":", 2)[0]]
	s, err := open(context.Background(), there.URL, os.LookupEnv)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	a := newArenaAt(t, buildTools(t), place{url: there.URL, store: s})
	a.run(0, "config", "set", "scenario", "many")
	return &bucket{a, s}
}

// keys lists the objects whose keys contain a part.
func (b *bucket) keys(part string) []string {
	infos, err := b.store.List(context.Background(), "")
	require.NoError(b, err)
	var keys []string
	for _, i := range infos {
		if strings.Contains(i.Key, part) {
			keys = append(keys, i.Key)
		}
	}
	return keys
}

// journalled reports whether the journal has a text.
func (b *bucket) journalled(text string) bool {
	for _, key := range b.keys("/journal/") {
		content, _, err := b.store.Read(context.Background(), key)
		if err == nil && bytes.Contains(content, []byte(text)) {
			return true
		}
	}
	return false
}

// recorded returns the resources of the program that another process exports, and the types of the pending operations, by name.
func (b *bucket) recorded() (things map[string]string, pending map[string]string) {
	var file struct {
		Deployment struct {
			Resources []struct{ URN, ID, Type string }
			Pending   []struct {
				Resource struct{ URN string }
				Type     string
			} `json:"pending_operations"`
		}
	}
	path := b.dir + "/export.json"
	b.run(0, "stack", "export", "--file", path)
	text, err := os.ReadFile(path)
	require.NoError(b, err)
	require.NoError(b, json.Unmarshal(text, &file))
	things, pending = map[string]string{}, map[string]string{}
	for _, r := range file.Deployment.Resources {
		if strings.HasPrefix(r.Type, "simple:") {
			things[r.ID] = r.URN
		}
	}
	for _, op := range file.Deployment.Pending {
		pending[op.Resource.URN[strings.LastIndex(op.Resource.URN, ":")+1:]] = op.Type
	}
	return things, pending
}

// A stack lives in an object store, from the first update to its removal, with an engine that is killed during a create.
func TestAStackLivesInAnObjectStore(t *testing.T) {
	tier.Slow(t, "emulators")
	t.Parallel()
	for name, at := range emulatortest.Stores() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var losing atomic.Bool
			writes, lost := 0, 0
			b := newBucket(t, at, emulatortest.Losing(func(r *http.Request) bool {
				if r.Method != at.Write || !losing.Load() {
					return false
				}
				writes++
				if writes%9 == 0 {
					lost++
				}
				return writes%9 == 0
			}))
			b.run(0, "config", "set", "count", "4")
			b.run(0, "config", "set", "simple:hangOn", "create thing-2")
			first, out := b.command("up", "--yes", "--skip-preview")
			require.NoError(t, first.Start())
			require.Eventually(t, func() bool { return b.journalled("thing-2") }, patience, 20*time.Millisecond, "%s", out)

			refused := b.run(exit.Locked, "up", "--yes", "--skip-preview")
			require.Contains(t, refused, "locked by 1 lock")
			require.Contains(t, refused, fmt.Sprintf("pid %d", first.Process.Pid))

			require.NoError(t, first.Process.Kill())
			_ = first.Wait()
			things, pending := b.recorded()
			require.Equal(t, b.cloud(), things)
			require.Equal(t, "creating", pending["thing-2"])
			require.Empty(t, b.keys("/journal/"), "the export has recovered the state")

			b.run(0, "config", "rm", "simple:hangOn")
			require.Contains(t, b.run(1, "up", "--yes", "--skip-preview"), "thing-2", "somebody has to say what became of it")
			b.run(0, "recover", "--assume-not-created")
			losing.Store(true)
			b.run(0, "up", "--yes", "--skip-preview")
			b.run(0, "config", "set", "count", "12")
			b.run(0, "up", "--yes", "--skip-preview")
			losing.Store(false)
			require.Positive(t, lost)
			things, pending = b.recorded()
			require.Empty(t, pending)
			require.Len(t, things, 12)
			require.Equal(t, b.cloud(), things)
			require.Contains(t, b.run(0, "stack", "history"), "UpdateKind: update")

			b.run(0, "destroy", "--yes", "--skip-preview")
			require.Empty(t, b.cloud())
			b.run(0, "stack", "rm", "--yes")
			require.NotContains(t, b.keys(""), ".pulumi/stacks/demo/dev.json") // a backup stays
			require.Empty(t, b.keys("/locks/"))
			require.Empty(t, b.keys("/journal/"))
			require.NotContains(t, b.run(0, "stack", "ls"), "dev")
		})
	}
}
