package ciservice

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/cisystem"
	"github.com/sluice-iac/sluice/internal/text/printable"
)

// Service is the service that runs the process. A nil Service stands for none: its methods do nothing, and return texts unchanged.
type Service struct {
	kind      kind
	workspace string // the directory that file names are relative to; "" if it is unknown
	summary   string // the file for the summary of the job; "" if there is none
	agent     string // the program that shows summaries on the page of a build; "" if there is none
	step      string // the step of the build, for the agent
	folder    string // for files that the service reads; "" if the job does not want any
	now       func() time.Time

	marks []Annotation // for a service whose logs cannot show them
}

type kind int

const (
	gitHub kind = iota + 1
	gitLab
	buildkite
	azure
	teamCity
)

// From returns the service that the environment describes; nil for none, or if PULUMI_CI is "none". PULUMI_CI may also name the service: "github",
// "gitlab", "buildkite", "azure" or "teamcity". find finds programs, as [exec.LookPath] does.
func From(lookup func(name string) (string, bool), find func(program string) (string, error)) *Service {
	env := func(name string) string {
		value, _ := lookup(name)
		return value
	}
	s := &Service{now: time.Now}
	chosen, found := strings.ToLower(env("PULUMI_CI")), cisystem.Of(env)
	is := func(name string, system cisystem.System) bool {
		return chosen == name || chosen == "" && slices.Contains(found, system)
	}
	switch {
	case chosen == "none":
		return nil
	case is("github", cisystem.GitHub):
		s.kind, s.workspace, s.summary = gitHub, env("GITHUB_WORKSPACE"), env("GITHUB_STEP_SUMMARY")
	case is("gitlab", cisystem.GitLab):
		s.kind, s.workspace = gitLab, env("CI_PROJECT_DIR")
		if s.folder = env("PULUMI_CI_REPORTS"); s.folder != "" && !filepath.IsAbs(s.folder) {
			s.folder = filepath.Join(s.workspace, s.folder) // paths of artifacts are relative to the workspace
		}
	case is("buildkite", cisystem.Buildkite):
		s.kind, s.workspace = buildkite, env("BUILDKITE_BUILD_CHECKOUT_PATH")
		s.step = cmp.Or(env("BUILDKITE_STEP_ID"), env("BUILDKITE_JOB_ID"))
		if agent, err := find("buildkite-agent"); err == nil {
			s.agent = agent
		}
	case is("azure", cisystem.Azure):
		s.kind, s.workspace = azure, env("BUILD_SOURCESDIRECTORY")
	case is("teamcity", cisystem.TeamCity):
		s.kind = teamCity
	default:
		return nil
	}
	return s
}

// Frame folds parts of the text written to a stream.
type Frame struct {
	service *Service
	out     io.Writer // unguarded, for the commands of the frame itself
	opened  int
	name    string // the name of the open part
}

// Frame returns the frame of a stream; nil without a service, or if the logs of the service cannot be folded. Write the texts between its parts to a
// [Guard] of the same stream.
func (s *Service) Frame(out io.Writer) *Frame {
	if s == nil || s.kind == azure || s.kind == teamCity {
		return nil
	}
	return &Frame{service: s, out: out}
}

// Begin begins a part, which the service can fold.
func (f *Frame) Begin(title string) {
	title = oneLine(title)
	f.opened++
	switch f.service.kind {
	case gitHub:
		fmt.Fprintf(f.out, "::group::%s\n", escapeData(title))
	case gitLab:
		now := f.service.now()
		f.name = fmt.Sprintf("sluice_%d_%d", now.UnixNano(), f.opened)
		fmt.Fprintf(f.out, "\x1b[0Ksection_start:%d:%s[collapsed=true]\r\x1b[0K%s\n", now.Unix(), f.name, title)
	case buildkite:
		fmt.Fprintf(f.out, "--- %s\n", title)
	}
}

