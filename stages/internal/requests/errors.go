package requests

import (
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/stages"
)

func (e *unknownPackageError) Error() string {
	return fmt.Sprintf("unknown provider package '%v'", e.ref)
}

// repeatsShutDown reports whether a message of a program only repeats that the monitor has ended. Only its text shows that.
func repeatsShutDown(message string) bool {
	return strings.Contains(message, stages.ErrShutDown.Error())
}
