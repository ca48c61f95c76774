//go:build !windows

package main

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/testing/emulatortest"
	"github.com/sluice-iac/sluice/testing/tier"
)

// settings returns the texts of the stack's settings file and of its stack file.
func (a *arena) settings() (settings, state string) {
	settings, state = a.dir+"/project/Pulumi.dev.yaml", a.states.dir+"/.pulumi/stacks/demo/dev.json"
	return a.read(settings), a.read(state)
}

func (a *arena) read(path string) string {
	text, err := os.ReadFile(path)
	require.NoError(a, err)
	return string(text)
}

// refuses requires that commands that need the key fail with one clear error, and that nothing is lost.
func (a *arena) refuses(url, why string) {
	a.Helper()
	settings, state := a.settings()
	for _, command := range [][]string{
		{"config", "get", "password"},
		{"config", "set", "--secret", "other", "x"},
		{"up", "--yes", "--skip-preview"},
		{"stack", "export", "--show-secrets"},
		{"stack", "change-secrets-provider", "passphrase"},
	} {
		said := a.run(1, command...)
		require.Equal(a, 1, strings.Count(said, "error:"), "%v: %s", command, said)
		require.Contains(a, said, "the secrets provider "+url, "%v", command)
		require.Contains(a, said, why, "%v", command)
		require.NotContains(a, said, "hunter2")
		nowSettings, nowState := a.settings()
		require.Equal(a, settings, nowSettings, "%v", command)
		require.Equal(a, state, nowState, "%v", command)
	}
	// A command that needs no secret does not need the service either.
	require.NotContains(a, a.run(0, "stack", "export"), "hunter2")
	require.Empty(a, a.locks())
}

// The secrets of a stack are encrypted with a key of a key service, which may be down, refuse, or lack the key.
func TestSecretsAreEncryptedWithAKeyService(t *testing.T) {
	tier.Slow(t, "emulators")
	t.Parallel()
	for scheme, start := range emulatortest.KeyServices() {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel() // the client libraries wait for services that are down
			var down atomic.Bool
			service := start(t, emulatortest.Cut(down.Load))
			a := newArena(t)
			a.env = append(a.env, service.Environ()...)
			a.run(0, "stack", "rm", "--yes")
			require.NoError(t, os.RemoveAll(filepath.Join(a.dir, "project", "Pulumi.dev.yaml")))

			a.run(0, "stack", "init", "dev", "--secrets-provider", service.URL)
			a.run(0, "config", "set", "--secret", "password", "hunter2")
			a.run(0, "config", "set", "scenario", "shop")
			a.run(0, "config", "set", "directory", a.dir+"/cloud")
			a.run(0, "config", "set", "simple:directory", a.dir+"/cloud")
			a.run(0, "up", "--yes", "--skip-preview")
			settings, state := a.settings()
			require.Contains(t, settings, "secretsprovider: "+service.URL)
			require.Contains(t, settings, "encryptedkey: ")
			require.Contains(t, state, `"type":"cloud"`)
			require.NotContains(t, settings+state, "hunter2")
			serves := func() {
				t.Helper()
				require.Equal(t, "hunter2\n", a.run(0, "config", "get", "password"))
				require.Contains(t, a.run(0, "stack", "export", "--show-secrets"), "hunter2")
				a.run(0, "up", "--yes", "--skip-preview", "--expect-no-changes")
			}
			serves()

			down.Store(true)
			a.refuses(service.URL, "EOF")
			down.Store(false)
			serves()

			service.Deny(true)
			a.refuses(service.URL, "403")
			service.Deny(false)
			serves()

			a.env = append(a.env, "PULUMI_CLOUD_SECRET_OVERRIDE="+service.WrongKey)
			require.Contains(t, a.run(1, "stack", "export", "--show-secrets"), "the secrets provider "+service.WrongKey)
			a.env = a.env[:len(a.env)-1]
			serves()

			a.run(0, "stack", "change-secrets-provider", "passphrase")
			down.Store(true)
			serves()
			settings, state = a.settings()
			require.NotContains(t, settings, service.URL)
			require.NotContains(t, state, service.URL)
			down.Store(false)
			a.run(0, "stack", "change-secrets-provider", service.URL)
			serves()
			a.run(0, "stack", "change-secrets-provider", service.URL)
			serves()
			a.run(0, "destroy", "--yes", "--skip-preview")
		})
	}
	for scheme, why := range emulatortest.MissingKeyServices() {
		t.Run(scheme, func(t *testing.T) { t.Skip(why) })
	}
}
