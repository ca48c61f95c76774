package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
)

// testedRow is an entry of testdata/pulumi-rows.yaml.
type testedRow struct {
	Row   string   `yaml:"row"`   // the first cell of a row, or the bold text of an item
	Tests []string `yaml:"tests"` // "path: text"
}

// TestEveryRowOfComingFromPulumiHasATest holds the tables and lists of docs/from-pulumi.md to testdata/pulumi-rows.yaml and testdata/pulumi-missing.yaml,
// and these to the tests that they name.
func TestEveryRowOfComingFromPulumiHasATest(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/pulumi-rows.yaml")
	require.NoError(t, err)
	var listed []testedRow
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	require.NoError(t, dec.Decode(&listed))
	left := map[string]bool{}
	for _, row := range listed {
		require.NotContains(t, left, row.Row)
		left[row.Row] = true
		requireTests(t, row.Row, row.Tests)
	}
	for _, row := range rowsOf(t, "../../docs/from-pulumi.md", "What is the same", "What differs") {
		if !left[row] {
			t.Errorf("testdata/pulumi-rows.yaml does not say what tests %q", row)
		}
		delete(left, row)
	}
	for row := range left {
		t.Errorf("testdata/pulumi-rows.yaml has %q, which docs/from-pulumi.md lacks", row)
	}
	for _, m := range missingRows(t) {
		requireTests(t, m.What, m.Tests)
	}
}

// requireTests reports tests of a row that are not there, and a row without tests.
func requireTests(t *testing.T, row string, tests []string) {
	t.Helper()
	if len(tests) == 0 {
		t.Errorf("nothing tests %q", row)
	}
	for _, test := range tests {
		path, has, found := strings.Cut(test, ": ")
		require.True(t, found, test)
		text, err := os.ReadFile(filepath.Join("../..", path))
		if err != nil || !strings.Contains(string(text), has) {
			t.Errorf("what is to test %q is not there: %s", row, test)
		}
	}
}

// rowsOf returns the first cells of the tables and the bold beginnings of the items in sections of a document.
func rowsOf(t *testing.T, path string, sections ...string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var out []string
	for _, section := range sections {
		_, rest, found := strings.Cut(string(text), "\n## "+section+"\n")
		require.True(t, found, section)
		rest, _, _ = strings.Cut(rest, "\n## ")
		for line := range strings.Lines(rest) {
			switch {
			case strings.HasPrefix(line, "|---"), strings.HasPrefix(line, "| | "):
			case strings.HasPrefix(line, "| "):
				out = append(out, strings.TrimSpace(strings.Split(line, "|")[1]))
			case strings.HasPrefix(line, "- "):
				bold := strings.SplitN(line, "**", 3)
				require.Len(t, bold, 3, "an item begins with what it is about, in bold: %s", line)
				out = append(out, bold[1])
			}
		}
	}
	require.NotEmpty(t, out)
	return out
}

// TestEveryCommandOfPulumiIsRun finds a script that runs each command that Pulumi and sluice have, by one of its names.
func TestEveryCommandOfPulumiIsRun(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	require.NoError(t, filepath.WalkDir("testdata", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".txtar" {
			return err
		}
		text, err := os.ReadFile(path)
		_, _ = all.Write(text) // never fails
		return err
	}))
	for _, c := range peerCommands(t) {
		if c.path == "pulumi" || ownCommand(c.path) == nil {
			continue
		}
		words := strings.Fields(c.path)
		last := append([]string{words[len(words)-1]}, c.aliases...)
		words[len(words)-1] = "(?:" + strings.Join(last, "|") + ")"
		if !regexp.MustCompile(`\b(?:sluice|pulumi) (?:-C \S+ )?` + strings.Join(words, " ") + `\b`).MatchString(all.String()) {
			t.Errorf("no script runs `sluice %s`", c.path)
		}
	}
}

// TestWhatIsNotThereIsRefused gives sluice each command and flag that only Pulumi has. It is a wrong call, which has no effect.
func TestWhatIsNotThereIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sluice := filepath.Join(dir, "sluice")
	linkSluice(t, sluice)
	for _, m := range missingRows(t) {
		for _, name := range m.Names {
			words := strings.Fields(name)
			if strings.HasPrefix(words[0], "-") { // of any command
				words = append([]string{"up"}, words...)
			}
			cmd := exec.Command(sluice, words...)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "PULUMI_HOME="+dir, "PULUMI_BACKEND_URL=file://"+dir, "HOME="+dir)
			out, err := cmd.CombinedOutput()
			var ended *exec.ExitError
			require.ErrorAs(t, err, &ended, "%s\n%s", name, out)
			require.Equal(t, exit.Usage, ended.ExitCode(), "%s\n%s", name, out)
			require.Regexp(t, "^error: ", string(out), name)
		}
	}
}
