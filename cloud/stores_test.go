package cloud

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sourcegraph/conc/iter"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/state/store"
	"github.com/sluice-iac/sluice/state/store/storetest"
	"github.com/sluice-iac/sluice/testing/emulatortest"
)

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
	everywhere(t, func(t *testing.T, at emulatortest.Store) {
		for _, prefix := range []string{"/team/a b", ""} { // the bucket has to be empty below it
			t.Run("prefix "+prefix, func(t *testing.T) {
				s := open(t, behind(t, at, prefix, emulatortest.Direct))
				storetest.Run(t, s)
				storetest.RunLog(t, s)
				storetest.RunAtomic(t, s)
			})
		}
	})
}

// everywhere runs a test for each object store, for all of them at once: client libraries wait before they repeat a request.
func everywhere(t *testing.T, f func(t *testing.T, at emulatortest.Store)) {
	for name, at := range emulatortest.Stores() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(t, at)
		})
	}
}

// behind starts an object store, directs the drivers to it, and returns the URL of a prefix in a bucket.
func behind(t *testing.T, at emulatortest.Store, prefix string, between emulatortest.Between) string {
	t.Helper()
	place := at.Start(t, prefix, between)
	place.Use(t)
	return place.URL
}

func TestALogIsReadWithOneRequestForEachSegment(t *testing.T) {
	everywhere(t, func(t *testing.T, at emulatortest.Store) {
		var reads atomic.Int32
		s := open(t, behind(t, at, "/team", func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !at.Lists(r) {
					reads.Add(1)
				}
				next.ServeHTTP(w, r)
			})
		}))
		l, whole := store.NewLog(s, "shop/dev.jnl"), "0 "
		require.NoError(t, l.Create(t.Context(), []byte(whole)))
		for n := 1; n < 25; n++ {
			text := fmt.Sprintf("%d ", n)
			whole += text
			require.NoError(t, l.Append(t.Context(), []byte(text)))
		}
		reads.Store(0)
		b, err := store.NewLog(s, "shop/dev.jnl").Read(t.Context())
		require.NoError(t, err)
		require.Equal(t, whole, string(b))
		require.EqualValues(t, 25, reads.Load())
	})
}

// The object stores list a thousand objects at a time, and a bucket may have more than that below the prefix.
func TestListsHaveMoreThanOnePage(t *testing.T) {
	everywhere(t, func(t *testing.T, at emulatortest.Store) {
		ctx := context.Background()
		var pages atomic.Int32
		s := open(t, behind(t, at, "/team", func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if at.Lists(r) {
					pages.Add(1)
				}
				next.ServeHTTP(w, r)
			})
		}))
		var want, among []string
		for i := range 1100 {
			key := fmt.Sprintf("many/%05d", i)
			want = append(want, key)
			if i%1000 > 990 { // around the end of a page
				among = append(among, key)
			}
		}
		others := []string{"many", "man/1", "many0/1", "nothing"} // before and after
		_, err := iter.Mapper[string, store.Info]{MaxGoroutines: 10}.MapErr(append(others, want...), func(key *string) (store.Info, error) {
			return s.Write(ctx, *key, []byte("1"), store.Condition{})
		})
		require.NoError(t, err)
		list := func(prefix string) (keys []string) {
			infos, err := s.List(ctx, prefix)
			require.NoError(t, err)
			for _, i := range infos {
				require.False(t, i.Modified.IsZero())
				keys = append(keys, i.Key)
			}
			return keys
		}
		require.Equal(t, want, list("many/"))
		require.EqualValues(t, 2, pages.Load())
		require.Len(t, list(""), len(want)+len(others))

		require.NoError(t, s.Remove(ctx, among...))
		require.Len(t, list("many/"), len(want)-len(among))
		infos, err := s.Stat(ctx, want...)
		require.NoError(t, err)
		require.Len(t, infos, len(want)-len(among))
	})
}

func TestNamesAreURLsWithoutParameters(t *testing.T) {
	require.Equal(t, "s3://states/team/.pulumi/x", open(t, behind(t, emulatortest.Stores()["s3"], "/team/", emulatortest.Direct)).Name(".pulumi/x"))
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

// Without a region the first request would fail with the SDK's rules for finding an endpoint.
func TestABucketNeedsARegion(t *testing.T) {
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_CONFIG_FILE", os.DevNull)
	_, err := Stores()["s3"](context.Background(), "s3://states/team", os.LookupEnv)
	require.EqualError(t, err, "backend URL s3://states: no AWS region is set; add ?region=REGION to the URL, or set AWS_REGION")
	s, err := Stores()["s3"](context.Background(), "s3://states/team?region=eu-west-1", os.LookupEnv)
	require.NoError(t, err)
	require.NoError(t, s.Close())
}
