package cloud

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"gocloud.dev/blob"
	"gocloud.dev/blob/memblob"

	"github.com/sluice-iac/sluice/state/store"
	"github.com/sluice-iac/sluice/state/store/objects"
	"github.com/sluice-iac/sluice/state/store/postgres"
)

// Stores returns the openers of backend URLs, by scheme ([state.md 4.2]): s3, gs, azblob, postgres and mem. The contents
// of mem live as long as the returned map.
//
// [state.md 4.2]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#42-urls
func Stores() map[string]store.Opener {
	return map[string]store.Opener{
		"s3":       bucketOpener(openS3),
		"gs":       bucketOpener(openGCS),
		"azblob":   bucketOpener(openAzure),
		"mem":      memory(),
		"postgres": postgres.Open,
	}
}

// environment looks up a variable, like [os.LookupEnv].
type environment func(name string) (string, bool)

func (e environment) get(name string) string {
	v, _ := e(name)
	return v
}

// bucketOpener opens the bucket that the host of a URL names. The path is the prefix of all keys.
func bucketOpener(open func(context.Context, *url.URL, environment) (*blob.Bucket, objects.Options, error)) store.Opener {
	return func(ctx context.Context, text string, lookup func(string) (string, bool)) (store.Store, error) {
		u, err := url.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("backend URL: %w", err)
		}
		shown := u.Scheme + "://" + u.Host
		if u.Host == "" {
			return nil, fmt.Errorf("backend URL %q: write the name of the bucket after ://", text)
		}
		prefix := strings.Trim(u.Path, "/")
		bare := *u
		bare.Path = ""
		bucket, options, err := open(ctx, &bare, lookup)
		if err != nil {
			return nil, fmt.Errorf("backend URL %s: %w", shown, err)
		}
		if prefix != "" {
			bucket = blob.PrefixedBucket(bucket, prefix+"/")
			shown += "/" + prefix
		}
		options.URL = shown
		return objects.New(bucket, options), nil
	}
}

// memory opens buckets in memory, one for each name.
func memory() store.Opener {
	var mu sync.Mutex // guards buckets
	buckets := map[string]store.Store{}
	return func(_ context.Context, text string, _ func(string) (string, bool)) (store.Store, error) {
		mu.Lock()
		defer mu.Unlock()
		if buckets[text] == nil {
			buckets[text] = keptOpen{objects.New(memblob.OpenBucket(nil), objects.Options{URL: text})}
		}
		return buckets[text], nil
	}
}

// keptOpen is a store that several callers share. Closing it does nothing.
type keptOpen struct{ store.Store }

func (keptOpen) Close() error { return nil }

// ErrNoViews is the error for a backend that is no database.
var ErrNoViews = errors.New("only PostgreSQL backends have views")

// Views returns the SQL statements that make views of the states in the database that a backend URL names, or [ErrNoViews].
func Views(url string) (string, error) {
	if scheme, _, _ := strings.Cut(url, ":"); scheme != "postgres" {
		return "", ErrNoViews
	}
	return postgres.Views(url)
}
