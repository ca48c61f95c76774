package main

import (
	"log/slog"
	"os"

	"go.temporal.io/sdk/log"
)

// openLog returns a logger that adds warnings of Temporal's client to a file.
func openLog(path string) (log.Logger, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	// The file is open as long as the process runs.
	return log.NewStructuredLogger(slog.New(slog.NewTextHandler(f, &slog.HandlerOptions{Level: slog.LevelWarn}))), nil
}
