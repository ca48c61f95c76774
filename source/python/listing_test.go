package python_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/python"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/testing/tier"
)

// installedFiles are the files of a virtual environment with two SDKs.
var installedFiles = map[string]string{
	"pyvenv.cfg":                                  "home = /usr/bin\ninclude-system-site-packages = False\nversion_info = 3.11.2\n",
	"SITE/distutils-precedence.pth":               "import os; os.environ.get('X')\n",
	"SITE/__editable__.mine-1.0.pth":              "# a comment\n\nOWN\n/nowhere\n",
	"SITE/pulumi-3.2.1.dist-info/RECORD":          "pulumi/__init__.py,sha256=x,10\n",
	"SITE/pulumi-3.2.1.dist-info/METADATA":        "Name: pulumi\nVersion: 3.2.1\n",
	"SITE/requests-1.dist-info/METADATA":          "Name: requests\n",
	"SITE/Pulumi_Policy-1.dist-info/METADATA":     "Name: pulumi_policy\nVersion: 1.0\n",
	"SITE/pulumi_random-4.1.0.dist-info/METADATA": "Metadata-Version: 2.1\nNAME: Pulumi_Random\nVersion: 4.1.0\nAuthor: x\n\nName: text\n",
	"SITE/pulumi_random-4.1.0.dist-info/RECORD":   "pulumi_random/deep/pulumi-plugin.json,,\npulumi_random/pulumi-plugin.json,,\n",
	"OWN/mine.egg-info/SOURCES.txt":               "mine/__init__.py\n",
	"OWN/acme_shop-1.dist-info/METADATA":          "Name: acme-shop\nVersion: 1.0.0\n",
	"OWN/acme_shop-1.dist-info/RECORD":            "acme_shop/pulumi-plugin.json,sha256=x,9\n",
	"OWN/acme_shop/pulumi-plugin.json":            `{"resource": true, "name": "shop", "version": "2.0.0"}`,
}

// virtualEnvironment writes a virtual environment with these files and more, of which an empty text removes one. Its interpreter only fails, so
// that its start is an error.
func virtualEnvironment(t *testing.T, more map[string]string) source.Project {
	root := t.TempDir()
	site, sources := filepath.Join("lib", "python3.11", "site-packages"), filepath.Join(root, "sources")
	files := maps.Clone(installedFiles)
	files["bin/python"] = "#!/bin/sh\necho was started >&2\nexit 9\n"
	files["bin/__main__.py"] = ""
	maps.Copy(files, more)
	for file, text := range files {
		file = strings.NewReplacer("SITE", site, "OWN", "sources").Replace(file)
		path := filepath.Join(root, filepath.FromSlash(file))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		if text != "" {
			require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(text, "OWN", sources)), 0o700))
		}
	}
	program := filepath.Join(root, "program")
	require.NoError(t, os.Mkdir(program, 0o755))
	return source.Project{Runtime: "python", Root: program, Directory: program, Entry: ".", Options: map[string]any{"virtualenv": root}}
}

func TestPackagesAreListedWithoutTheInterpreter(t *testing.T) {
	packages, err := python.New(virtualEnvironment(t, nil)).Packages(t.Context())
	require.NoError(t, err)
	require.Equal(t, []stages.Package{{Name: "random", Version: "4.1.0"}, {Name: "shop", Version: "2.0.0"}}, packages)
}

func TestTheInterpreterIsAskedWhereFilesDoNotTell(t *testing.T) {
	for name, more := range map[string]map[string]string{
		"with the packages of the system": {"pyvenv.cfg": "include-system-site-packages = true\n"},
		"without a configuration":         {"pyvenv.cfg": ""},
		"code in a file of paths":         {"SITE/own.pth": "import own\n"},
		"code at the start":               {"SITE/sitecustomize.py": "pass\n"},
		"of another version":              {"lib/python3.12/site-packages/x.py": "pass\n"},
		"an egg":                          {"SITE/old.egg": "x"},
		"an archive in a file of paths":   {"SITE/zip.pth": "zip.zip\n", "SITE/zip.zip": "x"},
		"an SDK in the old form":          {"SITE/old.egg-info/SOURCES.txt": "old/pulumi-plugin.json\n"},
		"a damaged manifest":              {"OWN/acme_shop/pulumi-plugin.json": "{"},
		"an SDK without a version":        {"SITE/pulumi_aws.dist-info/METADATA": "Name: pulumi-aws\n"},
		"a quoted file":                   {"SITE/x.dist-info/RECORD": "\"a,b/pulumi-plugin.json\",,\n"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := python.New(virtualEnvironment(t, more)).Packages(t.Context())
			require.ErrorContains(t, err, "was started")
		})
	}
	for _, variable := range []string{"PYTHONPATH", "PYTHONSAFEPATH"} {
		t.Run(variable, func(t *testing.T) {
			t.Setenv(variable, "1")
			_, err := python.New(virtualEnvironment(t, nil)).Packages(t.Context())
			require.ErrorContains(t, err, "was started")
		})
	}
}

func TestTheInterpreterListsTheSamePackages(t *testing.T) {
	tier.Slow(t, "it makes virtual environments")
	made := virtualEnvironment(t, nil)
	root := made.Option("virtualenv")
	out, err := exec.Command("python3", "-m", "venv", "--without-pip", filepath.Join(root, "other")).CombinedOutput()
	require.NoError(t, err, "%s", out)
	sites, err := filepath.Glob(filepath.Join(root, "other", "lib", "python*", "site-packages"))
	require.NoError(t, err)
	require.Len(t, sites, 1)
	require.NoError(t, os.CopyFS(sites[0], os.DirFS(filepath.Join(root, "lib", "python3.11", "site-packages"))))
	made.Options["virtualenv"] = filepath.Join(root, "other")
	without, err := python.New(made).Packages(t.Context())
	require.NoError(t, err)
	require.Len(t, without, 2)
	t.Setenv("PYTHONPATH", t.TempDir())
	with, err := python.New(made).Packages(t.Context())
	require.NoError(t, err)
	require.Equal(t, with, without)
}
