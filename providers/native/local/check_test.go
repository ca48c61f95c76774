package local_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/native"
	"github.com/sluice-iac/sluice/providers/native/local"
	"github.com/sluice-iac/sluice/providers/native/nativetest"
	"github.com/sluice-iac/sluice/providers/providertest"
)

func TestFilesAreLedThroughTheirLives(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.txt")
	providertest.Check(t, func() providers.Provider { return native.New(local.Package(native.Options{}), native.Options{}) }, providertest.Case{
		Type: "local:index/file:File", Inputs: nativetest.Props("filename", file, "content", "x"), Replaced: nativetest.Props("filename", file, "content", "y"),
		Exists: func() any {
			text, err := os.ReadFile(file)
			if os.IsNotExist(err) {
				return nil
			}
			require.NoError(t, err)
			return string(text)
		},
	})
}
