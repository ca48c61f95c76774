package install

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/providers/plugin"
)

const mirrorHost = "own.example/"

var mirrored = map[string]string{"SLUICE_PLUGIN_MIRROR": "https://own.example"}

// large returns an archive of about 1 MiB.
func large(t *testing.T) []byte {
	t.Helper()
	noise := make([]byte, 1<<20)
	_, err := rand.Read(noise)
	require.NoError(t, err)
	return archived(t, entry{name: program, text: "the plugin"}, entry{name: "noise", text: string(noise)})
}

// cut answers with the requested part of a file, and breaks the connection after some bytes.
func (n *internet) cut(place string, content []byte, after int, times *int) {
	n.has(place, content)
	whole := n.answer[place]
	n.answer[place] = func(w http.ResponseWriter, r *http.Request) {
		if *times == 0 {
			whole(w, r)
			return
		}
		*times--
		recorded := httptest.NewRecorder()
		whole(recorded, r)
		for name, values := range recorded.Header() {
			w.Header()[name] = values
		}
		w.Header().Set("Content-Length", fmt.Sprint(recorded.Body.Len()))
		w.WriteHeader(recorded.Code)
		_, _ = w.Write(recorded.Body.Bytes()[:min(after, recorded.Body.Len())])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// A server that sends nothing for a while is reported by name, once for each silence.
func TestASilentServerIsNamed(t *testing.T) {
	n := newInternet(t)
	n.has(mirrorHost+archiveName, large(t))
	synctest.Test(t, func(t *testing.T) {
		i := n.installer(t.TempDir(), mirrored)
		i.web.transport = haltingly{n, halt(30 * time.Second)}
		var mu sync.Mutex
		var said []string
		require.NoError(t, i.Acquire(Messages{Note: func(text string) {
			mu.Lock()
			defer mu.Unlock()
			said = append(said, text)
		}})(t.Context(), plugin.Wanted{Kind: plugin.Resource, Name: "thing", Version: "1.2.3"}))
		silent := "nothing has come from https://own.example/" + archiveName + " for 10s; the plugin resource thing 1.2.3 is still waited for"
		require.Equal(t, []string{silent, "installing the plugin resource thing 1.2.3 from https://own.example/" + archiveName, silent}, said)
	})
}

// haltingly answers requests without a connection, and pauses before each half of a body, so that the clock of a bubble advances.
type haltingly struct {
	n    *internet
	halt halt
}

func (h haltingly) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Host = r.URL.Host
	recorded := httptest.NewRecorder()
	h.n.ServeHTTP(recorded, r)
	body := recorded.Body.Bytes()
	half := len(body) / 2
	time.Sleep(time.Duration(h.halt))
	answer := recorded.Result()
	answer.ContentLength = int64(len(body))
	answer.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body[:half]), h.halt, bytes.NewReader(body[half:])))
	return answer, nil
}

// halt is an empty text whose read takes a while.
type halt time.Duration

func (p halt) Read([]byte) (int, error) {
	time.Sleep(time.Duration(p))
	return 0, io.EOF
}

// archives are the requests for archives.
func (n *internet) archives() []string {
	var list []string
	for _, line := range n.requests() {
		if strings.Contains(line, ".tar.gz") {
			list = append(list, line)
		}
	}
	return list
}

func TestAConnectionThatIsCutGoesOnWhereItWas(t *testing.T) {
	n, home, archive := newInternet(t), t.TempDir(), large(t)
	times := 9 // more than the number of tries; each one brings something
	n.cut(mirrorHost+archiveName, archive, 100<<10, &times)
	var last Progress
	r := wanted()
	r.Observe = func(p Progress) {
		if p.Phase == Downloading {
			require.GreaterOrEqual(t, p.Done, last.Done)
			last = p
		}
	}
	_, err := n.installer(home, mirrored).Install(t.Context(), r)
	require.NoError(t, err)
	require.True(t, finds(t, home))
	require.Equal(t, Progress{
		Plugin: "resource thing 1.2.3", Phase: Downloading, URL: "https://own.example/" + archiveName,
		Done: int64(len(archive)), Total: int64(len(archive)),
	}, last)
	asked := n.archives()
	require.Len(t, asked, 10)
	require.Equal(t, mirrorHost+archiveName, asked[0])
	for _, line := range asked[1:] {
		require.Contains(t, line, " from ")
	}
	require.Empty(t, remains(t, home))
}

