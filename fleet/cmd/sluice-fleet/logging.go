package main

import (
	"log/slog"
	"os"

	"go.temporal.io/sdk/log"
)

// mostLog is the size in bytes from which the log is overwritten.
const mostLog = 16 << 20

// openLog returns a logger that appends warnings of Temporal's client to a file. It truncates a long one.
func openLog(path string) (log.Logger, error) {
	how := os.O_CREATE | os.O_APPEND | os.O_WRONLY
	if info, err := os.Stat(path); err == nil && info.Size() > mostLog {
		how |= os.O_TRUNC
	}
	f, err := os.OpenFile(path, how, 0o600)
	if err != nil {
		return nil, err
	}
	// The file is open as long as the process runs.
	return log.NewStructuredLogger(slog.New(slog.NewTextHandler(f, &slog.HandlerOptions{Level: slog.LevelWarn}))), nil
}
