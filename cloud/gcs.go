package cloud

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"

	"cloud.google.com/go/storage"
	"gocloud.dev/blob"
	"gocloud.dev/blob/gcsblob"
	"gocloud.dev/gcp"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/sluice-iac/sluice/state/store/objects"
)

// googleTokens returns the credentials for Google's services: the JSON text in GOOGLE_CREDENTIALS, else the token in
// GOOGLE_OAUTH_ACCESS_TOKEN, else the credentials of the machine (state.md 4.2).
func googleTokens(ctx context.Context, env environment) (gcp.TokenSource, error) {
	if text := env.get("GOOGLE_CREDENTIALS"); text != "" {
		const scope = "https://www.googleapis.com/auth/cloud-platform"
		var chosen struct{ Type google.CredentialsType } // by the user who sets the variable, who could also run the program
		err := json.Unmarshal([]byte(text), &chosen)
		var c *google.Credentials
		if err == nil {
			c, err = google.CredentialsFromJSONWithType(ctx, []byte(text), chosen.Type, scope)
		}
		if err != nil {
			return nil, fmt.Errorf("the variable GOOGLE_CREDENTIALS: %w", err)
		}
		return c.TokenSource, nil
	}
	if token := env.get("GOOGLE_OAUTH_ACCESS_TOKEN"); token != "" {
		return oauth2.StaticTokenSource(&oauth2.Token{AccessToken: token}), nil
	}
	c, err := gcp.DefaultCredentials(ctx)
	if err != nil {
		return nil, err
	}
	return c.TokenSource, nil
}

func openGCS(ctx context.Context, u *url.URL, env environment) (*blob.Bucket, objects.Options, error) {
	options := objects.Options{Revision: generation, Match: matchGCS}
	client := gcp.NewAnonymousHTTPClient(gcp.DefaultTransport())
	if env.get("STORAGE_EMULATOR_HOST") == "" {
		tokens, err := googleTokens(ctx, env)
		if err != nil {
			return nil, options, err
		}
		if client, err = gcp.NewHTTPClient(gcp.DefaultTransport(), tokens); err != nil {
			return nil, options, err
		}
	}
	bucket, err := (&gcsblob.URLOpener{Client: client}).OpenBucketURL(ctx, u)
	if err != nil {
		return nil, options, err
	}
	limitRetries(bucket)
	return bucket, options, nil
}

// limitRetries gives up after some seconds, as the other drivers do. By default the library repeats requests for as long as a server
// does not answer.
func limitRetries(bucket *blob.Bucket) {
	var client *storage.Client
	if bucket.As(&client) {
		client.SetRetry(storage.WithMaxAttempts(5))
	}
}

// generation returns a text that identifies the present content of an object.
func generation(a *blob.Attributes) string {
	var object storage.ObjectAttrs
	if !a.As(&object) {
		return a.ETag
	}
	return strconv.FormatInt(object.Generation, 10)
}

func matchGCS(as func(any) bool, revision string) bool {
	generation, err := strconv.ParseInt(revision, 10, 64)
	var object **storage.ObjectHandle
	if err != nil || !as(&object) {
		return false
	}
	*object = (*object).If(storage.Conditions{GenerationMatch: generation})
	return true
}
