package main

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/source/engine"
)

// TestTheReportedVersionIsThatOfProtocolAndCommands holds the version of Pulumi that sluice reports to the module whose protocol it speaks, to the list
// of commands and flags that it is compared with, and to the documents that name it (decision 0268).
func TestTheReportedVersionIsThatOfProtocolAndCommands(t *testing.T) {
	t.Parallel()
	for file, pattern := range map[string]string{
		"../../go.mod":                              `(?m)^\tgithub.com/pulumi/pulumi/sdk/v3 v(\S+)$`,
		"testdata/pulumi-commands.txt":              `^# The commands of Pulumi (\S+) with`,
		"../../docs/spec/protocol.md":               "whose behaviour it has, `([^`]*)`",
		"../../docs/drop-in.md":                     `pulumi version +# v(\S+)`,
		"../../docs/from-pulumi.md":                 `those of Pulumi (\S+) with their flags`,
		"../../CHANGELOG.md":                        `Pulumi with which it is compatible: (\S+)\.\n`,
		"../../docs/decisions/0001-dependencies.md": "`github.com/pulumi/pulumi/sdk/v3` \\((\\S+)\\)",
	} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		found := regexp.MustCompile(pattern).FindStringSubmatch(string(text))
		require.NotNil(t, found, "%s does not match %s", file, pattern)
		require.Equal(t, engine.CompatibilityVersion, found[1], file)
	}
}
