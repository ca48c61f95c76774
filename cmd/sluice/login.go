package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cloud"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/backend/service"
	"github.com/sluice-iac/sluice/state/backend/workspace"
)

func newLoginCommand(t *terminal.Terminal) *cobra.Command {
	var local, insecure, asJSON, interactive bool
	var cloudURL, organization string
	cmd := &cobra.Command{
		Use:   "login [url]",
		Short: "Choose the backend, which keeps state",
		Long: "Choose the backend, which keeps the states of stacks. The choice applies to every project that does not name a\n" +
			"backend itself:\n\n" +
			"  sluice login --local                       in the home directory, as file://~\n" +
			"  sluice login file:///srv/states            in a directory\n" +
			"  sluice login s3://bucket/team?region=…     in an object store: s3://, gs://, azblob://\n" +
			"  sluice login postgres://host/database      in a table of a PostgreSQL database\n" +
			"  sluice login                               at Pulumi's service, https://api.pulumi.com\n" +
			"  sluice login https://pulumi.example.com    at your own server with the same interface\n\n" +
			"A service requires an access token. The command takes it from PULUMI_ACCESS_TOKEN or asks for it, and stores it in the\n" +
			"credentials file. Pulumi uses the same file, so both tools are logged in to the same backend.",
		Args: rangeArgs(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			url := cloudURL
			switch {
			case len(args) == 1 && (cloudURL != "" || local), local && cloudURL != "":
				return exit.Usagef("name one backend: as an argument, with --cloud-url, or with --local")
			case len(args) == 1:
				url = args[0]
			case local:
				url = host.LocalBackendURL
			}
			if url == "" && interactive {
				var err error
				if url, err = askForBackend(cmd.Context(), t); err != nil {
					return err
				}
			}
			return login(cmd.Context(), t, url, serviceLogin{insecure: insecure, organization: organization}, asJSON)
		},
	}
	cmd.Flags().BoolVarP(&local, "local", "l", false, "keep state in the home directory, as file://~")
	cmd.Flags().StringVarP(&cloudURL, "cloud-url", "c", "", "the URL of the backend, as the argument")
	cmd.Flags().BoolVar(&insecure, "insecure", false, "do not verify the certificate of the service, until the next login there")
	cmd.Flags().StringVar(&organization, "default-org", "", "the organization of stacks that are named without one")
	cmd.Flags().BoolVar(&interactive, "interactive", false, "choose one of the backends that have been logged in to")
	flags.AddJSON(cmd.Flags(), &asJSON, "write JSON")
	return cmd
}

// askForBackend has the user choose one of the backends that the credentials know. It returns "" if they know none.
func askForBackend(ctx context.Context, t *terminal.Terminal) (string, error) {
	if !t.Interactive() {
		return "", exit.Usagef("--interactive needs a terminal; name a backend instead")
	}
	home, err := workspace.Home(t.Lookup)
	if err != nil {
		return "", err
	}
	credentials := workspace.NewCredentials(home, t.Lookup)
	urls, err := credentials.URLs()
	if err != nil || len(urls) == 0 {
		return "", err
	}
	current, err := credentials.Current()
	if err != nil {
		return "", err
	}
	at, err := terminal.Choose(ctx, t, "Which backend?", urls, max(0, slices.Index(urls, current)))
	if errors.Is(err, terminal.ErrInterrupted) {
		return "", exit.Cancelledf("no backend was chosen")
	}
	if err != nil {
		return "", err
	}
	return urls[at], nil
}

// serviceLogin is what counts only for a service.
type serviceLogin struct {
	insecure     bool
	organization string
}

// publicService is the address of the service that most people mean.
const publicService = "https://api.pulumi.com"

func login(ctx context.Context, t *terminal.Terminal, url string, at serviceLogin, asJSON bool) error {
	home, err := workspace.Home(t.Lookup)
	if err != nil {
		return err
	}
	if url == "" {
		if url = t.Env("PULUMI_BACKEND_URL"); url == "" {
			url = publicService
		}
	}
	if service.Handles(url) {
		return loginToService(ctx, t, home, service.Address(url), at, asJSON)
	}
	if at != (serviceLogin{}) {
		return exit.Usagef("--insecure and --default-org are for a service, and %s is none", backend.MaskURL(url))
	}
	b, err := host.OpenBackend(ctx, host.BackendOptions{URL: url, LookupEnv: t.Lookup, Stores: cloud.Stores()})
	if err != nil {
		return err
	}
	if err := b.Close(); err != nil {
		return err
	}
	if err := workspace.NewCredentials(home, t.Lookup).Login(url); err != nil {
		return err
	}
	who, err := session.IdentityAt(ctx, t, url)
	if err != nil {
		return err
	}
	return sayLogin(t, who, asJSON)
}

func sayLogin(t *terminal.Terminal, who session.Identity, asJSON bool) error {
	if asJSON {
		return format.JSON(t.Data(), who)
	}
	_, err := fmt.Fprintf(t.Out, "Logged in to %s as %s\n", who.URL, who.User)
	return err
}

// loginToService logs in with the access token of the environment, with one that is known, or with one that the user types.
func loginToService(ctx context.Context, t *terminal.Terminal, home, url string, at serviceLogin, asJSON bool) error {
	given := service.TokenOf(t.Lookup)
	token := given
	if token == "" {
		account, err := workspace.NewCredentials(home, t.Lookup).Account(url)
		if err != nil {
			return err
		}
		token = account.AccessToken
	}
	o := service.Options{Home: home}
	o.URL, o.Environment, o.Version = url, t.Lookup, sluice.Version
	o.Note = t.WarnWith
	who, err := service.Identity{}, service.ErrLoggedOut
	if token != "" {
		who, err = service.Login(ctx, o, token, at.insecure)
	}
	if service.MayAskForToken(err) && given == "" && t.Interactive() {
		if token, err = t.AskHidden(ctx, fmt.Sprintf("Enter an access token for %s: ", url)); err != nil {
			return err
		}
		who, err = service.Login(ctx, o, strings.TrimSpace(token), at.insecure)
	}
	if err != nil {
		return err
	}
	if at.organization != "" {
		if err := workspace.NewConfig(home).SetDefaultOrganization(url, at.organization); err != nil {
			return err
		}
	}
	return sayLogin(t, session.Identity{User: who.User, Organizations: who.Organizations, URL: url}, asJSON)
}
