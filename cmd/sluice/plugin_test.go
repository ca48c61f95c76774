package main

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/testing/nodesdk"
	"github.com/sluice-iac/sluice/testing/tier"
)

// TestPlugins runs the scripts in testdata/plugins. $SERVER is a server with version 1.0.0 of the plugin "simple" and a wrong checksum for version
// 6.6.6; $ARCHIVES is the folder that it serves, and $PLATFORM the suffix of the archives' names. $SIMPLE is the plugin's executable, which is not
// on PATH. $NODE_MODULES has the SDK for Node.js, and $LEAN_TYPES is that of TestOtherLanguages. $CROWDS is a server that writes the number of
// concurrent downloads into a file in $CROWDS_FOLDER. $GITHUB_PROXY is a proxy to a server that stands for GitHub, and $GITHUB_AUTHORITY the file with its certificate.
func TestPlugins(t *testing.T) {
	tier.Slow(t, "npm packages")
	t.Parallel()
	tools := t.TempDir()
	simple := filepath.Join(tools, "simple")
	build(t, simple, "../../providers/internal/pulumi-resource-simple")
	archives := t.TempDir()
	platform := runtime.GOOS + "-" + runtime.GOARCH + ".tar.gz"
	sums := ""
	for _, version := range []string{"1.0.0", "6.6.6"} {
		name := fmt.Sprintf("pulumi-resource-simple-v%s-%s", version, platform)
		sum := pack(t, filepath.Join(archives, name), simple)
		if version == "6.6.6" {
			sum = sha256.Sum256(nil)
		}
		sums += hex.EncodeToString(sum[:]) + "  " + name + "\n"
	}
	require.NoError(t, os.WriteFile(filepath.Join(archives, "checksums.txt"), []byte(sums), 0o644))
	modules, err := filepath.Abs("../../source/nodejs/testdata/program")
	require.NoError(t, err)
	require.NoError(t, nodesdk.Install(modules))
	lean, err := filepath.Abs("testdata/leantypes")
	require.NoError(t, err)
	server := httptest.NewServer(http.FileServer(http.Dir(archives)))
	t.Cleanup(server.Close)
	together := &crowds{t: t, folder: t.TempDir(), all: map[string]*crowd{}}
	crowded := httptest.NewServer(together)
	t.Cleanup(crowded.Close)

	github := gitHub(t)

	p := scripts("testdata/plugins")
	setup := p.Setup
	p.Setup = func(e *testscript.Env) error {
		for name, value := range github {
			e.Setenv(name, value)
		}
		e.Setenv("SERVER", server.URL)
		e.Setenv("CROWDS", crowded.URL)
		e.Setenv("CROWDS_FOLDER", together.folder)
		e.Setenv("ARCHIVES", archives)
		e.Setenv("PLATFORM", platform)
		e.Setenv("SIMPLE", simple)
		e.Vars = append(e.Vars, goCaches(t)...)
		e.Setenv("NODE_MODULES", filepath.Join(modules, "node_modules"))
		e.Setenv("LEAN_TYPES", lean)
		err := setup(e)
		e.Setenv("PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION", "")
		return err
	}
	testscript.Run(t, p)
}

// pack makes the archive of the plugin, and returns its checksum.
func pack(t *testing.T, archive, executable string) [sha256.Size]byte {
	t.Helper()
	content, err := os.ReadFile(executable)
	require.NoError(t, err)
	f, err := os.Create(archive)
	require.NoError(t, err)
	z, err := gzip.NewWriterLevel(f, gzip.BestSpeed)
	require.NoError(t, err)
	w := tar.NewWriter(z)
	require.NoError(t, w.WriteHeader(&tar.Header{Name: "pulumi-resource-simple", Mode: 0o755, Size: int64(len(content))}))
	_, err = w.Write(content)
	require.NoError(t, errors.Join(err, w.Close(), z.Close(), f.Close()))
	packed, err := os.ReadFile(archive)
	require.NoError(t, err)
	return sha256.Sum256(packed)
}
