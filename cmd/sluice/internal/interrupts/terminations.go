package interrupts

import (
	"os"
	"os/signal"
	"syscall"
)

// terminations returns the signals that end a process. It leaves out SIGHUP if that is ignored, as under nohup.
func terminations() []os.Signal {
	if signal.Ignored(syscall.SIGHUP) {
		return []os.Signal{syscall.SIGTERM}
	}
	return []os.Signal{syscall.SIGTERM, syscall.SIGHUP}
}
