package operate

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/ciservice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/urn"
)

// jobPage annotates lines of the program in the CI service that runs the job. It is not safe for concurrent use.
type jobPage struct {
	service   *ciservice.Service
	root      string             // the directory of the project
	positions map[urn.URN]string // of resources in the program, as recorded in states
	marks     []stages.Diagnostic
	mask      func(string) string
}

// maxMarks is the maximal number of annotations. GitHub shows ten of each kind.
const maxMarks = 50

// newJobPage returns the page of a phase; nil if no service has one.
func newJobPage(o *operation) *jobPage {
	s := o.service
	if s == nil {
		return nil
	}
	return &jobPage{service: s, root: o.job.Stack.Session.Project.Directory(), positions: map[urn.URN]string{}, mask: o.job.known.Mask}
}

// observe processes an event.
func (p *jobPage) observe(e stages.Event) {
	switch e := e.(type) {
	case stages.StepStarted:
		p.learn(e.Step)
	case stages.StepDone:
		p.learn(e.Step)
	case stages.StepFailed:
		p.learn(e.Step)
	case stages.Diagnostic:
		if !e.Ephemeral && e.Severity >= stages.Warning && len(p.marks) < maxMarks {
			p.marks = append(p.marks, e)
		}
	}
}

// learn records where the program declares a resource. A deleted resource is not declared any more.
func (p *jobPage) learn(s stages.StepInfo) {
	if r := s.New; r != nil && r.SourcePosition != "" {
		p.positions[s.URN] = r.SourcePosition
	}
}

// annotate annotates lines of the program with messages. It annotates errors even if their place is unknown, for the page of the job.
func (p *jobPage) annotate(out io.Writer, e display.Ending) {
	decided := declaredAt(e.Log)
	for _, d := range p.marks {
		if d.URN == "" && strings.TrimSpace(d.Message) == e.Failed+" failed" {
			continue
		}
		if a, found := p.mark(d, decided); found || !a.Warning {
			p.service.Annotate(out, a)
		}
	}
}

// declaredAt returns the places of resources in the program, from the log of decisions. States do not have the places of YAML programs.
func declaredAt(log *why.Log) map[urn.URN]string {
	out := map[urn.URN]string{}
	if log != nil {
		for _, d := range log.Decisions {
			out[d.URN] = d.Position
		}
	}
	return out
}

// mark returns the annotation of a message, and reports whether its place is known. decided are the places of resources, "Pulumi.yaml:14".
func (p *jobPage) mark(d stages.Diagnostic, decided map[urn.URN]string) (a ciservice.Annotation, found bool) {
	a = ciservice.Annotation{Warning: d.Severity == stages.Warning, Title: "sluice", Message: display.Clean(p.mask(d.Message))}
	if d.URN != "" {
		a.Title = string(d.URN.Type().Short()) + " " + d.URN.Name()
	}
	if file, line, column, ok := p.place(d, decided); ok {
		a.File, a.Line, a.Column = file, line, column
		return a, true
	}
	return a, false
}

// said matches the place of an error in a file at the beginning of a message: "Pulumi.yaml:6:18: ".
var said = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([^\s:][^:\n]*):(\d+)(?::(\d+))?: `) })

// place returns the place in the program that a message is about.
func (p *jobPage) place(d stages.Diagnostic, decided map[urn.URN]string) (file string, line, column int, found bool) {
	if file, line, column, found = p.written(d.Message); found {
		return file, line, column, true
	}
	if name, line, column, found := position(p.positions[d.URN]); found {
		return filepath.Join(p.root, filepath.FromSlash(name)), line, column, true
	}
	return p.written(decided[d.URN] + ": ")
}

// written returns the place in a file at the beginning of a text, if there is such a file.
func (p *jobPage) written(text string) (file string, line, column int, found bool) {
	m := said().FindStringSubmatch(text)
	if m == nil {
		return "", 0, 0, false
	}
	file = m[1]
	if !filepath.IsAbs(file) {
		file = filepath.Join(p.root, file)
	}
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return "", 0, 0, false
	}
	line, _ = strconv.Atoi(m[2])
	column, _ = strconv.Atoi(m[3])
	return file, line, column, true
}

// position parses a recorded source position, "project:///src/index.ts#14,3".
func position(recorded string) (file string, line, column int, found bool) {
	path, found := strings.CutPrefix(recorded, "project:///")
	file, at, _ := strings.Cut(path, "#")
	lineText, columnText, _ := strings.Cut(at, ",")
	line, _ = strconv.Atoi(lineText)
	column, _ = strconv.Atoi(columnText)
	return file, line, column, found && filepath.IsLocal(filepath.FromSlash(file))
}
