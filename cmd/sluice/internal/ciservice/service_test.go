package ciservice

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func from(pairs ...string) *Service {
	env := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		env[pairs[i]] = pairs[i+1]
	}
	s := From(func(name string) (string, bool) { v, ok := env[name]; return v, ok }, func(program string) (string, error) {
		if path, ok := env["agent"]; ok {
			return path, nil
		}
		return "", exec.ErrNotFound
	})
	if s != nil {
		s.now = func() time.Time { return time.Unix(1700000000, 0) }
	}
	return s
}

func TestServicesAreRecognised(t *testing.T) {
	require.Nil(t, from())
	require.Nil(t, from("CI", "true"))
	require.Nil(t, from("GITHUB_ACTIONS", "true", "PULUMI_CI", "none"))
	require.Nil(t, from("GITHUB_ACTIONS", "true", "PULUMI_CI", "other"))
	require.Nil(t, from("GITHUB_ACTIONS", "true", "PULUMI_DISABLE_CI_DETECTION", "1"))
	require.Equal(t, gitHub, from("PULUMI_CI", "github", "PULUMI_DISABLE_CI_DETECTION", "1").kind, "nothing is detected, but chosen")
	require.Equal(t, gitHub, from("GITHUB_ACTIONS", "true", "PULUMI_CI_SYSTEM", "ours").kind)
	require.Equal(t, gitHub, from("GITHUB_ACTIONS", "true").kind)
	require.Equal(t, azure, from("TF_BUILD", "True").kind)
	require.Equal(t, teamCity, from("TEAMCITY_VERSION", "2026.1").kind)
	require.Nil(t, from("TF_BUILD", "True").Frame(nil))
	require.Equal(t, gitLab, from("GITLAB_CI", "true").kind)
	require.Equal(t, buildkite, from("BUILDKITE", "true").kind)
	require.Equal(t, buildkite, from("GITHUB_ACTIONS", "true", "PULUMI_CI", "Buildkite").kind)
}

func TestFrames(t *testing.T) {
	for name, c := range map[string]struct {
		variable, want, failed string
	}{
		"github": {"GITHUB_ACTIONS", "::group::Updating 100%25 ::x (dev)\n::endgroup::\n", "::group::Updating 100%25 ::x (dev)\n::endgroup::\n"},
		"gitlab": {"GITLAB_CI",
			"\x1b[0Ksection_start:1700000000:sluice_1700000000000000000_1[collapsed=true]\r\x1b[0KUpdating 100% ::x (dev)\n\x1b[0Ksection_end:1700000000:sluice_1700000000000000000_1\r\x1b[0K\n",
			"\x1b[0Ksection_start:1700000000:sluice_1700000000000000000_1[collapsed=true]\r\x1b[0KUpdating 100% ::x (dev)\n\x1b[0Ksection_end:1700000000:sluice_1700000000000000000_1\r\x1b[0K\n"},
		"buildkite": {"BUILDKITE", "--- Updating 100% ::x (dev)\n+++ Result\n", "--- Updating 100% ::x (dev)\n^^^ +++\n+++ Result\n"},
	} {
		t.Run(name, func(t *testing.T) {
			for failed, want := range map[bool]string{false: c.want, true: c.failed} {
				var out bytes.Buffer
				f := from(c.variable, "true").Frame(&out)
				f.Begin("Updating 100%\n::x (dev):")
				f.End(failed)
				require.Equal(t, want, out.String())
			}
		})
	}
	require.Nil(t, (*Service)(nil).Frame(nil))
}

