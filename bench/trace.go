package main

import (
	"errors"
	"os"
	"runtime/trace"
)

// startTrace begins to write a trace of Go's runtime; "" writes none. stop ends it.
func startTrace(path string) (stop func() error, err error) {
	if path == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := trace.Start(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error {
		trace.Stop()
		return f.Close()
	}, nil
}
