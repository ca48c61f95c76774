package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/backend/service"
	"github.com/sluice-iac/sluice/state/backend/workspace"
)

func newLogoutCommand(t *terminal.Terminal) *cobra.Command {
	var all, local bool
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
			return logout(t, url, all)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "forget all backends")
	cmd.Flags().BoolVarP(&local, "local", "l", false, "forget file://~")
	cmd.Flags().StringVarP(&cloudURL, "cloud-url", "c", "", "the URL of the backend, as the argument")
	return cmd
}

func logout(t *terminal.Terminal, url string, all bool) error {
	home, err := workspace.Home(t.Lookup)
	if err != nil {
		return err
	}
	credentials := workspace.NewCredentials(home, t.Lookup)
	urls := []string{url}
	switch {
	case all:
		if urls, err = credentials.URLs(); err != nil {
			return err
		}
	case url == "":
		if urls[0], err = credentials.Current(); err != nil {
			return err
		}
		if urls[0] == "" {
			return fmt.Errorf("not logged in")
		}
	}
	for _, u := range urls {
		if service.Handles(u) {
			u = service.Address(u)
		}
		if err := credentials.Logout(u); err != nil {
			return err
		}
		fmt.Fprintf(t.Out, "Logged out of %s\n", backend.MaskURL(u))
	}
	return nil
}
