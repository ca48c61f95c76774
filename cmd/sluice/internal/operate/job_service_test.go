package operate

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/ciservice"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

func TestMessagesAreMarkedWhereTheProgramSaysWhatTheyAreAbout(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "Pulumi.yaml"), nil, 0o644))
	u := urn.New("dev", "p", "", "pkg:mod/thing:Thing", "a")
	yaml := urn.New("dev", "p", "", "pkg:mod/thing:Thing", "b")
	p := &jobPage{root: root, positions: map[urn.URN]string{}, mask: func(s string) string { return s }}
	p.learn(stages.StepInfo{URN: u, New: &state.Resource{SourcePosition: "project:///src/index.ts#14,3"}})
	p.learn(stages.StepInfo{URN: u, Old: &state.Resource{SourcePosition: "project:///gone.ts#1"}}) // it is not about the present program
	about := func(u urn.URN, text string) stages.Diagnostic {
		return stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.Error, URN: u, Message: text}}
	}
	for name, c := range map[string]struct {
		about stages.Diagnostic
		want  ciservice.Annotation
		found bool
	}{
		"a resource": {about(u, "no\x1b[31m luck"),
			ciservice.Annotation{File: filepath.Join(root, "src/index.ts"), Line: 14, Column: 3, Title: "pkg:mod:Thing a", Message: "no luck"}, true},
		"a resource of which the program knows the place": {about(yaml, "no luck"),
			ciservice.Annotation{File: filepath.Join(root, "Pulumi.yaml"), Line: 9, Title: "pkg:mod:Thing b", Message: "no luck"}, true},
		"a message that says it": {about("", "Pulumi.yaml:6:18: no such type"),
			ciservice.Annotation{File: filepath.Join(root, "Pulumi.yaml"), Line: 6, Column: 18, Title: "sluice", Message: "Pulumi.yaml:6:18: no such type"}, true},
		"a line alone": {about("", filepath.Join(root, "Pulumi.yaml")+":6: x"),
			ciservice.Annotation{File: filepath.Join(root, "Pulumi.yaml"), Line: 6, Title: "sluice", Message: filepath.Join(root, "Pulumi.yaml") + ":6: x"}, true},
		"a host and a port": {about("", "localhost:80: refused"), ciservice.Annotation{Title: "sluice", Message: "localhost:80: refused"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, found := p.mark(c.about, map[urn.URN]string{yaml: "Pulumi.yaml:9"})
			require.Equal(t, c.found, found)
			require.Equal(t, c.want, got)
		})
	}
	for _, bad := range []string{"", "index.ts#1", "project:///../../etc/passwd#1"} {
		_, _, _, found := position(bad)
		require.False(t, found, bad)
	}
}
