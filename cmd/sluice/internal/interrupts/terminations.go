package interrupts

import (
	"os"
	"os/signal"
	"syscall"
)

// terminations returns the signals that ask a process to end. SIGHUP is not among them if it is ignored, as under
// nohup.
func terminations() []os.Signal {
	if signal.Ignored(syscall.SIGHUP) {
		return []os.Signal{syscall.SIGTERM}
	}
	return []os.Signal{syscall.SIGTERM, syscall.SIGHUP}
}
