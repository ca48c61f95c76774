package session

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/state/backend"
	stateworkspace "github.com/sluice-iac/sluice/state/backend/workspace"
)

// All references to a stack in the folder of its project get the new name, and nothing else changes.
func TestTheFilesOfAProjectFollowARenamedStack(t *testing.T) {
	for name, c := range map[string]struct {
		files, after []string
		from, to     backend.Ref
		selected     string // afterwards; organization/demo/dev before
		remark       string
	}{
		"its own stack": {
			[]string{"Pulumi.dev.yaml"}, []string{"Pulumi.live.yaml"}, backend.Ref{Project: "demo", Name: "dev"},
			backend.Ref{Project: "demo", Name: "live"}, "organization/demo/live", "",
		},
		"a stack that has followed already": {
			[]string{"Pulumi.live.yaml"}, []string{"Pulumi.live.yaml"}, backend.Ref{Project: "demo", Name: "dev"},
			backend.Ref{Project: "demo", Name: "live"}, "organization/demo/live", "",
		},
		"a stack that goes to another project": {
			[]string{"Pulumi.dev.yaml"}, []string{"Pulumi.live.yaml"}, backend.Ref{Project: "demo", Name: "dev"},
			backend.Ref{Project: "other", Name: "live"}, "organization/other/live", "",
		},
		"a stack that only changes its project": {
			[]string{"Pulumi.dev.yaml"}, []string{"Pulumi.dev.yaml"}, backend.Ref{Project: "demo", Name: "dev"},
			backend.Ref{Project: "other", Name: "dev"}, "organization/other/dev", "",
		},
		"a stack that is not selected": {
			[]string{"Pulumi.dev.yaml", "Pulumi.test.yaml"}, []string{"Pulumi.dev.yaml", "Pulumi.live.yaml"}, backend.Ref{Project: "demo", Name: "test"},
			backend.Ref{Project: "demo", Name: "live"}, "organization/demo/dev", "",
		},
		"another project's stack": {
			[]string{"Pulumi.dev.yaml"}, []string{"Pulumi.dev.yaml"}, backend.Ref{Project: "other", Name: "dev"},
			backend.Ref{Project: "other", Name: "live"}, "organization/demo/dev", "rename it from Pulumi.dev.yaml to Pulumi.live.yaml in the folder of the project other",
		},
		"another project's stack that comes here": {
			[]string{"Pulumi.dev.yaml"}, []string{"Pulumi.dev.yaml"}, backend.Ref{Project: "other", Name: "dev"},
			backend.Ref{Project: "demo", Name: "live"}, "organization/demo/dev", "its settings are those in Pulumi.live.yaml in this folder from now on; if it had a configuration file, Pulumi.dev.yaml of the project other, move it there",
		},
		"another project's stack that goes to a third one": {
			[]string{"Pulumi.dev.yaml"}, []string{"Pulumi.dev.yaml"}, backend.Ref{Project: "other", Name: "dev"},
			backend.Ref{Project: "third", Name: "live"}, "organization/demo/dev", "move it to Pulumi.live.yaml in the folder of the project third",
		},
		"two files": {
			[]string{"Pulumi.dev.yaml", "Pulumi.live.yaml"}, []string{"Pulumi.dev.yaml", "Pulumi.live.yaml"}, backend.Ref{Project: "demo", Name: "dev"},
			backend.Ref{Project: "demo", Name: "live"}, "organization/demo/live", "keep the one that is right as Pulumi.live.yaml",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, file := range c.files {
				require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte("config: {}\n"), 0o644))
			}
			project := &workspace.Project{Name: "demo", Path: filepath.Join(dir, "Pulumi.yaml")}
			b, err := host.OpenBackend(context.Background(), host.BackendOptions{URL: "file://" + t.TempDir(), Project: "demo"})
			require.NoError(t, err)
			s := &Session{Project: project, Backend: b, Selection: stateworkspace.NewSelection(t.TempDir(), "demo", project.Path, "file://x")}
			require.NoError(t, s.Selection.Select("organization/demo/dev"))
			for range 2 { // a second call changes nothing
				remark, err := follow(s, c.from, c.to)
				require.NoError(t, err)
				require.Contains(t, remark, c.remark)
				require.Equal(t, c.remark == "", remark == "")
			}
			found, err := filepath.Glob(filepath.Join(dir, "Pulumi.*.yaml"))
			require.NoError(t, err)
			var names []string
			for _, path := range found {
				names = append(names, filepath.Base(path))
			}
			require.Equal(t, c.after, names)
			selected, err := s.Selection.Stack()
			require.NoError(t, err)
			require.Equal(t, c.selected, selected)
		})
	}
}