func TestADownloadGoesOnInAnotherProcessUnlessTheFileHasChanged(t *testing.T) {
	for name, changed := range map[string]bool{"the same file": false, "another file": true} {
		t.Run(name, func(t *testing.T) {
			n, home, archive := newInternet(t), t.TempDir(), large(t)
			times := 100
			n.cut(mirrorHost+archiveName, archive, 50<<10, &times) // less than minGain
			_, err := n.installer(home, mirrored).Install(t.Context(), wanted())
			require.ErrorContains(t, err, fmt.Sprintf("the connection ended after %d of %d bytes", 6*50<<10, len(archive)))
			require.False(t, finds(t, home))
			require.Len(t, n.archives(), 6)

			if changed {
				archive = large(t)
			}
			n.has(mirrorHost+archiveName, archive)
			first := int64(-1)
			r := wanted()
			r.Observe = func(p Progress) {
				if p.Phase == Downloading && first < 0 {
					first = p.Done
				}
			}
			_, err = n.installer(home, mirrored).Install(t.Context(), r)
			require.NoError(t, err)
			require.True(t, finds(t, home))
			require.Equal(t, map[bool]int64{false: 6 * 50 << 10, true: 0}[changed], first)
			require.Empty(t, remains(t, home))
		})
	}
}

func TestAServerThatSendsNothingIsGivenUp(t *testing.T) {
	n, home, archive := newInternet(t), t.TempDir(), good(t)
	n.has(mirrorHost+archiveName, archive)
	whole, silent := n.answer[mirrorHost+archiveName], true
	n.answer[mirrorHost+archiveName] = func(w http.ResponseWriter, r *http.Request) {
		if !silent {
			whole(w, r)
			return
		}
		silent = false
		w.Header().Set("Content-Length", fmt.Sprint(len(archive)))
		_, _ = w.Write(archive[:10])
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
	i := n.installer(home, mirrored)
	i.web.stall = 100 * time.Millisecond
	_, err := i.Install(t.Context(), wanted())
	require.NoError(t, err)
	require.True(t, finds(t, home))
	require.GreaterOrEqual(t, len(n.archives()), 2)
}

func TestWhatAServerAnswersDecidesWhetherItIsAskedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		header map[string]string
		times  int // how often it gives this answer
		asked  int
		want   string // "" for success
	}{
		"not found":              {404, nil, 100, 1, "own.example/" + archiveName + ": 404 Not Found"},
		"forbidden":              {403, nil, 100, 1, "403 Forbidden"},
		"too many requests":      {403, map[string]string{"X-RateLimit-Remaining": "0"}, 100, 1, "403 Forbidden (the server has had too many requests from here; it allows more with a token in GITHUB_TOKEN)"},
		"broken for a while":     {500, nil, 2, 3, ""},
		"broken":                 {503, nil, 100, 6, "503 Service Unavailable"},
		"busy, says how long":    {429, map[string]string{"Retry-After": "1"}, 1, 2, ""},
		"busy for a long time":   {429, map[string]string{"Retry-After": "3600"}, 100, 1, "429 Too Many Requests (the server asks to wait for 1h0m0s)"},
		"a redirect to nowhere":  {302, map[string]string{"Location": "https://own.example/gone"}, 100, 1, "404 Not Found"},
		"a redirect without TLS": {302, map[string]string{"Location": "http://own.example/x"}, 100, 1, "redirects from https to http"},
		"a redirect in a circle": {302, map[string]string{"Location": "https://own.example/" + archiveName}, 100, 11, "too many redirects"},
	} {
		t.Run(name, func(t *testing.T) {
			n, home := newInternet(t), t.TempDir()
			n.has(mirrorHost+archiveName, good(t))
			whole, left := n.answer[mirrorHost+archiveName], c.times
			n.answer[mirrorHost+archiveName] = func(w http.ResponseWriter, r *http.Request) {
				if left == 0 {
					whole(w, r)
					return
				}
				left--
				for name, value := range c.header {
					w.Header().Set(name, value)
				}
				w.WriteHeader(c.status)
			}
			_, err := n.installer(home, mirrored).Install(t.Context(), wanted())
			require.Len(t, n.archives(), c.asked)
			require.Equal(t, c.want == "", finds(t, home))
			require.Empty(t, remains(t, home))
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, "the resource plugin 'pulumi-resource-thing' at version v1.2.3 cannot be installed")
			require.Equal(t, []advice.Advice{{Action: advice.InstallFile, Plugin: advice.Plugin{
				Kind: "resource", Name: "thing", Version: "1.2.3", Archive: archiveName,
			}}}, advice.Of(err))
		})
	}
}

