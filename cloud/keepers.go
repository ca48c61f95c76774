package cloud

import (
	"context"

	"gocloud.dev/secrets"
	_ "gocloud.dev/secrets/awskms"        // registers its scheme
	_ "gocloud.dev/secrets/azurekeyvault" // registers its scheme
	"gocloud.dev/secrets/gcpkms"
	_ "gocloud.dev/secrets/hashivault" // registers its scheme

	statesecrets "github.com/sluice-iac/sluice/state/secrets"
)

// Keepers returns the openers of the keys of key services, by scheme ([state.md 5.4]): awskms, azurekeyvault, gcpkms and
// hashivault.
//
// [state.md 5.4]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#54-key-services
func Keepers() map[string]statesecrets.KeeperOpener {
	return map[string]statesecrets.KeeperOpener{
		"awskms": openKeeper, "azurekeyvault": openKeeper, "hashivault": openKeeper, "gcpkms": openGoogleKeeper,
	}
}

func openKeeper(ctx context.Context, url string, _ func(string) (string, bool)) (statesecrets.Keeper, error) {
	return secrets.OpenKeeper(ctx, url)
}

// openGoogleKeeper uses the credentials in the environment, as object stores do.
func openGoogleKeeper(ctx context.Context, url string, lookup func(string) (string, bool)) (statesecrets.Keeper, error) {
	env := environment(lookup)
	if env.get(envGoogleCredentials) == "" && env.get(envGoogleToken) == "" {
		return secrets.OpenKeeper(ctx, url)
	}
	tokens, err := googleTokens(ctx, env)
	if err != nil {
		return nil, err
	}
	client, closeClient, err := gcpkms.Dial(ctx, tokens)
	if err != nil {
		return nil, err
	}
	mux := new(secrets.URLMux)
	mux.RegisterKeeper(gcpkms.Scheme, &gcpkms.URLOpener{Client: client})
	keeper, err := mux.OpenKeeper(ctx, url)
	if err != nil {
		closeClient()
		return nil, err
	}
	return closingKeeper{keeper, closeClient}, nil
}

// closingKeeper also closes its client.
type closingKeeper struct {
	*secrets.Keeper
	closeClient func()
}

func (k closingKeeper) Close() error {
	defer k.closeClient()
	return k.Keeper.Close()
}
