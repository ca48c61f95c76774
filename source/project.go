package source

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Project defines where a program is and how it is run ([protocol.md 6.1]).
//
// [protocol.md 6.1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#61-language-plugins
type Project struct {
	Runtime   string         // "nodejs", "go", "python", ...
	Options   map[string]any // the options of the runtime from the project file
	Root      string         // absolute directory of the project file
	Directory string         // absolute directory of the program, which becomes its working directory
	Entry     string         // "." or a file or directory below Directory
	Args      []string       // for the program
	Debug     bool           // the program waits for a debugger before it does anything
}

// Program names the program in messages.
func (p Project) Program() string {
	at := filepath.Join(p.Directory, p.Entry)
	if at == "" {
		return fmt.Sprintf("program (%s)", p.Runtime) // a text
	}
	return fmt.Sprintf("program %s (%s)", at, p.Runtime)
}

// Option returns a runtime option as text: "" when it is not given or is not text, a number or a bool.
func (p Project) Option(name string) string {
	switch v := p.Options[name].(type) {
	case string, bool, int, int64, float64:
		return fmt.Sprint(v)
	}
	return ""
}

// projectFiles are the names of project files, in order of precedence.
var projectFiles = [...]string{"Pulumi.json", "Pulumi.yaml", "Pulumi.yml"}

// FindProject returns the path of the project file of dir or of its nearest ancestor with one ([state.md 6.1]). The error wraps
// [fs.ErrNotExist] if there is none.
//
// [state.md 6.1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#61-project-file
func FindProject(dir string) (string, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for at := absolute; ; at = filepath.Dir(at) {
		for _, name := range projectFiles {
			path := filepath.Join(at, name)
			if info, err := os.Stat(path); err == nil && !info.IsDir() {
				return path, nil
			}
		}
		if filepath.Dir(at) == at {
			return "", fmt.Errorf("no Pulumi.yaml in %s or any directory above it: %w", absolute, fs.ErrNotExist)
		}
	}
}

// Locate returns the directory and the entry point of a program. root is the directory of the project file, and main is the file's "main":
// empty, a directory, or a file. The program must exist, except that a file may lack its extension. It need not lie below root: the project
// file of an inline program lies in a temporary folder and names the folder of its caller.
func Locate(root, main string) (directory, entry string, err error) {
	if root, err = filepath.Abs(root); err != nil {
		return "", "", fmt.Errorf("locate the program: %w", err)
	}
	if main == "" {
		return root, ".", nil
	}
	path := main
	if !filepath.IsAbs(path) {
		path = filepath.Join(root, main)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return filepath.Clean(path), ".", nil
	}
	if !existsWithSomeExtension(path) {
		return "", "", fmt.Errorf("the project's main %q does not exist in %s", main, root)
	}
	return filepath.Dir(path), filepath.Base(path), nil
}

func existsWithSomeExtension(path string) bool {
	entries, err := os.ReadDir(filepath.Dir(path))
	name := filepath.Base(path)
	return err == nil && slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		return e.Name() == name || strings.TrimSuffix(e.Name(), filepath.Ext(e.Name())) == name
	})
}

// ProgramExitError reports that the process of a program ended before the program was finished, and that no reason has been shown to the
// user.
type ProgramExitError struct {
	Program string // as [Project.Program]
	Status  string // "exit status 7", "signal: killed"
	Code    int    // 7, -1 when a signal ended it
	Output  string // its last lines, "" when it wrote none; not part of the message, because the run has shown them already
	Hint    string // what to do, "" if nothing is known
}

func (e *ProgramExitError) Error() string {
	msg := fmt.Sprintf("%s ended with %s before it was finished", e.Program, e.Status)
	if e.Code > 0 {
		msg = fmt.Sprintf("%s was not finished. Program exited with non-zero exit code: %d", e.Program, e.Code) // clients search for these words
	}
	if e.Hint != "" {
		msg += "\n" + e.Hint
	}
	return msg
}