func TestAnArchiveWithAnotherChecksumIsNotInstalled(t *testing.T) {
	other := digest([]byte("other"))
	for name, c := range map[string]struct {
		serve func(n *internet, archive []byte)
		given string
		want  string
	}{
		"that of the request": {func(n *internet, _ []byte) {}, other, "and not " + other + " as was asked for"},
		"a published one": {func(n *internet, _ []byte) {
			n.has(mirrorHost+"checksums.txt", []byte("abc  readme\n"+other+"  "+archiveName+"\n"))
		}, "", "as https://own.example/checksums.txt says"},
		"a published one that is none": {func(n *internet, _ []byte) {
			n.has(mirrorHost+"checksums.txt", []byte("abc  "+archiveName+"\n"))
		}, "", `"abc" is not a SHA-256 checksum, which has 64 hexadecimal digits`},
		"a list that cannot be read": {func(n *internet, _ []byte) {
			n.answer[mirrorHost+"checksums.txt"] = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(501) }
		}, "", "its checksums at https://own.example/checksums.txt cannot be read: 501 Not Implemented"},
	} {
		t.Run(name, func(t *testing.T) {
			n, home := newInternet(t), t.TempDir()
			n.has(mirrorHost+archiveName, good(t))
			c.serve(n, good(t))
			r := wanted()
			if c.given != "" {
				given, err := sum(c.given)
				require.NoError(t, err)
				r.Checksums = map[string][]byte{platform(): given}
			}
			_, err := n.installer(home, mirrored).Install(t.Context(), r)
			require.ErrorContains(t, err, c.want)
			require.LessOrEqual(t, len(n.archives()), 1)
			require.False(t, finds(t, home))
			require.Empty(t, remains(t, home))
		})
	}
}

func TestAWrongChecksumEndsTheSearch(t *testing.T) {
	n, home := newInternet(t), t.TempDir()
	n.has("github.com/pulumi/pulumi-thing/releases/download/v1.2.3/"+archiveName, archived(t, entry{name: program, text: "evil"}))
	n.has("get.pulumi.com/releases/plugins/"+archiveName, good(t))
	right, err := sum(digest(good(t)))
	require.NoError(t, err)
	r := wanted()
	r.Checksums = map[string][]byte{platform(): right}
	_, err = n.installer(home, nil).Install(t.Context(), r)
	require.ErrorAs(t, err, new(*ChecksumError))
	require.Equal(t, []string{"github.com/pulumi/pulumi-thing/releases/download/v1.2.3/" + archiveName}, n.requests())
	require.False(t, finds(t, home))
}

func TestReinstallingReplacesWhatIsThere(t *testing.T) {
	n, home := newInternet(t), t.TempDir()
	n.has(mirrorHost+archiveName, archived(t, entry{name: program, text: "old"}, entry{name: "rest", text: "x"}))
	_, err := n.installer(home, mirrored).Install(t.Context(), wanted())
	require.NoError(t, err)
	n.has(mirrorHost+archiveName, good(t))
	r := wanted()
	r.Reinstall = true
	_, err = n.installer(home, mirrored).Install(t.Context(), r)
	require.NoError(t, err)
	require.True(t, finds(t, home))
	require.NoFileExists(t, filepath.Join(home, "plugins", "resource-thing-v1.2.3", "rest"))
	require.Empty(t, remains(t, home))
}

func TestAFailureIsRememberedByThoseWhoOnlyNeedThePlugin(t *testing.T) {
	n, home := newInternet(t), t.TempDir()
	i := n.installer(home, mirrored)
	_, err := i.Once(t.Context(), wanted())
	require.Error(t, err)
	asked := len(n.requests())
	_, again := i.Once(t.Context(), wanted())
	require.Equal(t, err, again)
	require.Len(t, n.requests(), asked)
}

func TestFilesAreInstalled(t *testing.T) {
	folder := t.TempDir()
	file := func(name string, content []byte) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, content, 0o644))
		return path
	}
	whole := filepath.Join(folder, "whole")
	require.NoError(t, os.Mkdir(whole, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(whole, program), []byte("the plugin"), 0o644))
	for name, c := range map[string]struct{ path, want string }{
		"an archive":     {file("x.tar.gz", good(t)), ""},
		"a program":      {file("x", []byte("\x7fELF: the plugin")), ""},
		"a script":       {file("script", []byte("#!/bin/sh\nthe plugin")), ""},
		"a text":         {file("text", []byte("root:x:0:0")), `it is neither a .tar.gz archive nor a program: it begins with "root"`},
		"a folder":       {whole, ""},
		"nothing":        {filepath.Join(folder, "none"), "none: there is no such file"},
		"an empty file":  {file("empty", nil), "it is empty"},
		"a zip archive":  {file("x.zip", []byte("PK\x03\x04....")), "it is a .zip archive"},
		"another folder": {t.TempDir(), "it has no pulumi-resource-thing in its first folder"},
		"another plugin": {file("y.tar.gz", archived(t, entry{name: "pulumi-resource-other", text: "x"})), "it has no pulumi-resource-thing in its first folder"},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			r := wanted()
			r.File = c.path
			_, err := New(Options{Home: home}).Install(t.Context(), r)
			require.Equal(t, c.want == "", finds(t, home))
			require.Empty(t, remains(t, home))
			if c.want != "" {
				require.ErrorContains(t, err, c.want)
				require.Empty(t, advice.Of(err))
				return
			}
			require.NoError(t, err)
		})
	}
}

