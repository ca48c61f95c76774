package layout

import (
	"path"
	"strings"

	"github.com/sluice-iac/sluice/state/backend/internal/compression"
)

// key returns the key of something below .pulumi.
func key(parts ...string) string {
	return path.Join(append([]string{".pulumi"}, parts...)...)
}

// Meta returns the key of the file with the layout of a store.
func Meta() string { return key("meta.yaml") }

// Locks returns the folder of the locks of all stacks.
func Locks() string { return key("locks") }

// Own returns the folder of the files that only sluice uses.
func Own() string { return key("sluice") }

// Temporary returns the folder for files that are being written.
func Temporary() string { return key("sluice", "tmp") }

// Stacks returns the prefix of the keys of the stacks of a project, or of all stacks if it is "".
func Stacks(project string) string {
	prefix := key("stacks") + "/"
	if project != "" {
		prefix += project + "/"
	}
	return prefix
}

// StackOf returns the stack whose file has this key. In the old layout (legacy) stacks have no project.
func StackOf(key string, legacy bool) (s Stack, is bool) {
	folder, file := path.Split(strings.TrimPrefix(key, Stacks("")))
	folder = strings.TrimSuffix(folder, "/")
	name, is := stackName(file)
	return Stack{folder, name}, is && (legacy && folder == "" || !legacy && CheckName("project", folder, true) == nil)
}

// stackName returns the name of the stack whose file has this base name.
func stackName(file string) (name string, is bool) {
	name = compression.TrimExtension(file)
	ext := path.Ext(name)
	name = strings.TrimSuffix(name, ext)
	return name, (ext == ".json" || ext == ".yaml" || ext == ".yml") && CheckName("stack", name, true) == nil
}
