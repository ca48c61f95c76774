//go:build !windows

package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Records of a stack are for their owner: not readable by others, and always accessible to the owner.
func TestFilesAreForTheirOwnerWhateverTheUmask(t *testing.T) {
	t.Parallel()
	sluice := filepath.Join(t.TempDir(), "sluice")
	linkSluice(t, sluice)
	for _, c := range []struct {
		umask, parameters string
		file, folder      fs.FileMode
	}{
		{"0", "", 0o600, 0o700}, {"0277", "", 0o600, 0o700}, {"0777", "", 0o600, 0o700},
		{"022", "&dir_file_mode=0770", 0o660, 0o770}, {"0777", "&dir_file_mode=0750", 0o640, 0o750},
	} {
		t.Run("umask "+c.umask+c.parameters, func(t *testing.T) {
			dir := t.TempDir()
			project := filepath.Join(dir, "project")
			require.NoError(t, os.Mkdir(project, 0o755))
			text := "name: demo\nruntime: yaml\noutputs:\n  a: 1\n"
			require.NoError(t, os.WriteFile(filepath.Join(project, "Pulumi.yaml"), []byte(text), 0o644))
			exported := filepath.Join(project, "export.json")
			require.NoError(t, os.WriteFile(exported, nil, 0o666))
			require.NoError(t, os.Chmod(exported, 0o666))
			run := func(args ...string) {
				t.Helper()
				cmd := exec.Command("sh", append([]string{"-c", "umask " + c.umask + `; exec "$0" "$@" --non-interactive`, sluice}, args...)...)
				cmd.Dir = project
				cmd.Env = append(os.Environ(), "HOME="+dir+"/home", "PULUMI_HOME="+dir+"/home/.pulumi", "PULUMI_BACKEND_URL=", "PULUMI_STACK=",
					"PULUMI_CONFIG_PASSPHRASE=p", "PULUMI_RETAIN_CHECKPOINTS=1")
				out, err := cmd.CombinedOutput()
				require.NoError(t, err, "%v\n%s", args, out)
			}
			run("login", "file://"+dir+"/states/team?create_dir=true"+c.parameters)
			run("stack", "init", "dev")
			run("config", "set", "--secret", "word", "hunter2")
			run("preview", "--save-plan", "plan.json")
			run("up", "--yes", "--plan", "plan.json", "--event-log", "events.json")
			run("stack", "tag", "set", "owner", "me")
			run("stack", "export", "--show-secrets", "--file", "export.json")
			run("stack", "rename", "test")
			run("up", "--yes", "--skip-preview")

			files := requireModes(t, filepath.Join(dir, "states"), c.file, c.folder)
			for _, part := range []string{"/stacks/demo/test.json", "/stacks/demo/test.json.bak", "/history/demo/test/", "/backups/demo/test/", "meta.yaml", ".pulumi-tags"} {
				require.Contains(t, files, part)
			}
			files = requireModes(t, filepath.Join(dir, "home"), 0o600, 0o700)
			require.Contains(t, files, "credentials.json")
			require.Contains(t, files, "workspaces/demo-")
			for _, name := range []string{"plan.json", "events.json", "export.json", "Pulumi.test.yaml"} {
				info, err := os.Stat(filepath.Join(project, name))
				require.NoError(t, err)
				require.Equal(t, fs.FileMode(0o600), info.Mode(), name)
			}
		})
	}
}

// requireModes checks the permissions of everything below a folder, and returns the names of the files.
func requireModes(t *testing.T, root string, file, folder fs.FileMode) string {
	t.Helper()
	var names []string
	require.NoError(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := e.Info()
		require.NoError(t, err)
		want := file
		if e.IsDir() {
			want = fs.ModeDir | folder
		} else {
			names = append(names, path)
		}
		require.Equal(t, want, info.Mode(), path)
		return nil
	}))
	return strings.Join(names, "\n")
}
