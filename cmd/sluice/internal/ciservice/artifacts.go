package ciservice

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Planned counts what a preview predicts. A replacement is a create and a delete.
type Planned struct {
	Create int `json:"create"`
	Update int `json:"update"`
	Delete int `json:"delete"`
}

// The files that GitLab reads, in the folder that the job names.
const (
	qualityFile = "gl-code-quality-report.json"
	plannedFile = "gl-plan.json"
)

// Files reports whether the job has a folder for files that the service reads.
func (s *Service) Files() bool { return s != nil && s.folder != "" }

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
