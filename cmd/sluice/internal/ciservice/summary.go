package ciservice

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

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

// inlineCode returns a text as Markdown in which nothing is a command.
func inlineCode(text string) string { return "`" + strings.ReplaceAll(text, "`", "'") + "`" }