// End ends the part. A failed part stays unfolded, in services where the text controls that.
func (f *Frame) End(failed bool) {
	switch f.service.kind {
	case gitHub:
		fmt.Fprint(f.out, "::endgroup::\n")
	case gitLab:
		fmt.Fprintf(f.out, "\x1b[0Ksection_end:%d:%s\r\x1b[0K\n", f.service.now().Unix(), f.name)
	case buildkite:
		if failed {
			fmt.Fprint(f.out, "^^^ +++\n")
		}
		fmt.Fprint(f.out, "+++ Result\n") // in Buildkite, a part ends where the next one begins
	}
}

// Annotation is a message about a place in a file.
type Annotation struct {
	Warning      bool   // not an error
	File         string // its path; "" for a message about no file
	Line, Column int    // from 1; 0 if it is not known
	Title        string
	Message      string
}

// maxAnnotation is the length in bytes at which messages of annotations are cut.
const maxAnnotation = 4 << 10

// maxMarks is the number of annotations kept for services whose logs cannot show them.
const maxMarks = 100

// text returns the message, cut to the length that services accept.
func (a Annotation) text() string {
	text := strings.TrimSpace(printable.Text(a.Message))
	if len(text) > maxAnnotation {
		text = strings.ToValidUTF8(text[:maxAnnotation], "") + " ..."
	}
	return text
}

// Annotate annotates a line of a file. If logs cannot show annotations, [Service.Summarize] and [Service.WriteFiles] do.
func (s *Service) Annotate(out io.Writer, a Annotation) {
	switch {
	case s == nil:
		return
	case s.kind != gitHub:
		if len(s.marks) < maxMarks && !slices.Contains(s.marks, a) {
			s.marks = append(s.marks, a)
		}
		return
	}
	command := "error"
	if a.Warning {
		command = "warning"
	}
	var properties []string
	add := func(name, value string) {
		if value != "" && value != "0" {
			properties = append(properties, name+"="+escapeProperty(value))
		}
	}
	if a.File != "" {
		add("file", s.relative(a.File))
		add("line", strconv.Itoa(a.Line))
		add("col", strconv.Itoa(a.Column))
	}
	add("title", oneLine(a.Title))
	fmt.Fprintf(out, "::%s %s::%s\n", command, strings.Join(properties, ","), escapeData(a.text()))
}

// relative returns a path as the service names files.
func (s *Service) relative(path string) string {
	if rel, err := filepath.Rel(cmp.Or(s.workspace, "."), path); err == nil && filepath.IsLocal(rel) {
		path = rel
	}
	return filepath.ToSlash(path)
}

// escapeData escapes the message of a command to GitHub.
func escapeData(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
}

// escapeProperty escapes the value of a property of a command to GitHub.
func escapeProperty(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(text)
}

// oneLine makes a title of a text.
func oneLine(text string) string {
	return strings.TrimSpace(printable.Line(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.TrimSuffix(text, ":"))))
}

// Summary is a summary of an operation for the page of a job.
type Summary struct {
	About    string // "update of shop/dev": a summary replaces an earlier one about the same, if the service supports that
	Failed   bool
	Markdown string // at most [Service.SummaryRoom] bytes
}

// maxSummary is the maximal size of a step's summary in bytes.
const maxSummary = 1 << 20

// SummaryRoom returns the number of bytes left for the summary of the job, 0 if it has no summary.
func (s *Service) SummaryRoom() int {
	switch {
	case s == nil:
		return 0
	case s.agent != "":
		return max(maxSummary-len(s.marksText()), 0)
	case s.summary == "":
		return 0
	}
	size := int64(0)
	if info, err := os.Stat(s.summary); err == nil {
		size = info.Size()
	}
	return int(max(maxSummary-size, 0))
}

// Summarize adds a summary to the page of the job. If lines of files cannot be annotated, the summary begins with the annotations.
func (s *Service) Summarize(ctx context.Context, summary Summary) error {
	summarize := s.appendSummary
	if s.agent != "" {
		summarize = s.annotateBuild
	}
	if err := summarize(ctx, summary); err != nil {
		return fmt.Errorf("the summary of the job: %w", err)
	}
	return nil
}

func (s *Service) appendSummary(_ context.Context, summary Summary) error {
	f, err := os.OpenFile(s.summary, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, summary.Markdown)
	return errors.Join(err, f.Close())
}

