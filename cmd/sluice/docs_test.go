package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// madeUp describes values that differ in each run. The first match of the pattern is replaced by the first word, and so
// on.
type madeUp struct {
	pattern string
	words   []string
}

// TestSessionsInDocs executes the sessions in documents, and compares the shown output with the real output.
//
// A block "console" has commands after "$ " and their output, in which a line "..." stands for any lines. A block with
// "file=NAME" is a file to write or, if it is a "diff", a change to make. With UPDATE_DOCS=1 the real output replaces
// the shown one.
func TestSessionsInDocs(t *testing.T) {
	t.Parallel()
	pet := func(words ...string) madeUp { return madeUp{`from ([a-z]+-[a-z]+(?:-[a-z]+)?)\b`, words} }
	for file, values := range map[string][]madeUp{
		"../../docs/first-hour.md": {
			pet("brave-otter", "fully-wise-heron"), {`\[id=([0-9a-f]{40})\]`, []string{"4c047626e3766e354a3f5665e03ef88a299f3a04"}},
		},
		"../../docs/do.md": {{`(?m)^ID: ([a-z]+-[a-z]+)$`, []string{"brave-otter"}}},
	} {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			d := &docSession{t: t, dir: t.TempDir(), values: values, names: map[string]string{}}
			d.env = []string{"HOME=" + d.dir, "PATH=" + os.Getenv("PATH")}
			after := d.run(string(text))
			if os.Getenv("UPDATE_DOCS") != "" {
				require.NoError(t, os.WriteFile(file, []byte(after), 0o644))
				return
			}
			require.NotEmpty(t, d.names, "the session has run")
		})
	}
}

type docSession struct {
	t      *testing.T
	dir    string
	env    []string
	values []madeUp
	names  map[string]string // maps values of this run to the names in the text
}

// run processes a text, and returns it with the output of its commands.
func (d *docSession) run(text string) string {
	var out strings.Builder
	lines := strings.SplitAfter(text, "\n")
	for i := 0; i < len(lines); i++ {
		out.WriteString(lines[i])
		info, opens := strings.CutPrefix(lines[i], "```")
		if !opens {
			continue
		}
		from := i + 1
		for i++; !strings.HasPrefix(lines[i], "```"); i++ {
		}
		out.WriteString(d.block(strings.Fields(info), from, lines[from:i]))
		out.WriteString(lines[i])
	}
	return out.String()
}

func (d *docSession) block(info []string, number int, lines []string) string {
	if len(info) == 0 {
		return strings.Join(lines, "")
	}
	if info[0] == "console" {
		return d.console(number, lines)
	}
	for _, word := range info[1:] {
		name, is := strings.CutPrefix(word, "file=")
		switch path := filepath.Join(d.dir, name); {
		case !is:
		case info[0] == "diff":
			d.edit(number, path, lines)
		default:
			require.NoError(d.t, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o644))
		}
	}
	return strings.Join(lines, "")
}

// edit replaces the lines marked "-" in a file by the lines marked "+". They must occur exactly once.
func (d *docSession) edit(number int, path string, lines []string) {
	var before, after strings.Builder
	for _, line := range lines {
		mark, rest := line[:1], line[1:]
		if mark == "\n" {
			mark, rest = " ", "\n"
		}
		if mark != "+" {
			before.WriteString(rest)
		}
		if mark != "-" {
			after.WriteString(rest)
		}
	}
	text, err := os.ReadFile(path)
	require.NoError(d.t, err)
	require.Equal(d.t, 1, strings.Count(string(text), before.String()), "line %d: the change does not fit once:\n%s", number, text)
	require.NoError(d.t, os.WriteFile(path, []byte(strings.Replace(string(text), before.String(), after.String(), 1)), 0o644))
}