func TestAnnotationsCannotBecomeOtherCommands(t *testing.T) {
	s := from("GITHUB_ACTIONS", "true", "GITHUB_WORKSPACE", "/work/repo")
	var out bytes.Buffer
	s.Annotate(&out, Annotation{
		File: "/work/repo/infra/a,b:c.ts", Line: 14, Column: 3, Title: "x\n::add-mask::y", Message: "100%\r\n::set-env name=A::b\n",
	})
	require.Equal(t, "::error file=infra/a%2Cb%3Ac.ts,line=14,col=3,title=x %3A%3Aadd-mask%3A%3Ay::100%25%0A::set-env name=A::b\n", out.String())
	out.Reset()
	s.Annotate(&out, Annotation{Warning: true, File: "/elsewhere/x.ts", Title: "t", Message: strings.Repeat("é", maxAnnotation)})
	require.Regexp(t, `^::warning file=/elsewhere/x.ts,title=t::é+ \.\.\.\n$`, out.String())
	require.LessOrEqual(t, out.Len(), maxAnnotation+100)
	out.Reset()
	from("GITLAB_CI", "true").Annotate(&out, Annotation{Message: "x"})
	(*Service)(nil).Annotate(&out, Annotation{Message: "x"})
	require.Empty(t, out.String())
}

func TestNothingThatIsGuardedIsACommand(t *testing.T) {
	for name, c := range map[string]struct{ variable, in, want string }{
		"a command":            {"GITHUB_ACTIONS", "::error::x\n", ":\\:error::x\n"},
		"behind space":         {"GITHUB_ACTIONS", " \t\u00a0\u2003::error::x\n", " \t\u00a0\u2003:\\:error::x\n"},
		"in a later line":      {"GITHUB_ACTIONS", "a\n::error::x\r::debug::", "a\n:\\:error::x\r:\\:debug::"},
		"the old form":         {"GITHUB_ACTIONS", "text ##[add-mask]x", "text ##\\[add-mask]x"},
		"the old form, longer": {"GITHUB_ACTIONS", "####[group]x", "####\\[group]x"},
		"a URN":                {"GITHUB_ACTIONS", "urn:pulumi:dev::p::a:b:C::d\n: :x\n#[x]\n", "urn:pulumi:dev::p::a:b:C::d\n: :x\n#[x]\n"},
		"three colons":         {"GITHUB_ACTIONS", ":::x", ":\\::x"},
		"a section":            {"GITLAB_CI", "section_start:1:x\r\x1b[0Ktitle", "section_start:1:x\x1b[0Ktitle"},
		"of Azure":             {"TF_BUILD", "x ##vso[task.setvariable]y\n##[error]z ####VSO[a] ##vs[ ## vso[", "x ##vso\\[task.setvariable]y\n##\\[error]z ####VSO\\[a] ##vs[ ## vso["},
		"of TeamCity":          {"TEAMCITY_VERSION", "##teamcity[buildStatus text='x'] ##team##teamcity[x ##teamcityx[", "##teamcity\\[buildStatus text='x'] ##team##teamcity\\[x ##teamcityx["},
		"a group":              {"BUILDKITE", "--- a\n+++ b\n~~~ c\n^^^ +++\nx --- y\n-- z\n", "--\\- a\n++\\+ b\n~~\\~ c\n^^\\^ +++\nx --- y\n-- z\n"},
		"a group in colour":    {"BUILDKITE", "\x1b[31;1m--- a\x1b[0m\n +++ b\n-+-+\n", "\x1b[31;1m--\\- a\x1b[0m\n +++ b\n-+-+\n"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, pieces := range [][]string{{c.in}, strings.Split(c.in, "")} {
				var out bytes.Buffer
				g := from(c.variable, "true").Guard(&out)
				for _, p := range pieces {
					n, err := g.Write([]byte(p))
					require.NoError(t, err)
					require.Equal(t, len(p), n)
				}
				require.Equal(t, c.want, out.String())
			}
		})
	}
	var out bytes.Buffer
	require.Same(t, &out, (*Service)(nil).Guard(&out))
}

// obeyed matches the lines that GitHub or Buildkite would execute as commands.
var obeyed = map[string]*regexp.Regexp{
	"GITHUB_ACTIONS":   regexp.MustCompile(`(?:^|[\n\r])[\s\p{Z}]*::|##\[`),
	"GITLAB_CI":        regexp.MustCompile(`section_(start|end):\d+:[\w.-]+(\[[^\]]*\])?\r`),
	"TF_BUILD":         regexp.MustCompile(`(?i)##(vso)?\[`),
	"TEAMCITY_VERSION": regexp.MustCompile(`##teamcity\[`),
	"BUILDKITE":        regexp.MustCompile(`(?:^|[\n\r])(?:\x1b\[[\d;]*m)*(?:---|\+\+\+|~~~|\^\^\^)`),
}

