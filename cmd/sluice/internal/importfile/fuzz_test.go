package importfile

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/testing/fuzzing"
)

// FuzzRead reads any bytes as an import file. An error names the line and column. The file must be the same after it is
// written and read.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"", "{}", "[]", `{"resources":[{"type":"a:b:C","name":"n","id":"i"}]} x`, `{"resources":[{"type":1}]}`,
		`{"nameTable":{"p":"urn:pulumi:d::p::a:b:C::p"},"resources":[{"type":"a:b:C","name":"n","id":"i","parent":"p","properties":["x"],"inputs":{"a":[1]},
		"parameterization":{"pluginName":"q","pluginVersion":"1","value":"AA=="},"extension":{"value":"!"}}]}`,
	} {
		f.Add([]byte(s))
	}
	path := filepath.Join(f.TempDir(), "import.json")
	f.Fuzz(func(t *testing.T, data []byte) {
		require.NoError(t, os.WriteFile(path, data, 0o600))
		var file *File
		var err error
		fuzzing.Bound(t, len(data), 200, func() { file, err = Read(path) })
		if err != nil {
			require.Regexp(t, `import\.json:\d+:\d+: `, err.Error())
			return
		}
		var text, twice bytes.Buffer
		require.NoError(t, file.Write(&text))
		require.NoError(t, os.WriteFile(path, text.Bytes(), 0o600))
		again, err := Read(path)
		require.NoError(t, err)
		require.NoError(t, again.Write(&twice))
		require.Equal(t, text.String(), twice.String())
	})
}
