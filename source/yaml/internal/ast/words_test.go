package ast

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// words returns the names that programs may use.
func words() []string {
	return slices.Concat(functionNames(), optionNames(), sections(), []string{"requiredVersion", "defaultProvider", "get", "state"})
}

func TestTheCorpusUsesEveryFunctionAndOption(t *testing.T) {
	var all strings.Builder
	paths, err := filepath.Glob("../../testdata/corpus/*.txtar")
	require.NoError(t, err)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		program, _, _ := strings.Cut(string(text), "-- want --")
		all.WriteString(program)
	}
	for _, word := range words() {
		require.Contains(t, all.String(), word)
	}
}

func TestTheManualNamesEveryFunctionAndOption(t *testing.T) {
	manual, err := os.ReadFile("../../../../docs/yaml.md")
	require.NoError(t, err)
	for _, word := range words() {
		require.Contains(t, string(manual), "`"+word+"`")
	}
}

func TestTheSchemaHasEveryFunctionAndOption(t *testing.T) {
	schema, err := os.ReadFile("../../../../docs/schemas/program.json")
	require.NoError(t, err)
	for _, word := range words() {
		require.Contains(t, string(schema), `"`+word+`":`)
	}
}