func FuzzGuard(f *testing.F) {
	for _, seed := range []string{"::error::x", "a\n \t::x", "##[x]", "##vso[x]", "###teamcity[", "--- x", "\x1b[1m+++", "section_end:1:a\r", "---+++", "\x1b\x1b[m---", "+-\n---"} {
		f.Add(seed, uint8(3))
	}
	f.Fuzz(func(t *testing.T, text string, at uint8) {
		cut := min(int(at), len(text))
		for variable, command := range obeyed {
			var out bytes.Buffer
			g := from(variable, "true").Guard(&out)
			for _, p := range []string{text[:cut], text[cut:]} {
				_, err := g.Write([]byte(p))
				require.NoError(t, err)
			}
			require.NotRegexp(t, command, out.String())
		}
	})
}

func TestTheSummaryIsAppended(t *testing.T) {
	path := filepath.Join(t.TempDir(), "summary")
	s := from("GITHUB_ACTIONS", "true", "GITHUB_STEP_SUMMARY", path)
	require.Equal(t, maxSummary, s.SummaryRoom())
	require.NoError(t, s.Summarize(t.Context(), Summary{Markdown: "one\n"}))
	require.NoError(t, s.Summarize(t.Context(), Summary{Markdown: "two\n"}))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "one\ntwo\n", string(text))
	require.Equal(t, maxSummary-8, s.SummaryRoom())
	require.Zero(t, from("GITLAB_CI", "true").SummaryRoom())
	require.Zero(t, from("BUILDKITE", "true").SummaryRoom(), "there is no agent")
	require.Zero(t, (*Service)(nil).SummaryRoom())
	s = from("GITHUB_ACTIONS", "true", "GITHUB_STEP_SUMMARY", path+"/x")
	require.ErrorContains(t, s.Summarize(t.Context(), Summary{Markdown: "x"}), "the summary of the job")
}

func TestGitLabGetsFiles(t *testing.T) {
	require.False(t, from("GITLAB_CI", "true").Files())
	require.False(t, from("GITHUB_ACTIONS", "true", "PULUMI_CI_REPORTS", "x").Files())
	folder := filepath.Join(t.TempDir(), "reports")
	s := from("GITLAB_CI", "true", "CI_PROJECT_DIR", "/builds/shop", "PULUMI_CI_REPORTS", folder)
	require.True(t, s.Files())
	mark := Annotation{File: "/builds/shop/infra/Pulumi.yaml", Line: 4, Title: "T bad", Message: "the name\nis taken"}
	s.Annotate(nil, mark)
	s.Annotate(nil, mark) // once in the preview, and once in the update
	s.Annotate(nil, Annotation{Title: "sluice", Message: "it is nowhere"})
	s.Annotate(nil, Annotation{Warning: true, File: "/builds/shop/index.ts", Title: "T old", Message: "it is old"})
	require.NoError(t, s.WriteFiles(&Planned{Create: 2, Delete: 1}))
	var got []map[string]any
	text, err := os.ReadFile(filepath.Join(folder, "gl-code-quality-report.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &got))
	require.Len(t, got, 2)
	require.NotEqual(t, got[0]["fingerprint"], got[1]["fingerprint"])
	require.Regexp(t, "^[0-9a-f]{32}$", got[0]["fingerprint"])
	delete(got[0], "fingerprint")
	require.Equal(t, map[string]any{
		"description": "T bad: the name is taken", "check_name": "sluice", "severity": "critical",
		"location": map[string]any{"path": "infra/Pulumi.yaml", "lines": map[string]any{"begin": 4.0}},
	}, got[0])
	require.Equal(t, "minor", got[1]["severity"])
	text, err = os.ReadFile(filepath.Join(folder, "gl-plan.json"))
	require.NoError(t, err)
	require.JSONEq(t, `{"create": 2, "update": 0, "delete": 1}`, string(text))
	require.ErrorContains(t, from("GITLAB_CI", "true", "PULUMI_CI_REPORTS", filepath.Join(folder, "gl-plan.json")).WriteFiles(nil), "the files for the service")
}
