package interrupts

import (
	"os"
	"os/signal"
	"syscall"
)

// terminations are the signals that ask a process to end. That of a terminal that goes away is not one for who asked to survive it,
// as nohup does.
func terminations() []os.Signal {
	if signal.Ignored(syscall.SIGHUP) {
		return []os.Signal{syscall.SIGTERM}
	}
	return []os.Signal{syscall.SIGTERM, syscall.SIGHUP}
}
