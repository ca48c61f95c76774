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
			"backend itself, unless PULUMI_BACKEND_URL is set:\n\n" +
			"  sluice login --local                       in the home directory, as file://~\n" +
			"  sluice login file:///srv/states            in a directory\n" +
			"  sluice login s3://bucket/team?region=…     in an object store: s3://, gs://, azblob://\n" +
			"  sluice login postgres://host/database      in a table of a PostgreSQL database\n" +
			"  sluice login https://api.pulumi.com        at Pulumi's service\n" +
			"  sluice login https://pulumi.example.com    at your own server with the same interface\n\n" +
			"Without a URL, the backend is the one that PULUMI_BACKEND_URL, the project or the latest login names, else Pulumi's\n" +
			"service.\n\n" +
			"A service requires an access token. The command takes it from PULUMI_ACCESS_TOKEN or asks for it, and stores it in the\n" +
			"credentials file. Pulumi uses the same file, so both tools are logged in to the same backend. With\n" +
			"PULUMI_CREDENTIAL_STORE=os the file is encrypted with a key in the key store of the operating system, with auto if\n" +
			"there is such a store. It then stays encrypted until a login with plaintext.",
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
			from, err := configured(t, &url)
			if err != nil {
				return err
			}
			if err := login(cmd.Context(), t, url, serviceLogin{insecure: insecure, organization: organization}, asJSON); err != nil {
				return from.explain(url, err)
			}
			return from.note(t, url, asJSON)
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

// configuration is where the backends that a login and other commands use are from.
type configuration struct {
	given   bool // the user has named the backend of the login
	origin  workspace.Origin
	url     string // of the backend that other commands use in this directory
	project string // the project file, "" if there is none
}

// configured sets url, if it is empty, to the URL of the configured backend, or of Pulumi's service.
func configured(t *terminal.Terminal, url *string) (configuration, error) {
	home, err := workspace.Home(t.Lookup)
	if err != nil {
		return configuration{}, err
	}
	c := configuration{given: *url != ""}
	var fromProject string
	if project, err := session.FindProject(); err == nil { // otherwise the login is for other projects
		c.project, fromProject = project.Path, project.BackendURL
	}
	c.url, c.origin, err = workspace.NewCredentials(home, t.Lookup).BackendURL(t.Lookup, fromProject)
	switch {
	case c.given: // credentials that cannot be read are replaced, or refused when they are written
		return c, nil
	case errors.Is(err, workspace.ErrNoBackend):
		*url = publicService
		return c, nil
	}
	*url = c.url
	return c, err
}

// place describes where the configured backend is from, and why a login does not change it.
func (c configuration) place() string {
	switch c.origin {
	case workspace.FromEnvironment:
		return "PULUMI_BACKEND_URL, which takes precedence over a login"
	case workspace.FromProject:
		return "backend.url in " + format.Printable(c.project) + ", which takes precedence over a login"
	}
	return "the latest login"
}

// explain adds the backend to the error of a login, and where it is from if the user has not named it.
func (c configuration) explain(url string, err error) error {
	at := backend.MaskURL(url)
	if c.given || c.origin == workspace.FromNowhere {
		return fmt.Errorf("log in to %s: %w", at, err)
	}
	return fmt.Errorf("log in to %s: %w\nThis backend is the one of %s; name another one as an argument, or change it there", at, err, c.place())
}

// note prints where the backend is from, if the user has not named it, and warns if commands here use another one.
func (c configuration) note(t *terminal.Terminal, url string, asJSON bool) error {
	overrules := c.origin == workspace.FromEnvironment || c.origin == workspace.FromProject
	switch {
	case c.given && overrules && c.url != url && !asJSON:
		t.Warn("commands in this directory use %s: that is the backend of %s", backend.MaskURL(c.url), c.place())
	case !c.given && c.origin != workspace.FromNowhere && !asJSON:
		_, err := fmt.Fprintf(t.Out, "This is the backend of %s.\n", c.place())
		return err
	}
	return nil
}

// askForBackend lets the user choose one of the backends in the credentials. It returns "" if there are none.
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

// serviceLogin has the options that only a service uses.
type serviceLogin struct {
	insecure     bool
	organization string
}

// publicService is the address of the default service.
const publicService = "https://api.pulumi.com"

func login(ctx context.Context, t *terminal.Terminal, url string, at serviceLogin, asJSON bool) error {
	home, err := workspace.Home(t.Lookup)
	if err != nil {
		return err
	}
	if service.Handles(url) {
		return loginToService(ctx, t, home, service.Address(url), at, asJSON)
	}
	if at != (serviceLogin{}) {
		return exit.Usagef("--insecure and --default-org are only for a service, and %s is not a service", backend.MaskURL(url))
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

// loginToService logs in with the access token of the environment, with a stored one, or with one that the user types.
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
