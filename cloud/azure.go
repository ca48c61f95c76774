package cloud

import (
	"context"
	"net/url"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	azureblobs "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob" // registers its scheme: only this registered opener reads the environment

	"github.com/sluice-iac/sluice/state/store/objects"
)

// openAzure uses the credentials that the driver finds: the AZURE_STORAGE_* variables, else the default ones.
func openAzure(ctx context.Context, u *url.URL, _ environment) (*blob.Bucket, objects.Options, error) {
	bucket, err := blob.DefaultURLMux().OpenBucketURL(ctx, u)
	// If a write fails whose content was passed piece by piece, the driver panics.
	return bucket, objects.Options{Match: matchAzure, Whole: true}, err
}

func matchAzure(as func(any) bool, etag string) bool {
	var request *azblob.UploadStreamOptions
	if !as(&request) {
		return false
	}
	tag := azcore.ETag(etag)
	request.AccessConditions = &azblob.AccessConditions{
		ModifiedAccessConditions: &azureblobs.ModifiedAccessConditions{IfMatch: &tag},
	}
	return true
}
