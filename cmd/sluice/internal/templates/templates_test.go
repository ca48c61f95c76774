package templates

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

func TestBuiltInTemplatesMakeProjects(t *testing.T) {
	for _, kind := range []Kind{Projects(), Policies(), Packages()} {
		entries, err := builtin.ReadDir(kind.folder)
		require.NoError(t, err)
		require.Len(t, entries, len(kind.Names()), "a template that is not offered")
		testBuiltIn(t, kind)
	}
}

// testBuiltIn writes something from each built-in template of a kind.
func testBuiltIn(t *testing.T, kind Kind) {
	t.Helper()
	const description = `It's "quoted": # and ${odd}`
	for _, name := range kind.Names() {
		t.Run(kind.folder+"/"+name, func(t *testing.T) {
			found, err := kind.Find(name)
			require.NoError(t, err)
			require.NotEmpty(t, found.Description)
			require.Equal(t, found.Description, found.ProjectDescription)
			dir := filepath.Join(t.TempDir(), "new", "deep")
			_, err = found.Write(dir, Project{Name: "my-shop", Description: description}, false)
			require.NoError(t, err)
			text, err := os.ReadFile(filepath.Join(dir, kind.file))
			require.NoError(t, err)
			var project map[string]any
			require.NoError(t, yaml.Unmarshal(text, &project))
			if kind.named {
				require.Equal(t, "my-shop", project["name"])
			}
			require.Equal(t, description, project["description"])
			require.NotContains(t, project, "template")
			require.NoError(t, filepath.WalkDir(dir, func(path string, f os.DirEntry, err error) error {
				if err != nil || f.IsDir() {
					return err
				}
				require.False(t, strings.HasSuffix(path, ending), path)
				text, err := os.ReadFile(path)
				require.NotContains(t, string(text), "${PROJECT}", path)
				require.NotContains(t, string(text), "${DESCRIPTION}", path)
				return err
			}))
		})
	}
}

