package spec_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/fleet/spec"
)

// written makes a fleet.yaml beside three projects.
func written(t *testing.T, text string) string {
	t.Helper()
	root := t.TempDir()
	for _, folder := range []string{"network", "services/api", "services/web", "services/notes"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, folder), 0o755))
		if folder != "services/notes" {
			require.NoError(t, os.WriteFile(filepath.Join(root, folder, "Pulumi.yaml"), []byte("name: x\nruntime: yaml\n"), 0o600))
		}
	}
	path := filepath.Join(root, spec.FileName)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

const example = `name: shop
variables:
  stage: dev
limits:
  account: 2
groups:
  base:
    stack: ${stage}
    queue: network
    approve: [destroy]
  apps:
    stack: ${stage}
    needs: [base]
    limits: [account]
    config: {size: 3, "app:region": eu}
stacks:
  network:
    directory: network
    group: base
  services:
    directory: services/*
    group: apps
  shared:
    git: https://example.com/infra.git
    ref: v1.2
    directory: dns
    stack: acme/dns/${stage}
    needs: [services]
schedules:
  night: {operation: drift, cron: "0 3 * * *", select: [apps]}
`

func TestAFleetIsRead(t *testing.T) {
	path := written(t, example)
	f, err := spec.Read(path, map[string]string{"stage": "prod"})
	require.NoError(t, err)
	require.Equal(t, "shop", f.Name)
	require.Equal(t, filepath.Dir(path), f.Root)
	require.Equal(t, 8, f.Concurrency)
	var names []string
	for _, s := range f.Stacks {
		names = append(names, s.Name)
	}
	require.Equal(t, []string{"network", "services/api", "services/web", "shared"}, names)
	require.Equal(t, spec.Stack{
		Name: "services/api", Entry: "services", Directory: "services/api", Group: "apps", Stack: "prod", Queue: spec.DefaultQueue,
		Needs: []string{"network"}, Limits: []string{"account"}, Config: map[string]string{"size": "3", "app:region": "eu"},
	}, f.Stacks[1])
	require.Equal(t, []string{"services/api", "services/web"}, f.Stacks[3].Needs)
	require.Equal(t, "acme/dns/prod", f.Stacks[3].Stack)
	require.Equal(t, []spec.Schedule{{Name: "night", Operation: "drift", Cron: "0 3 * * *", Select: []string{"apps"}}}, f.Schedules)

	chosen, unknown := f.Select([]string{"services/web", "base", "nothing"})
	require.Equal(t, []string{"nothing"}, unknown)
	require.Len(t, chosen, 2)
}

