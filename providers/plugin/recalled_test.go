package plugin_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"
)

// installation is a home with the test plugin installed, and the count of its starts.
type installation struct {
	home, starts string
	host         *plugin.Host
}

// installed installs the test plugin as version 1.0.0.
func installed(t *testing.T, env map[string]string) *installation {
	t.Helper()
	i := &installation{home: t.TempDir(), starts: filepath.Join(t.TempDir(), "starts")}
	i.install(t)
	environment := map[string]string{"PATH": "", "SIMPLE_STARTS": i.starts}
	for name, value := range env {
		environment[name] = value
	}
	i.host = plugin.NewHost(plugin.Options{
		EngineAddress: at("127.0.0.1:1"), Home: i.home,
		LookupEnv: func(name string) (string, bool) { v, ok := environment[name]; return v, ok },
		Environ: func() []string {
			var all []string
			for name, value := range environment {
				all = append(all, name+"="+value)
			}
			return all
		},
	})
	return i
}

func (i *installation) program() string {
	return filepath.Join(i.home, "plugins", "resource-simple-v1.0.0", "pulumi-resource-simple")
}

func (i *installation) install(t *testing.T) {
	t.Helper()
	directory := filepath.Dir(i.program())
	require.NoError(t, os.RemoveAll(directory))
	require.NoError(t, os.MkdirAll(directory, 0o755))
	binary, err := os.ReadFile(filepath.Join(binaries, "pulumi-resource-simple"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(i.program(), binary, 0o755))
}

// schema requests a schema, and returns how many processes that started.
func (i *installation) schema(t *testing.T, spec providers.Spec, extension *providers.ParameterizeRequest) (text string, started int) {
	t.Helper()
	before := i.started(t)
	text, err := providers.Schema(t.Context(), i.host, spec, extension)
	require.NoError(t, err)
	return text, i.started(t) - before
}

func (i *installation) started(t *testing.T) int {
	t.Helper()
	content, err := os.ReadFile(i.starts)
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	return strings.Count(string(content), "\n")
}

// remembered returns the only file with a schema.
func (i *installation) remembered(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(i.home, "schemas", "sluice", "*"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	return files[0]
}

var simple = providers.Spec{Package: "simple", Version: "1.0.0"}

func TestTheSchemaOfAnInstalledPluginIsRemembered(t *testing.T) {
	i := installed(t, nil)
	first, started := i.schema(t, simple, nil)
	require.Equal(t, 1, started)
	require.Contains(t, first, `"name":"simple"`)
	again, started := i.schema(t, simple, nil)
	require.Zero(t, started)
	require.Equal(t, first, again)
	again, started = i.schema(t, providers.Spec{Package: "simple"}, nil)
	require.Zero(t, started, "it is the same plugin")
	require.Equal(t, first, again)
}

func TestSchemasOfParameterizedPackagesAreRememberedForTheirParameters(t *testing.T) {
	i := installed(t, nil)
	of := func(name, version, value string) providers.Spec {
		return providers.Spec{Package: name, Version: version, Parameterization: &providers.Parameterization{
			Plugin: "simple", PluginVersion: "1.0.0", Value: []byte(value),
		}}
	}
	extension := func(value string) *providers.ParameterizeRequest {
		return &providers.ParameterizeRequest{Name: "more", Version: "2.0.0", Value: []byte(value)}
	}
	asks := []struct {
		spec      providers.Spec
		extension *providers.ParameterizeRequest
		has       string
	}{
		{simple, nil, `"name":"simple"`},
		{of("sub", "2.0.0", "sub"), nil, `"sub:index:Thing"`},
		{of("sub", "2.1.0", "sub"), nil, `"version":"2.1.0"`},
		{of("sub", "2.0.0", "sub 2.0.0"), nil, `"parameter":"c3ViIDIuMC4w"`},
		{simple, extension("extend more"), `"simple:index:Extended"`},
		{simple, extension("extend more and"), `"parameter":"ZXh0ZW5kIG1vcmUgYW5k"`},
	}
	for _, want := range []int{1, 0} {
		for _, ask := range asks {
			text, started := i.schema(t, ask.spec, ask.extension)
			require.Contains(t, text, ask.has)
			require.Equal(t, want, started, ask.has)
		}
	}
}

func TestASchemaIsAskedForAgain(t *testing.T) {
	for name, change := range map[string]func(*testing.T, *installation){
		"when the plugin was installed again": func(t *testing.T, i *installation) {
			i.install(t)
			later := time.Now().Add(time.Hour) // clocks of file systems are coarse
			require.NoError(t, os.Chtimes(i.program(), later, later))
		},
		"when the file is empty":   func(t *testing.T, i *installation) { require.NoError(t, os.Truncate(i.remembered(t), 0)) },
		"when the file is cut off": func(t *testing.T, i *installation) { require.NoError(t, os.Truncate(i.remembered(t), 300)) },
		"when the file is something else": func(t *testing.T, i *installation) {
			require.NoError(t, os.WriteFile(i.remembered(t), []byte("{}\n{}"), 0o600))
		},
		"when the file is gone": func(t *testing.T, i *installation) { require.NoError(t, os.Remove(i.remembered(t))) },
		"when the schema was changed": func(t *testing.T, i *installation) {
			content, err := os.ReadFile(i.remembered(t))
			require.NoError(t, err)
			changed := strings.Replace(string(content), `"name":"simple"`, `"name":"sample"`, 1)
			require.NoError(t, os.WriteFile(i.remembered(t), []byte(changed), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			i := installed(t, nil)
			first, _ := i.schema(t, simple, nil)
			change(t, i)
			again, started := i.schema(t, simple, nil)
			require.Equal(t, 1, started)
			require.Equal(t, first, again)
			_, started = i.schema(t, simple, nil)
			require.Zero(t, started)
		})
	}
}

func TestSchemasOfPluginsThatMayChangeAreNotRemembered(t *testing.T) {
	for name, env := range map[string]map[string]string{
		"on the PATH":      {"PATH": binaries},
		"under a debugger": {"PULUMI_DEBUG_PROVIDERS": "simple:"},
	} {
		t.Run(name, func(t *testing.T) {
			if debugged, is := env["PULUMI_DEBUG_PROVIDERS"]; is {
				env = map[string]string{"PULUMI_DEBUG_PROVIDERS": debugged + servedHere(t)}
			}
			i := installed(t, env)
			for range 2 {
				_, started := i.schema(t, simple, nil)
				require.Equal(t, map[string]int{"on the PATH": 1}[name], started)
			}
			require.NoDirExists(t, filepath.Join(i.home, "schemas"))
		})
	}
}

func TestASchemaThatIsNoneIsNotRemembered(t *testing.T) {
	file := filepath.Join(t.TempDir(), "schema")
	i := installed(t, map[string]string{"SIMPLE_SCHEMA": file})
	require.NoError(t, os.WriteFile(file, []byte("garbage"), 0o600))
	_, err := providers.Schema(t.Context(), i.host, simple, nil)
	require.ErrorContains(t, err, "answered with what is not the schema of a package: invalid character 'g'")
	require.NoError(t, os.WriteFile(file, []byte(`{"name": "simple", "resources": []}`), 0o600))
	_, err = providers.Schema(t.Context(), i.host, simple, nil)
	require.ErrorContains(t, err, `answered with what is not the schema of a package: "resources" is of the wrong kind (array)`)
	require.NoError(t, os.WriteFile(file, []byte(`{"name": "simple"}`), 0o600))
	text, started := i.schema(t, simple, nil)
	require.Equal(t, `{"name": "simple"}`, text)
	require.Equal(t, 1, started)
}

func TestAnEmptySchemaIsNone(t *testing.T) {
	for _, empty := range []string{"", " { }\n"} {
		file := filepath.Join(t.TempDir(), "schema")
		i := installed(t, map[string]string{"SIMPLE_SCHEMA": file})
		require.NoError(t, os.WriteFile(file, []byte(empty), 0o600))
		_, err := providers.Schema(t.Context(), i.host, simple, nil)
		require.ErrorIs(t, err, providers.ErrUnsupported)
	}
}

func TestProcessesRememberASchemaAtTheSameTime(t *testing.T) {
	i := installed(t, nil)
	var all conc.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 3 {
				text, err := providers.Schema(t.Context(), i.host, simple, nil)
				if err != nil || !strings.Contains(text, `"name":"simple"`) {
					t.Errorf("%q, %v", text, err)
				}
			}
		})
	}
	all.Wait()
	require.Equal(t, "resource-simple-v1.0.0.schema", filepath.Base(i.remembered(t)), "no half-written file is left behind")
}

func TestARememberedPluginMustBeTheOneThatWasAskedFor(t *testing.T) {
	i := installed(t, nil)
	_, err := providers.Schema(t.Context(), i.host, providers.Spec{Package: "simple", Version: "1.0.1"}, nil)
	require.ErrorAs(t, err, new(*plugin.MissingError))
	_, err = providers.Schema(t.Context(), i.host, simple, &providers.ParameterizeRequest{Args: []string{}})
	require.ErrorContains(t, err, "write the name of a package")
	text, started := i.schema(t, simple, &providers.ParameterizeRequest{Args: []string{"sub", "3.0.0"}})
	require.Contains(t, text, `"sub:index:Thing"`)
	require.Equal(t, 1, started)
}
