package api

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// witness is a server that records its requests.
type witness struct {
	*httptest.Server
	mu   sync.Mutex // guards seen
	seen []*http.Request
}

func newWitness(t *testing.T, start func(http.Handler) *httptest.Server, answer http.HandlerFunc) *witness {
	w := &witness{}
	w.Server = start(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.seen = append(w.seen, r)
		w.mu.Unlock()
		answer(out, r)
	}))
	t.Cleanup(w.Close)
	return w
}

func (w *witness) requests() []*http.Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen
}

func client(t *testing.T, url string, insecure bool) *Client {
	c, err := New(Options{URL: url, Token: "pul-secret", Insecure: insecure, Patience: time.Second, Pause: time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// A call with an invalid token is not made, and the error does not contain the token.
func TestTokensThatCannotBeSentAreRefused(t *testing.T) {
	for _, token := range []string{"pul-secret\n", "pul secret", "pul-\x01", "pul-\u00fc"} {
		_, err := New(Options{URL: "https://api.pulumi.com", Token: token})
		require.ErrorContains(t, err, "the access token is none", "%q", token)
		require.NotContains(t, err.Error(), token)
	}
	for _, url := range []string{"https://api.pulumi.com?x=1", "https://api.pulumi.com/#x", "https://", "ftp://x", "https://user:hunter2@x"} {
		_, err := New(Options{URL: url, Token: "pul-secret"})
		require.ErrorContains(t, err, "address of a service", url)
		require.NotContains(t, err.Error(), "hunter2", url)
	}
}

// Neither the access token nor a lease token goes to another origin, whatever the status of the redirect.
func TestRedirectsCarryNoTokenElsewhere(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		elsewhere := newWitness(t, httptest.NewServer, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"githubLogin": "mallory"}`) })
		for _, target := range []string{elsewhere.URL, strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1)} {
			service := newWitness(t, httptest.NewServer, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target+r.URL.Path, status) })
			c := client(t, service.URL, false)
			_, err := c.User(t.Context())
			require.ErrorContains(t, err, "does not follow")
			require.NotContains(t, err.Error(), "pul-secret")
			l := &Lease{Update: UpdateID{Stack: StackID{"o", "p", "s"}, ID: "u"}, token: "lease-secret"}
			err = c.Renew(t.Context(), l, LeaseTime)
			require.ErrorContains(t, err, "does not follow")
			require.NotContains(t, err.Error(), "lease-secret")
			require.Len(t, service.requests(), 2)
			require.Equal(t, "token pul-secret", service.requests()[0].Header.Get("Authorization"))
		}
		require.Empty(t, elsewhere.requests())
	}
}

func TestDownloadsHaveNoToken(t *testing.T) {
	store := newWitness(t, httptest.NewTLSServer, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "pack") })
	service := newWitness(t, httptest.NewTLSServer, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, store.URL+"/pack?signature=s3cret", http.StatusFound)
	})
	c := client(t, service.URL, true)
	for _, location := range []string{store.URL + "/pack?signature=s3cret", service.URL + "/pack"} {
		body, err := c.Download(t.Context(), location)
		require.NoError(t, err)
		text, err := io.ReadAll(body)
		require.NoError(t, err)
		require.NoError(t, body.Close())
		require.Equal(t, "pack", string(text))
	}
	for _, r := range append(store.requests(), service.requests()...) {
		require.Empty(t, r.Header.Get("Authorization"))
	}
}

// After a reference over an encrypted connection, the download is encrypted as well, and no error contains the address, which is a
// permission.
func TestDownloadsOfAServiceAreEncrypted(t *testing.T) {
	plain := newWitness(t, httptest.NewServer, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "evil") })
	service := newWitness(t, httptest.NewTLSServer, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/refers" {
			http.Redirect(w, r, plain.URL+"/pack?signature=s3cret", http.StatusFound)
			return
		}
		w.WriteHeader(http.StatusForbidden)
	})
	c := client(t, service.URL, true)
	for _, location := range []string{plain.URL + "/pack?signature=s3cret", service.URL + "/refers", service.URL + "/forbidden?signature=s3cret", "ftp://host/s3cret", ""} {
		_, err := c.Download(t.Context(), location)
		require.Error(t, err, location)
		require.NotContains(t, err.Error(), "s3cret")
	}
	require.Empty(t, plain.requests())
	_, err := client(t, service.URL, false).Download(t.Context(), service.URL+"/forbidden") // its certificate is unknown
	require.ErrorContains(t, err, "certificate")
}
