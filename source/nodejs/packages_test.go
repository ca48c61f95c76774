package nodejs_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/nodejs"
	"github.com/sluice-iac/sluice/stages"
)

func TestPackagesComeFromInstalledModules(t *testing.T) {
	root := t.TempDir()
	for file, text := range map[string]string{
		"app/node_modules/@pulumi/aws/package.json":                               `{"name": "@pulumi/aws", "version": "v6.1.0", "pulumi": {"resource": true}}`,
		"app/node_modules/@pulumi/pulumi/package.json":                            `{"name": "@pulumi/pulumi", "version": "3.1.0"}`,
		"app/node_modules/@acme/policy/package.json":                              `{"name": "@acme/policy", "version": "1.0.0", "pulumi": {"resource": false}}`,
		"app/node_modules/broken/package.json":                                    `{"pulumi"`,
		"app/node_modules/other/package.json":                                     `{"name": "other", "version": "1.0.0", "pulumi": {"resource": true, "name": "renamed", "version": "2.0.0", "server": "https://x"}}`,
		"app/node_modules/.pnpm/lock.yaml":                                        ``,
		"app/node_modules/@types":                                                 ``,
		"app/node_modules/.bin/tool":                                              ``,
		"app/node_modules/lib/package.json":                                       `{"name": "lib"}`,
		"app/node_modules/lib/node_modules/@pulumi/aws/package.json":              `{"name": "@pulumi/aws", "version": "5.0.0", "pulumi": {"resource": true}}`,
		"app/node_modules/.pnpm/k@1/node_modules/@pulumi/kubernetes/package.json": `{"name": "@pulumi/kubernetes", "version": "4.0.0", "pulumi": {"resource": true}}`,
		"node_modules/@pulumi/random/package.json": `{"name": "@pulumi/random", "version": "4.0.0", "pulumi": {"resource": true, "name": "terraform-provider", "version": "0.1.0",
			"parameterization": {"name": "random", "version": "4.0.0", "value": "aGVsbG8="}}}`,
	} {
		path := filepath.Join(root, file)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	// A link to a listed package must not be listed again, and a dangling link is not a package.
	modules := filepath.Join(root, "app", "node_modules")
	require.NoError(t, os.Symlink(filepath.Join(modules, "other"), filepath.Join(modules, "linked")))
	require.NoError(t, os.Symlink(filepath.Join(root, "gone"), filepath.Join(modules, "dangling")))

	list, err := nodejs.New(source.Project{Directory: filepath.Join(root, "app")}).Packages(context.Background())
	require.NoError(t, err)
	require.Equal(t, []stages.Package{
		{Name: "aws", Version: "5.0.0"},
		{Name: "aws", Version: "6.1.0"},
		{Name: "kubernetes", Version: "4.0.0"},
		{Name: "renamed", Version: "2.0.0", DownloadURL: "https://x"},
		{Name: "terraform-provider", Version: "0.1.0", Parameterization: &stages.Parameterization{Name: "random", Version: "4.0.0", Value: []byte("hello")}},
	}, list)
}

func TestAProgramWithoutModulesNeedsNoPackages(t *testing.T) {
	list, err := nodejs.New(source.Project{Directory: t.TempDir()}).Packages(context.Background())
	require.NoError(t, err)
	require.Empty(t, list)
}
