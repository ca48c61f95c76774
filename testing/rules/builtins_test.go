package rules

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// newBuiltinKit returns a stack on a machine with the given plugins: names of executables that do nothing.
func newBuiltinKit(t *testing.T, o host.PluginOptions, plugins ...string) (*kit, *[]string) {
	k := newKit(t)
	o.Home = t.TempDir()
	for _, name := range plugins {
		dir := filepath.Join(o.Home, "plugins", name)
		require.NoError(t, os.MkdirAll(dir, 0o755))
		executable := "pulumi-" + name[:len(name)-len("-v1.2.3")]
		require.NoError(t, os.WriteFile(filepath.Join(dir, executable), []byte("#!/bin/sh\nexit 3\n"), 0o755))
	}
	var notes []string
	o.LookupEnv = func(string) (string, bool) { return "", false }
	o.Note = func(message string, _ ...advice.Advice) { notes = append(notes, message) }
	h := host.NewPluginHost(o)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	k.options.Providers = h
	return k, &notes
}

const passwordType urn.Type = "random:index/randomPassword:RandomPassword"

func TestBuiltinProviderKeepsAPasswordThroughEveryOperation(t *testing.T) {
	k, notes := newBuiltinKit(t, host.PluginOptions{})
	p := func(length int) func(*script) {
		return func(s *script) { s.register(passwordType, "pw", in{"length": length}) }
	}
	shown := k.try(sluice.Preview, program(p(20)))
	require.NoError(t, shown.err)
	made := k.try(sluice.Update, program(p(20)))
	require.NoError(t, made.err)
	require.Len(t, *notes, 2)
	require.Contains(t, (*notes)[0], `"random"`)
	result := k.recorded("pw").Outputs.At("result")
	require.True(t, result.IsSecret())
	require.Len(t, result.StripSecrets().AsString(), 20)

	for name, op := range map[string]operation{"preview": sluice.Preview, "refresh": sluice.Refresh} {
		again := k.try(op, program(p(20)))
		require.NoError(t, again.err, name)
		require.Empty(t, again.changed(), name)
	}
	require.NoError(t, k.try(sluice.Update, program(p(21))).err)
	require.Len(t, k.recorded("pw").Outputs.At("result").StripSecrets().AsString(), 21)
	require.NoError(t, k.try(sluice.Destroy, nil).err)
	require.Empty(t, k.names())
}

func TestBuiltinProviderImports(t *testing.T) {
	k, _ := newBuiltinKit(t, host.PluginOptions{})
	made := k.try(importing(stages.ImportRequest{Type: passwordType, Name: "pw", ID: "hunter2"}), nil)
	require.NoError(t, made.err)
	again := k.try(sluice.Preview, program(func(s *script) { s.register(passwordType, "pw", in{"length": 7}) }))
	require.NoError(t, again.err)
	require.NotContains(t, fmt.Sprint(again.changed()), "pw")
}

func TestInstalledPluginWinsOverTheBuiltinProvider(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the plugin is a shell script")
	}
	k, notes := newBuiltinKit(t, host.PluginOptions{}, "resource-random-v1.2.3")
	k.fails(program(func(s *script) { s.register(passwordType, "pw", in{"length": 7}) }), "pulumi-resource-random")
	require.Empty(t, *notes)
}

func TestBuiltinProvidersCanBeTurnedOff(t *testing.T) {
	for name, o := range map[string]host.PluginOptions{
		"by option":        {NoBuiltins: true},
		"by configuration": {Config: sluice.Config{host.BuiltinsKey: {Text: "false"}}},
	} {
		t.Run(name, func(t *testing.T) {
			k, notes := newBuiltinKit(t, o)
			k.fails(program(func(s *script) { s.register(passwordType, "pw", in{"length": 7}) }), "no resource plugin 'pulumi-resource-random'")
			require.Empty(t, *notes)
		})
	}
}

func TestBuiltinProvidersAreListed(t *testing.T) {
	require.Equal(t, []string{"archive", "command", "http", "local", "null", "random", "sim", "std", "time", "tls"},
		host.BuiltinProviders())
}
