package admit

import (
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/stages"
)

func (e *unknownPackageError) Error() string {
	return fmt.Sprintf("unknown provider package '%v'", e.ref)
}

// shownError is an error that a program or plugin has shown itself.
type shownError string

func (e shownError) Error() string { return strings.TrimSpace(string(e)) }

// isEchoOfShutDown reports whether a message only repeats that the monitor went away.
func isEchoOfShutDown(message string) bool {
	return strings.Contains(message, stages.ErrShutDown.Error())
}