func TestPersonalizeTouchesNothingElse(t *testing.T) {
	cases := map[string]struct{ text, want string }{
		"comments and empty lines": {
			"# A\nname: ${PROJECT} # b\n\n# C\nruntime: yaml\n\n# about the template\ntemplate:\n  description: x\n\n# D\nconfig:\n  a: 1\n",
			"# A\nname: shop\n\n# C\nruntime: yaml\n\n# about the template\n\n# D\nconfig:\n  a: 1\n",
		},
		"template at the end":    {"name: x\nruntime: go\ntemplate: {config: {a: {default: b}}}", "name: shop\nruntime: go\n"},
		"long description":       {"runtime: go\ndescription: |\n  a\n  b\nname: x\n", "runtime: go\nname: shop\n"},
		"nothing but a runtime":  {"---\n# first\nruntime: go\n", "---\n# first\nname: shop\nruntime: go\n"},
		"name within the values": {"name: x\nmain: name: y\n", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := personalize(c.text, Project{Name: "shop"})
			if c.want == "" {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
	got, err := personalize("name: x\ndescription: old\nruntime: go\n", Project{Name: "on", Description: "a\nb"})
	require.NoError(t, err)
	require.Equal(t, "name: \"on\"\ndescription: |-\n    a\n    b\nruntime: go\n", got)
}

func TestRuntimeOptionsAreAddedToProjectFile(t *testing.T) {
	more := map[string]string{"toolchain": "uv", "typescript": "false"}
	merged := "    options:\n        toolchain: uv\n        typescript: false\n"
	for name, c := range map[string]struct{ text, want string }{
		"a name":               {"runtime: nodejs\n# kept\nmain: x\n", "runtime:\n    name: nodejs\n" + merged + "# kept\nmain: x\n"},
		"other options":        {"runtime: {name: python, options: {toolchain: pip}}\n", "runtime:\n    name: python\n" + merged},
		"no options":           {"runtime:\n  name: go\n  options:\n", "runtime:\n    name: go\n" + merged},
		"options are no table": {"runtime: {name: go, options: [a]}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := personalize(c.text, Project{RuntimeOptions: more})
			if c.want == "" {
				require.ErrorContains(t, err, "the options of its runtime are not a mapping")
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

// folder writes the files of a template into a new folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return dir
}

func TestAFolderIsATemplate(t *testing.T) {
	dir := folder(t, map[string]string{
		"Pulumi.yaml": "name: x\nruntime: go\ndescription: d\ntemplate:\n  config:\n    region: eu\n    token: {description: A token, secret: true}\n    size: {default: '3'}\n",
		"deep/a.txt":  "${PROJECT}: ${DESCRIPTION}", "image": "\x00${PROJECT}", ".git/config": "", "node_modules/x": "",
	})
	found, err := Projects().Find(dir)
	require.NoError(t, err)
	require.Equal(t, "d", found.ProjectDescription)
	require.Equal(t, []Setting{
		{Key: "region", Default: "eu", HasDefault: true}, {Key: "token", Description: "A token", Secret: true},
		{Key: "size", Default: "3", HasDefault: true},
	}, found.Settings)
	files, err := found.render(Project{Name: "shop", Description: "D"})
	require.NoError(t, err)
	require.Equal(t, map[string][]byte{
		"Pulumi.yaml": []byte("name: shop\nruntime: go\ndescription: D\n"), filepath.FromSlash("deep/a.txt"): []byte("shop: D"), "image": []byte("\x00${PROJECT}"),
	}, files)

	_, err = Projects().Find(filepath.Join(dir, "deep"))
	require.ErrorContains(t, err, "has no Pulumi.yaml")
	_, err = Projects().Find("https://example.com/x")
	require.ErrorContains(t, err, "not downloaded")
	require.ErrorAs(t, err, new(*UnknownError))
}

// A template may be from a stranger: it must not bring files of the user into the project.
func TestLinksOfATemplateLeadToItsOwnFiles(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("s3cret"), 0o600))
	for name, c := range map[string]struct{ to, want string }{
		"own file":        {"a.txt", ""},
		"file outside":    {secret, "escapes"},
		"way out":         {"../../" + filepath.Base(filepath.Dir(secret)) + "/secret", "escapes"},
		"endless":         {"/dev/zero", "escapes"},
		"own directory":   {"deep", "not a regular file"},
		"itself":          {"link", "too many levels"},
		"not there":       {"nowhere", "no such file"},
		"directory above": {".", "not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, map[string]string{"Pulumi.yaml": "runtime: go\n", "a.txt": "a", "deep/b": "b"})
			require.NoError(t, os.Symlink(c.to, filepath.Join(dir, "link")))
			found, err := Projects().Find(dir)
			require.NoError(t, err)
			files, err := found.render(Project{Name: "shop"})
			if c.want != "" {
				require.ErrorContains(t, err, "link: ")
				require.ErrorContains(t, err, c.want)
				return
			}
			require.NoError(t, err)
			require.Equal(t, "a", string(files["link"]))
		})
	}
}

func TestTemplatesHaveALimitedSize(t *testing.T) {
	dir := folder(t, map[string]string{"Pulumi.yaml": "runtime: go\n", "big": ""})
	require.NoError(t, os.Truncate(filepath.Join(dir, "big"), 1<<40))
	found, err := Projects().Find(dir)
	require.NoError(t, err)
	_, err = found.render(Project{Name: "shop"})
	require.ErrorContains(t, err, "big is larger than 100 MiB")
}

func TestWhatWasWrittenCanBeUndone(t *testing.T) {
	found, err := Projects().Find(folder(t, map[string]string{"Pulumi.yaml": "runtime: go\n", "a/b/c": "1", "d": "2"}))
	require.NoError(t, err)
	target := folder(t, map[string]string{"d": "mine", "other": ""})
	_, err = found.Write(target, Project{Name: "n"}, false)
	var exists *ExistsError
	require.ErrorAs(t, err, &exists)
	require.Equal(t, []string{"d"}, exists.Files)
	require.NoDirExists(t, filepath.Join(target, "a"))

	w, err := found.Write(target, Project{Name: "n"}, true)
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(target, "a/b/c"))
	require.NoError(t, w.Remember(filepath.Join(target, "other")))
	require.NoError(t, w.Remember(filepath.Join(target, "late")))
	require.NoError(t, os.WriteFile(filepath.Join(target, "other"), []byte("changed"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(target, "late"), []byte("made"), 0o644))
	require.NoError(t, w.Undo())
	entries, err := os.ReadDir(target)
	require.NoError(t, err)
	require.Len(t, entries, 2)
	for name, want := range map[string]string{"d": "mine", "other": ""} {
		text, err := os.ReadFile(filepath.Join(target, name))
		require.NoError(t, err)
		require.Equal(t, want, string(text))
	}

	// A file is in the place of a directory. The files written before it are removed again.
	blocked := folder(t, map[string]string{"a": "a file"})
	_, err = found.Write(blocked, Project{Name: "n"}, false)
	require.Error(t, err)
	entries, err = os.ReadDir(blocked)
	require.NoError(t, err)
	require.Len(t, entries, 1)
}