func TestMistakesAreShownAtTheirPlaces(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":          {"", "the file is empty"},
		"no YAML":          {"name: [", "this is not YAML"},
		"no name":          {"stacks: {a: {directory: network, stack: dev}}", "the fleet has no name"},
		"no stacks":        {"name: a", "the fleet has no stacks"},
		"unknown field":    {"name: a\nstakcs: {}", `fleet.yaml:2:1: a fleet has no field "stakcs"`},
		"near field":       {"name: a\nstakcs: {}", `did you mean "stacks"?`},
		"no place":         {"name: a\nstacks: {n: {stack: dev}}", "has neither a folder nor a repository"},
		"no stack":         {"name: a\nstacks: {n: {directory: network}}", "does not say which stack"},
		"outside":          {"name: a\nstacks: {n: {directory: ../network, stack: dev}}", "must be below the folder of fleet.yaml"},
		"absolute":         {"name: a\nstacks: {n: {directory: /etc, stack: dev}}", "must be below the folder of fleet.yaml"},
		"an option":        {"name: a\nstacks: {n: {directory: --help, stack: dev}}", "must not begin with a dash"},
		"stack option":     {"name: a\nstacks: {n: {directory: network, stack: --yes}}", "write the name of a stack"},
		"unknown group":    {"name: a\nstacks: {n: {directory: network, stack: dev, group: base}}", `there is no group "base"`},
		"unknown need":     {"name: a\nstacks: {n: {directory: network, stack: dev, needs: [netwrk]}, network: {directory: network, stack: dev}}", `did you mean "network"?`},
		"unknown variable": {"name: a\nstacks: {n: {directory: network, stack: \"${stge}\"}}\nvariables: {stage: x}", `there is no variable "stge"`},
		"unknown limit":    {"name: a\nstacks: {n: {directory: network, stack: dev, limits: [x]}}", `there is no limit "x"`},
		"not approved":     {"name: a\nstacks: {n: {directory: network, stack: dev, approve: [drift]}}", `there is no operation that can be approved "drift"`},
		"empty pattern":    {"name: a\nstacks: {n: {directory: none/*, stack: dev}}", "no folder with a project matches"},
		"the same stack":   {"name: a\nstacks: {n: {directory: network, stack: dev}, m: {directory: ./network, stack: dev}}", `"m" is the same stack as "n": dev of ./network`},
		"the same again":   {"name: a\nstacks: {n: {directory: services/api, stack: dev}, m: {directory: services/*, stack: dev}}", `"m/api" is the same stack as "n"`},
		"a ref alone":      {"name: a\nstacks: {n: {directory: network, ref: main, stack: dev}}", "a ref needs a repository"},
		"no ref":           {"name: a\nstacks: {n: {git: \"https://example.com/x\", stack: dev}}", "the repository has no ref"},
		"other transport":  {"name: a\nstacks: {n: {git: \"ext::sh -c id\", ref: main, stack: dev}}", "characters that no URL of a repository has"},
		"git option":       {"name: a\nstacks: {n: {git: \"--upload-pack=id\", ref: main, stack: dev}}", "write an https, ssh or file URL"},
		"host option":      {"name: a\nstacks: {n: {git: \"ssh://-oProxyCommand=id/x\", ref: main, stack: dev}}", "it has no host"},
		"git password":     {"name: a\nstacks: {n: {git: \"https://a:b@example.com/x\", ref: main, stack: dev}}", "no place for secrets"},
		"git token":        {"name: a\nstacks: {n: {git: \"https://ghp123@example.com/x\", ref: main, stack: dev}}", "can be a token"},
		"a ref that is no": {"name: a\nstacks: {n: {git: \"https://example.com/x\", ref: --all, stack: dev}}", "write a branch, a tag or a commit"},
		"a setting":        {"name: a\nstacks: {n: {directory: network, stack: dev, config: {\"--yes\": a}}}", "cannot be the name of a setting"},
		"no number":        {"name: a\nconcurrency: many\nstacks: {n: {directory: network, stack: dev}}", "concurrency must be a number of stacks"},
		"a schedule":       {"name: a\nstacks: {n: {directory: network, stack: dev}}\nschedules: {s: {operation: up, every: 1h}}", "no operation that can be repeated"},
		"no time":          {"name: a\nstacks: {n: {directory: network, stack: dev}}\nschedules: {s: {operation: drift}}", "needs either a time or a period"},
		"no such time":     {"name: a\nstacks: {n: {directory: network, stack: dev}}\nschedules: {s: {operation: drift, cron: \"61 3 * * *\"}}", `fleet.yaml:3:41: "61 3 * * *" is not a time: `},
		"too often":        {"name: a\nstacks: {n: {directory: network, stack: dev}}\nschedules: {s: {operation: drift, every: 1s}}", "is not a period of a minute or more"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := spec.Read(written(t, c.text), nil)
			var mistakes *spec.MistakesError
			require.ErrorAs(t, err, &mistakes)
			require.Contains(t, mistakes.Text, c.want)
			require.Contains(t, mistakes.Text, "fleet.yaml:")
		})
	}
}

// A wrong text is not also reported as missing, and two wrong entries are not the same stack.
func TestAMistakeIsShownOnce(t *testing.T) {
	for name, text := range map[string]string{
		"a variable": "name: a\nstacks: {n: {directory: network, stack: \"${nothing}\"}}",
		"a folder":   "name: a\nstacks: {n: {directory: ../network, stack: dev}, m: {git: \"https://example.com/x\", ref: main, stack: dev}}",
		"a URL":      "name: a\nstacks: {n: {git: \"ftp://example.com/x\", ref: main, stack: dev}, m: {git: \"https://example.com/x\", ref: main, stack: dev}}",
		"a group":    "name: a\ngroups: {apps: {stack: dev}}\nstacks: {n: {directory: network, group: app}}",
		"of a group": "name: a\ngroups: {apps: {stack: --yes}}\nstacks: {n: {directory: network, group: apps}}",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := spec.Read(written(t, text), nil)
			var mistakes *spec.MistakesError
			require.ErrorAs(t, err, &mistakes)
			require.Equal(t, 1, mistakes.Count, mistakes.Text)
		})
	}
	_, err := spec.Read(written(t, "name: a\nstacks: {n: {directory: ../a, stack: dev}, m: {directory: ../b, stack: dev}}"), nil)
	var mistakes *spec.MistakesError
	require.ErrorAs(t, err, &mistakes)
	require.Equal(t, 2, mistakes.Count, mistakes.Text)
}

func FuzzNoFleetLeavesItsFolder(f *testing.F) {
	f.Add(example)
	f.Add("name: a\nstacks: {n: {directory: a/../../b, stack: dev}}")
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), spec.FileName)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		fleet, err := spec.Read(path, nil)
		if err != nil {
			return
		}
		for _, s := range fleet.Stacks {
			require.True(t, s.Directory == "" || filepath.IsLocal(s.Directory), s.Directory)
			for _, word := range []string{s.Directory, s.Git, s.Ref, s.Stack, s.Name} {
				require.NotRegexp(t, `^-`, word)
			}
		}
	})
}