func TestArchivesThatEscapeAreRefused(t *testing.T) {
	plain := entry{name: program, text: "the plugin"}
	for name, c := range map[string]struct {
		entries []entry
		want    string // "" for a correct archive
	}{
		"folders, and links within": {[]entry{plain, {name: "./a/", kind: '5'}, {name: "a/b", text: "x"}, {name: "c", kind: '2', link: "a/b"}, {name: "d", kind: '1', link: "a/b"}}, ""},
		"a link that leads nowhere": {[]entry{plain, {name: "c", kind: '2', link: "gone"}}, ""},
		"a name above":              {[]entry{plain, {name: "../evil", text: "x"}}, `its entry "../evil" leads out of the plugin's folder`},
		"a name above, hidden":      {[]entry{plain, {name: "a/../../evil", text: "x"}}, "leads out of the plugin's folder"},
		"an absolute name":          {[]entry{plain, {name: "/tmp/evil", text: "x"}}, `its entry "/tmp/evil" leads out`},
		"a link out":                {[]entry{plain, {name: "l", kind: '2', link: "../../.."}}, `its entry "l" is a link to "../../..", which leads out`},
		"an absolute link":          {[]entry{plain, {name: "l", kind: '2', link: "/etc/passwd"}}, "which leads out of the plugin's folder"},
		"links that lead out together": {[]entry{
			plain, {name: "d/d", kind: '2', link: "."}, {name: "d/d/l", kind: '2', link: "../../out"},
		}, "which leads out of the plugin's folder"},
		"a file through a link":  {[]entry{plain, {name: "l", kind: '2', link: "/tmp"}, {name: "l/evil", text: "x"}}, `its entry "l" cannot be a link`},
		"a hard link out":        {[]entry{plain, {name: "l", kind: '1', link: "../../other"}}, `its entry "l" cannot be a link to "../../other"`},
		"a device":               {[]entry{plain, {name: "null", kind: '3'}}, `its entry "null" is neither a file nor a folder nor a link`},
		"a named pipe":           {[]entry{plain, {name: "pipe", kind: '6'}}, `its entry "pipe" is neither`},
		"more than is allowed":   {[]entry{plain, {name: "a", text: strings.Repeat("x", 2000)}}, "unpacks to more than a plugin may have"},
		"more files than that":   {[]entry{plain, {name: "1"}, {name: "2"}, {name: "3"}, {name: "4"}, {name: "5"}, {name: "6"}}, "has too many files for a plugin"},
		"rights that nobody has": {[]entry{{name: program, text: "the plugin", mode: 0o6777}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			n, home := newInternet(t), t.TempDir()
			n.has(mirrorHost+archiveName, archived(t, c.entries...))
			i := n.installer(home, mirrored)
			i.limits = limits{bytes: 1000, entries: 6}
			_, err := i.Install(t.Context(), wanted())
			require.Equal(t, c.want == "", finds(t, home))
			require.Empty(t, remains(t, home))
			if c.want != "" {
				require.ErrorContains(t, err, c.want)
				return
			}
			require.NoError(t, err)
			info, err := os.Stat(filepath.Join(home, "plugins", "resource-thing-v1.2.3", program))
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o755), info.Mode())
		})
	}
}

func TestWhatIsNoArchiveIsNotInstalled(t *testing.T) {
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{
		"a page of a proxy": {[]byte("<html>log in</html>"), "it is not a .tar.gz archive: it is a web page, perhaps one to log in at, or the message of a proxy"},
		"a zip archive":     {[]byte("PK\x03\x04xxxxxxxxxxx"), "it is not a .tar.gz archive: it is a .zip archive"},
		"half an archive":   {good(t)[:60], "the archive is cut off: it ends in the middle of a file"},
		"nothing":           {nil, `it begins with ""`},
	} {
		t.Run(name, func(t *testing.T) {
			n, home := newInternet(t), t.TempDir()
			n.has(mirrorHost+archiveName, c.content)
			_, err := n.installer(home, mirrored).Install(t.Context(), wanted())
			require.ErrorContains(t, err, c.want)
			require.False(t, finds(t, home))
			require.Empty(t, remains(t, home))
		})
	}
}