// agentTime limits how long the agent of a service may take.
const agentTime = time.Minute

// annotateBuild shows an annotation through Buildkite's agent. It replaces that of the same step about the same thing.
func (s *Service) annotateBuild(ctx context.Context, summary Summary) error {
	style := "success"
	if summary.Failed {
		style = "error"
	} else if len(s.marks) > 0 {
		style = "warning"
	}
	ctx, stop := context.WithTimeout(ctx, agentTime)
	defer stop()
	cmd := exec.CommandContext(ctx, s.agent, "annotate", "--style", style, "--context", strings.Join(strings.Fields("sluice "+s.step+" "+summary.About), "-"))
	cmd.Stdin = strings.NewReader(s.marksText() + summary.Markdown)
	cmd.WaitDelay = time.Second
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("buildkite-agent annotate: %w: %s", err, oneLine(string(said)))
	}
	return nil
}

// marksText lists marks in Markdown.
func (s *Service) marksText() string {
	var b strings.Builder
	for _, a := range s.marks {
		place := ""
		if a.File != "" {
			place = s.relative(a.File)
			if a.Line > 0 {
				place += fmt.Sprintf(":%d", a.Line)
			}
			place = inlineCode(place) + " "
		}
		fmt.Fprintf(&b, "- %s%s\n", place, inlineCode(oneLine(a.Title)+": "+oneLine(a.text())))
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	return b.String()
}

// The files that GitLab reads, in the folder that the job names.
const (
	qualityFile = "gl-code-quality-report.json"
	plannedFile = "gl-plan.json"
)

// Files reports whether the job has a folder for files that the service reads.
func (s *Service) Files() bool { return s != nil && s.folder != "" }

// WriteFiles writes the annotations of source lines so far and, after a preview, the planned counts. It leaves out annotations without a place,
// because GitLab does not show them.
func (s *Service) WriteFiles(planned *Planned) error {
	findings := []finding{}
	for _, a := range s.marks {
		if a.File == "" {
			continue
		}
		f := finding{
			Description: oneLine(a.Title) + ": " + oneLine(a.text()), CheckName: "sluice", Severity: "critical",
			Location: location{s.relative(a.File), lines{max(a.Line, 1)}},
		}
		if a.Warning {
			f.Severity = "minor"
		}
		hash := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%s", f.Location.Path, f.Location.Lines.Begin, f.Description))
		f.Fingerprint = hex.EncodeToString(hash[:16])
		findings = append(findings, f)
	}
	if err := s.writeFile(qualityFile, findings); err != nil || planned == nil {
		return err
	}
	return s.writeFile(plannedFile, planned)
}

func (s *Service) writeFile(name string, content any) error {
	text, err := json.MarshalIndent(content, "", "  ")
	if err == nil {
		err = os.MkdirAll(s.folder, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(s.folder, name), append(text, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("the files for the service that runs the job: %w", err)
	}
	return nil
}

// Guard returns a writer to out that escapes, with a backslash, each text that the service would execute as a command. Messages of providers and
// programs are data, whatever they contain. Without a service it returns out.
//
// GitHub's alternative, `::stop-commands::`, needs a word that nobody can guess, so that no two logs would be the same.
func (s *Service) Guard(out io.Writer) io.Writer {
	if s == nil {
		return out
	}
	return &guard{kind: s.kind, out: out, start: true}
}

// inlineCode returns a text as Markdown in which nothing is a command.
func inlineCode(text string) string { return "`" + strings.ReplaceAll(text, "`", "'") + "`" }

// Planned counts what a preview predicts. A replacement is a create and a delete.
type Planned struct {
	Create int `json:"create"`
	Update int `json:"update"`
	Delete int `json:"delete"`
}

// finding is one entry of a GitLab code quality report.
type finding struct {
	Description string   `json:"description"`
	CheckName   string   `json:"check_name"`
	Fingerprint string   `json:"fingerprint"`
	Severity    string   `json:"severity"`
	Location    location `json:"location"`
}

type location struct {
	Path  string `json:"path"`
	Lines lines  `json:"lines"`
}

type lines struct {
	Begin int `json:"begin"`
}
