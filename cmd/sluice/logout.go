package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cloud"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/backend/service"
	"github.com/sluice-iac/sluice/state/backend/workspace"
)

func newLogoutCommand(t *terminal.Terminal) *cobra.Command {
	var all, local, key bool
	var cloudURL string
	cmd := &cobra.Command{
		Use:   "logout [url]",
		Short: "Forget a backend",
		Long:  "Forget the present backend, or the one with the given URL. Nothing in the backend is changed.",
		Args:  rangeArgs(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			url := cloudURL
			switch {
			case len(args) == 1 && (cloudURL != "" || local || all), local && (cloudURL != "" || all), all && cloudURL != "":
				return exit.Usagef("name one backend: as an argument, with --cloud-url, --local or --all")
			case len(args) == 1:
				url = args[0]
			case local:
				url = host.LocalBackendURL
			}
			if key && !all {
				return exit.Usagef("--delete-credentials-key requires --all: the key encrypts the credentials of all backends")
			}
			if all {
				return logoutOfAll(t, key)
			}
			return logout(t, url)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "forget all backends")
	cmd.Flags().BoolVar(&key, "delete-credentials-key", false, "with --all: also delete the key of encrypted credentials from the key store of the system; other credentials files become unreadable")
	cmd.Flags().BoolVarP(&local, "local", "l", false, "forget file://~")
	cmd.Flags().StringVarP(&cloudURL, "cloud-url", "c", "", "the URL of the backend, as the argument")
	return cmd
}

// logoutOfAll removes the credentials file, even one that cannot be read.
func logoutOfAll(t *terminal.Terminal, key bool) error {
	home, err := workspace.Home(t.Lookup)
	if err != nil {
		return err
	}
	credentials := workspace.NewCredentials(home, t.Lookup)
	urls, err := credentials.URLs()
	if err != nil {
		t.Warn("the credentials are removed, and cannot be read: %v", err)
	}
	if err := credentials.Forget(key); err != nil {
		return err
	}
	for _, u := range urls {
		fmt.Fprintf(t.Out, "Logged out of %s\n", backend.MaskURL(u))
	}
	return nil
}

func logout(t *terminal.Terminal, url string) error {
	home, err := workspace.Home(t.Lookup)
	if err != nil {
		return err
	}
	credentials := workspace.NewCredentials(home, t.Lookup)
	if url == "" {
		if url, err = credentials.Current(); err != nil {
			return err
		}
		if url == "" {
			return fmt.Errorf("not logged in")
		}
	} else if err := checkBackend(credentials, url); err != nil {
		return err
	}
	if service.Handles(url) {
		url = service.Address(url)
	}
	if err := credentials.Logout(url); err != nil {
		return err
	}
	_, err = fmt.Fprintf(t.Out, "Logged out of %s\n", backend.MaskURL(url))
	return err
}

// checkBackend refuses a URL that cannot be that of a backend, unless there was a login to it.
func checkBackend(c workspace.Credentials, url string) error {
	scheme, _, has := strings.Cut(url, "://")
	if _, known := cloud.Stores()[scheme]; service.Handles(url) || has && (known || scheme == "file") {
		return nil
	}
	if urls, err := c.URLs(); err != nil || slices.Contains(urls, url) {
		return err
	}
	return exit.Usagef("log out of %s: there are no backends with such a URL; `sluice login --help` lists the forms that there are", backend.MaskURL(url))
}