// console runs the commands of a block.
func (d *docSession) console(number int, lines []string) string {
	var out strings.Builder
	for i := 0; i < len(lines); {
		command, is := strings.CutPrefix(lines[i], "$ ")
		require.True(d.t, is, "line %d is no command: %s", number+i+1, lines[i])
		at := number + i + 1
		out.WriteString(lines[i])
		for i++; strings.HasSuffix(command, "\\\n"); i++ {
			out.WriteString(lines[i])
			command += lines[i]
		}
		from := i
		for i < len(lines) && !strings.HasPrefix(lines[i], "$ ") {
			i++
		}
		shown := strings.Join(lines[from:i], "")
		got := d.command(strings.TrimSuffix(command, "\n"), strings.Contains(shown, "error"))
		switch {
		case strings.Contains(shown, "...\n"):
			d.requireParts(at, shown, got)
			got = shown
		case os.Getenv("UPDATE_DOCS") == "":
			require.Equal(d.t, sorted(shown), sorted(got), "line %d: $ %s", at, command)
		}
		out.WriteString(got)
	}
	return out.String()
}

// requireParts requires that the parts between lines "..." occur in the output in that order.
func (d *docSession) requireParts(at int, shown, got string) {
	rest := sorted(got)
	for part := range strings.SplitSeq(shown, "...\n") {
		_, after, found := strings.Cut(rest, sorted(part))
		require.True(d.t, found, "line %d: missing:\n%s\nin:\n%s", at, part, got)
		rest = after
	}
}

// command runs one command and returns its output, with the values of this run replaced by the names in the text. The
// command must succeed unless the text shows an error.
func (d *docSession) command(command string, fails bool) string {
	switch words := strings.SplitN(command, " ", 2); words[0] {
	case "cd":
		d.dir = filepath.Join(d.dir, words[1])
		return ""
	case "export":
		d.env = append(d.env, strings.ReplaceAll(words[1], "'", ""))
		return ""
	}
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir, cmd.Env = d.dir, d.env
	raw, err := cmd.CombinedOutput()
	if os.Getenv("UPDATE_DOCS") == "" {
		require.Equal(d.t, fails, err != nil, "$ %s\n%s", command, raw)
	}
	if len(raw) > 0 && raw[len(raw)-1] != '\n' {
		raw = append(raw, '\n')
	}
	return d.translate(string(raw))
}

var (
	noted     = regexp.MustCompile(`(?m)^note: sluice serves the packages? .*\n`)
	took      = regexp.MustCompile(`\([0-9.]+m?s\)`)
	duration  = regexp.MustCompile(`Duration: [0-9a-z]+`)
	timestamp = regexp.MustCompile(`20[0-9]{2}-[0-9]{2}-[0-9]{2} [0-9:]{8} UTC \((now|[0-9]+ [a-z]+ ago)\)`)
	sinceThen = regexp.MustCompile(`(now|[0-9]+ seconds? ago)  `)
	salt      = regexp.MustCompile(`v1:[A-Za-z0-9+/=]+(:[A-Za-z0-9+/=:]+)?`)
)

// translate replaces the values of this run by the names in the text.
func (d *docSession) translate(out string) string {
	for _, v := range d.values {
		for _, found := range regexp.MustCompile(v.pattern).FindAllStringSubmatch(out, -1) {
			i := slices.IndexFunc(v.words, func(word string) bool { return !slices.Contains(d.used(), word) })
			if d.names[found[1]] == "" && i >= 0 {
				d.names[found[1]] = v.words[i]
			}
		}
	}
	for value, name := range d.names {
		out = strings.ReplaceAll(out, value, name)
	}
	out = noted.ReplaceAllString(out, "")
	out = took.ReplaceAllString(out, "(0.01s)")
	out = duration.ReplaceAllString(out, "Duration: 1s")
	out = timestamp.ReplaceAllString(out, "2026-03-01 10:00:00 UTC (now)")
	out = sinceThen.ReplaceAllStringFunc(out, func(text string) string { return fmt.Sprintf("%-*s", len(text), "now") })
	out = salt.ReplaceAllString(out, "v1:3q2+7w==:…")
	home, _ := strings.CutPrefix(d.env[0], "HOME=")
	return strings.ReplaceAll(out, home, "/home/you")
}

func (d *docSession) used() []string {
	var out []string
	for _, word := range d.names {
		out = append(out, word)
	}
	return out
}

// sorted sorts the lines about steps, whose order differs from run to run.
func sorted(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	step := regexp.MustCompile(`^ [-+~=<>]{1,2} +[a-z]+:`)
	for i := 0; i < len(lines); i++ {
		from := i
		for i < len(lines) && step.MatchString(lines[i]) {
			i++
		}
		slices.Sort(lines[from:i])
	}
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}
