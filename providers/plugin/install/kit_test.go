package install

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/providers/plugin"
)

// internet is a server that replaces all hosts.
type internet struct {
	t      *testing.T
	server *httptest.Server
	// answer answers by host and path; other paths are 404 Not Found.
	answer map[string]http.HandlerFunc

	mu    sync.Mutex // guards asked
	asked []string   // "host/path", with the token of the request
}

func newInternet(t *testing.T) *internet {
	n := &internet{t: t, answer: map[string]http.HandlerFunc{}}
	n.server = httptest.NewServer(n)
	t.Cleanup(n.server.Close)
	return n
}

func (n *internet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	line := r.Host + r.URL.Path
	if token := r.Header.Get("Authorization"); token != "" {
		line += " with " + token
	}
	if part := r.Header.Get("Range"); part != "" {
		line += " from " + strings.TrimPrefix(part, "bytes=")
	}
	n.mu.Lock()
	n.asked = append(n.asked, line)
	n.mu.Unlock()
	if answer := n.answer[r.Host+r.URL.Path]; answer != nil {
		answer(w, r)
		return
	}
	http.NotFound(w, r)
}

// RoundTrip sends every request to the server, whatever its host.
func (n *internet) RoundTrip(r *http.Request) (*http.Response, error) {
	at, err := url.Parse(n.server.URL)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Host, r.URL.Scheme, r.URL.Host = r.URL.Host, at.Scheme, at.Host
	return http.DefaultTransport.RoundTrip(r)
}

func (n *internet) requests() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]string(nil), n.asked...)
}

func (n *internet) has(place string, content []byte) {
	n.answer[place] = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", `"`+digest(content)[:8]+`"`)
		http.ServeContent(w, r, "", noTime, bytes.NewReader(content))
	}
}

func (n *internet) installer(home string, env map[string]string) *Installer {
	i := New(Options{Home: home, Transport: n, LookupEnv: func(name string) (string, bool) { v, ok := env[name]; return v, ok }})
	i.web.pause = time.Millisecond
	return i
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// entry is one entry of an archive.
type entry struct {
	name, link, text string
	kind             byte
	mode             int64
}

func archived(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, e := range entries {
		if e.kind == 0 {
			e.kind = tar.TypeReg
		}
		if e.mode == 0 {
			e.mode = 0o755
		}
		require.NoError(t, w.WriteHeader(&tar.Header{Name: e.name, Linkname: e.link, Typeflag: e.kind, Mode: e.mode, Size: int64(len(e.text))}))
		_, err := w.Write([]byte(e.text))
		require.NoError(t, err)
	}
	require.NoError(t, errors.Join(w.Close(), z.Close()))
	return b.Bytes()
}

// program is the executable of the plugin in most tests.
const program = "pulumi-resource-thing"

func good(t *testing.T) []byte { return archived(t, entry{name: program, text: "the plugin"}) }

// wanted is a request for version 1.2.3 of the plugin.
func wanted() Request { return Request{Kind: plugin.Resource, Name: "thing", Version: "v1.2.3"} }

var archiveName = Request{Kind: plugin.Resource, Name: "thing", Version: "1.2.3"}.archive()

// finds reports whether an engine finds the plugin.
func finds(t *testing.T, home string) bool {
	t.Helper()
	l, err := plugin.Finder{Home: home, LookupEnv: func(string) (string, bool) { return "", false }}.Find(plugin.Resource, "thing", "1.2.3")
	if err != nil {
		require.ErrorAs(t, err, new(*plugin.MissingError))
		return false
	}
	text, err := os.ReadFile(l.Executable)
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(string(text), "the plugin"), "%q", text)
	return true
}

// remains lists the files in the cache besides plugins and locks.
func remains(t *testing.T, home string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(home, "plugins"))
	require.NoError(t, err)
	var rest []string
	for _, e := range entries {
		if name := e.Name(); name != "resource-thing-v1.2.3" && !strings.HasSuffix(name, ".lock") && !strings.HasSuffix(name, ".lastused") {
			rest = append(rest, name)
		}
	}
	return rest
}
