package python

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRequirementsThatMayBringTheSDK(t *testing.T) {
	for text, want := range map[string]bool{
		"pulumi": true, "Pulumi>=3,<4": true, "pulumi[x] ; python_version > '3.9'": true, "pulumi_random==4.0.0": true, "acme.pulumi.parts": true,
		"pulumi (>=3)": true, "pulumi==3.1.0 --hash=sha256:ab": true, "pulumi>=3 \\\n  --hash=sha256:ab\n": true,
		"-r base.txt": true, "-e ../lib": true, "--editable=../lib": true, "./lib": true, "/lib": true, "lib/thing.whl": true,
		"thing @ https://example.com/thing.whl": true, "git+https://example.com/thing": true, "requests\r\npulumi\r\n": true,
		"": false, "requests": false, "# pulumi\n": false, "requests # pulumi\r\n": false, "foo[pulumi]": false, "pulumix": false, "foo; extra == 'pulumi'": false,
		"--index-url https://pulumi.example/simple": false, "-c pulumi.txt": false, "foo==1 --config-settings pulumi": false,
	} {
		require.Equal(t, want, listBringsSDK(text), text)
	}
}

func TestProjectsThatMayBringTheSDK(t *testing.T) {
	for text, want := range map[string]bool{
		"[project]\ndependencies = [\"requests\", \"pulumi>=3\"]":                true,
		"[project]\ndependencies = [\"thing @ git+https://example.com/thing\"]":  true,
		"[project]\ndynamic = [\"dependencies\"]":                                true,
		"[dependency-groups]\ndev = [{include-group = \"a\"}]\na = [\"pulumi\"]": true,
		"[tool.uv]\ndev-dependencies = [\"pulumi\"]":                             true,
		"[tool.uv.sources]\nthing = {path = \"../thing\"}":                       true,
		"[tool.poetry.dependencies]\npulumi = \"^3\"":                            true,
		"[tool.poetry.dependencies]\npulumi-aws = {version = \"^7\"}":            true,
		"[tool.poetry.dependencies]\nthing = {path = \"../thing\"}":              true,
		"[tool.poetry.group.main.dependencies]\npulumi = \"^3\"":                 true,
		"[tool.poetry.dev-dependencies]\npulumi = \"^3\"":                        true,
		"no toml": true,

		"": false,
		"[project]\nname = \"pulumi-program\"\ndescription = \"pulumi\"\ndependencies = [\"requests\", \"foo[pulumi]\"]\nkeywords = [\n\"pulumi\"]": false,
		"[project.urls]\nhome = \"https://pulumi.example\"":                            false,
		"[tool.poetry.dependencies]\npython = \"^3.9\"\nfoo = {extras = [\"pulumi\"]}": false,
		"[tool.poetry]\nname = \"pulumi\"":                                             false,
	} {
		require.Equal(t, want, fileBringsSDK(text), text)
	}
}
