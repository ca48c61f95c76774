package cloud

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"cloud.google.com/go/storage"
	"gocloud.dev/blob"
	"gocloud.dev/blob/gcsblob"
	"gocloud.dev/gcp"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
	"google.golang.org/api/option"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/state/store/objects"
)

// googleTokens returns the credentials for Google's services: the JSON text in GOOGLE_CREDENTIALS, else the token in
// GOOGLE_OAUTH_ACCESS_TOKEN, else the credentials of the machine (state.md 4.2).
func googleTokens(ctx context.Context, env environment) (gcp.TokenSource, error) {
	if text := env.get(envGoogleCredentials); text != "" {
		const scope = "https://www.googleapis.com/auth/cloud-platform"
		var chosen struct{ Type google.CredentialsType } // the user sets the variable, and could as well run the program
		err := json.Unmarshal([]byte(text), &chosen)
		var c *google.Credentials
		if err == nil {
			c, err = google.CredentialsFromJSONWithType(ctx, []byte(text), chosen.Type, scope)
		}
		if err != nil {
			return nil, fmt.Errorf("the variable %s: %w", envGoogleCredentials, err)
		}
		return c.TokenSource, nil
	}
	if token := env.get(envGoogleToken); token != "" {
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
	transport := repeating{gcp.DefaultTransport()}
	client := gcp.NewAnonymousHTTPClient(transport)
	if env.get("STORAGE_EMULATOR_HOST") == "" {
		tokens, err := googleTokens(ctx, env)
		if err != nil {
			return nil, options, err
		}
		if client, err = gcp.NewHTTPClient(transport, tokens); err != nil {
			return nil, options, err
		}
	}
	opener := &gcsblob.URLOpener{Client: client}
	if env.get("STORAGE_EMULATOR_HOST") != "" { // the driver has its own client for emulators
		opener.Options.ClientOptions = []option.ClientOption{option.WithHTTPClient(&client.Client)}
	}
	bucket, err := opener.OpenBucketURL(ctx, u)
	if err != nil {
		return nil, options, err
	}
	// By default the library repeats a read until the server answers.
	var service *storage.Client
	if bucket.As(&service) {
		service.SetRetry(storage.WithMaxAttempts(attempts))
	}
	return bucket, options, nil
}

// attempts is how often a request to Google's object store is sent. The library does not repeat a write whose reply is lost.
const attempts = 3

// repeating sends a request again that got no reply, as the drivers of the other object stores do. Every request of a store may
// be repeated: objects are written, copied and removed as a whole, and a conditional write recognises its own earlier success.
type repeating struct{ http.RoundTripper }

func (r repeating) RoundTrip(request *http.Request) (*http.Response, error) {
	var body []byte
	if request.Body != nil {
		var err error
		if body, err = io.ReadAll(request.Body); err != nil {
			return nil, errors.Join(err, request.Body.Close())
		}
		if err := request.Body.Close(); err != nil {
			return nil, err
		}
	}
	for attempt := 1; ; attempt++ {
		again := request.Clone(request.Context())
		if request.Body != nil {
			again.Body = io.NopCloser(bytes.NewReader(body))
		}
		reply, err := r.RoundTripper.RoundTrip(again)
		if err == nil || attempt == attempts {
			return reply, err
		}
		if await.For(request.Context(), time.Duration(attempt)*500*time.Millisecond) != nil {
			return nil, err
		}
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
