package cloud

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/state/store"
	"github.com/sluice-iac/sluice/state/store/storetest"
)

// s3Server starts an object store on a loopback port and returns the URL of a prefix in its bucket.
func s3Server(t *testing.T, prefix string) string {
	return s3Behind(t, prefix, func(h http.Handler) http.Handler { return h })
}

// s3Behind is s3Server with something between the clients and the object store.
func s3Behind(t *testing.T, prefix string, between func(http.Handler) http.Handler) string {
	t.Helper()
	backend := s3mem.New()
	require.NoError(t, backend.CreateBucket("states"))
	server := httptest.NewServer(between(gofakes3.New(backend).Server()))
	t.Cleanup(server.Close)
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "key")
	address, err := url.Parse(server.URL)
	require.NoError(t, err)
	return "s3://states" + prefix + "?region=eu-central-1&endpoint=" + address.Host + "&disableSSL=true&s3ForcePathStyle=true"
}

func open(t *testing.T, text string) store.Store {
	t.Helper()
	u, err := url.Parse(text)
	require.NoError(t, err)
	s, err := Stores()[u.Scheme](context.Background(), text, os.LookupEnv)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func TestBucketsAreStores(t *testing.T) {
	t.Run("memory", func(t *testing.T) { // where the condition is checked before the write
		s := open(t, "mem://")
		storetest.Run(t, s)
		storetest.RunLog(t, s)
	})
	for name, at := range services() {
		t.Run(name, func(t *testing.T) {
			for _, prefix := range []string{"/team/a b", ""} { // the bucket has to be empty below it
				t.Run("prefix "+prefix, func(t *testing.T) {
					s := open(t, at.behind(t, prefix, direct))
					storetest.Run(t, s)
					storetest.RunLog(t, s)
					storetest.RunAtomic(t, s)
				})
			}
		})
	}
}

func TestNamesAreURLsWithoutParameters(t *testing.T) {
	require.Equal(t, "s3://states/team/.pulumi/x", open(t, s3Server(t, "/team/")).Name(".pulumi/x"))
}

func TestS3Parameters(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	for text, want := range map[string]string{
		"region=x":                       "region=x",
		"endpoint=h:1":                   "endpoint=https%3A%2F%2Fh%3A1&request_checksum_calculation=when_required&response_checksum_validation=when_required",
		"endpoint=h:1&disableSSL=true":   "disable_https=true&endpoint=http%3A%2F%2Fh%3A1&request_checksum_calculation=when_required&response_checksum_validation=when_required",
		"endpoint=http://h&disableSSL=1": "disable_https=1&endpoint=http%3A%2F%2Fh&request_checksum_calculation=when_required&response_checksum_validation=when_required",
		"endpoint=http://h&request_checksum_calculation=when_supported": "endpoint=http%3A%2F%2Fh&request_checksum_calculation=when_supported&response_checksum_validation=when_required",
	} {
		q, err := url.ParseQuery(text)
		require.NoError(t, err)
		require.Equal(t, want, s3Parameters(q, none).Encode(), text)
	}
	set := func(name string) (string, bool) { return "x", strings.HasPrefix(name, "AWS_RE") }
	require.Equal(t, "endpoint=http%3A%2F%2Fh", s3Parameters(url.Values{"endpoint": {"http://h"}}, set).Encode())
}

func TestBackendURLsOfBucketsNeedABucket(t *testing.T) {
	_, err := Stores()["s3"](context.Background(), "s3:///x", nil)
	require.ErrorContains(t, err, "write the name of the bucket")
}
