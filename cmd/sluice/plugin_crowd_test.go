package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// crowds is a server with every plugin. At /<name>/<n>/ it answers when n downloads wait for it, and writes the maximal number of
// concurrent downloads into the file <name> of its folder.
type crowds struct {
	t      *testing.T
	folder string

	mu  sync.Mutex // guards the rest
	all map[string]*crowd
}

type crowd struct {
	moved                           *sync.Cond
	inside, most, arrived, released int
}

func (c *crowds) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(r.URL.Path, "/") // "", name, n, file
	if len(parts) < 4 {
		http.NotFound(w, r)
		return
	}
	size, err := strconv.Atoi(parts[2])
	file := parts[len(parts)-1]
	name, _, isPlugin := strings.Cut(file, "-v")
	if err != nil || !isPlugin {
		http.NotFound(w, r)
		return
	}
	c.wait(r.Context(), parts[1], size)
	z := gzip.NewWriter(w)
	archive := tar.NewWriter(z)
	err = errors.Join(archive.WriteHeader(&tar.Header{Name: name, Mode: 0o755}), archive.Close(), z.Close())
	if err != nil {
		c.t.Error(err)
	}
}

// wait waits until that many others wait, or ctx ends.
func (c *crowds) wait(ctx context.Context, name string, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.all[name]
	if x == nil {
		x = &crowd{moved: sync.NewCond(&c.mu)}
		c.all[name] = x
	}
	defer context.AfterFunc(ctx, x.moved.Broadcast)()
	x.inside++
	x.most = max(x.most, x.inside)
	x.arrived++
	group := (x.arrived - 1) / size
	if x.arrived%size == 0 {
		x.released = group + 1
		x.moved.Broadcast()
	}
	for x.released <= group && ctx.Err() == nil {
		x.moved.Wait()
	}
	x.inside--
	if err := os.WriteFile(filepath.Join(c.folder, name), fmt.Appendf(nil, "%d at once\n", x.most), 0o600); err != nil {
		c.t.Error(err)
	}
}
