package cloud

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	"gocloud.dev/blob"
	"gocloud.dev/blob/s3blob"

	"github.com/sluice-iac/sluice/state/store/objects"
)

func openS3(ctx context.Context, u *url.URL, env environment) (*blob.Bucket, objects.Options, error) {
	u.RawQuery = s3Parameters(u.Query(), env).Encode()
	bucket, err := new(s3blob.URLOpener).OpenBucketURL(ctx, u)
	if err != nil {
		return nil, objects.Options{}, err
	}
	if err := checkRegion(bucket); err != nil {
		return nil, objects.Options{}, errors.Join(err, bucket.Close())
	}
	return bucket, objects.Options{Match: matchS3, BeforeCopy: copyS3, Refused: refusedS3}, nil
}

// checkRegion refuses a bucket without a configured region. Otherwise the first request would fail with an error about
// endpoint rules.
func checkRegion(bucket *blob.Bucket) error {
	var client *s3.Client
	if bucket.As(&client) && client.Options().Region == "" {
		return errors.New("no AWS region is set; add ?region=REGION to the URL, or set AWS_REGION")
	}
	return nil
}

// s3Parameters adapts the parameters that earlier versions of Pulumi accepted, and the defaults for endpoints other
// than Amazon's (state.md 4.2).
func s3Parameters(q url.Values, env environment) url.Values {
	if q.Has("disableSSL") {
		q.Set("disable_https", q.Get("disableSSL"))
		q.Del("disableSSL")
	}
	endpoint := q.Get("endpoint")
	if endpoint == "" {
		return q
	}
	if !strings.Contains(endpoint, "://") {
		scheme := "https://"
		if v := q.Get("disable_https"); v == "true" || v == "1" {
			scheme = "http://"
		}
		q.Set("endpoint", scheme+endpoint)
	}
	// Many other servers do not support the checksums that the SDK sends by default.
	if !q.Has("request_checksum_calculation") && env.get("AWS_REQUEST_CHECKSUM_CALCULATION") == "" {
		q.Set("request_checksum_calculation", "when_required")
	}
	if !q.Has("response_checksum_validation") && env.get("AWS_RESPONSE_CHECKSUM_VALIDATION") == "" {
		q.Set("response_checksum_validation", "when_required") // by default the SDK warns about every answer without one
	}
	return q
}

func matchS3(as func(any) bool, etag string) bool {
	var request *transfermanager.UploadObjectInput
	if !as(&request) {
		return false
	}
	request.IfMatch = &etag
	return true
}

// copyS3 names the source of a copy with plain slashes, because some servers do not accept %2F.
func copyS3(as func(any) bool) error {
	var request *s3.CopyObjectInput
	if as(&request) && request.CopySource != nil {
		source := strings.ReplaceAll(*request.CopySource, "%2F", "/")
		request.CopySource = &source
	}
	return nil
}

// refusedS3 reports whether a server does not implement a condition.
func refusedS3(err error) bool {
	var e smithy.APIError
	return errors.As(err, &e) && e.ErrorCode() == "NotImplemented"
}
