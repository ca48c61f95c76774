package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sluice-iac/sluice/state/backend"
)

// follow renames the settings file of a stack in this project and changes the selection, after a rename by this
// process or an interrupted rename that it completes. The latter may have begun in the folder of another project or
// on another machine.
func follow(s *Session, from, to backend.Ref) (remark string, err error) {
	if selected, err := s.Selection.Stack(); err == nil && selected != "" {
		if ref, err := s.Backend.Resolve(selected); err == nil && ref == from {
			if err := s.Selection.Select(to.String()); err != nil {
				return "", err
			}
		}
	}
	if from.Name == to.Name || from.Project == "" {
		return "", nil
	}
	if !s.Owns(from) {
		return elsewhere(s, from, to), nil
	}
	source, target := s.Project.StackFilePath(from.Name), s.Project.StackFilePath(to.Name)
	if _, err := os.Lstat(source); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if _, err := os.Lstat(target); err == nil {
		return fmt.Sprintf("%s and %s are both there: keep the one that is right as %s", source, target, filepath.Base(target)), nil
	}
	if err := os.Rename(source, target); err != nil {
		return "", fmt.Errorf("the stack is called %s now, but its configuration file is not: %w", s.NameOf(to), err)
	}
	return "", nil
}

// elsewhere says what remains to be done with the settings file of a stack that was in another project.
func elsewhere(s *Session, from, to backend.Ref) string {
	source, target := s.Project.StackFileName(from.Name), s.Project.StackFileName(to.Name)
	switch {
	case s.Owns(to):
		return fmt.Sprintf("its settings are those in %s in this folder from now on; if it had a configuration file, %s of the project %s, move it there",
			target, source, from.Project)
	case from.Project == to.Project:
		return fmt.Sprintf("if it has a configuration file, rename it from %s to %s in the folder of the project %s", source, target, from.Project)
	}
	return fmt.Sprintf("if it has a configuration file, %s of the project %s, move it to %s in the folder of the project %s", source, from.Project, target, to.Project)
}
