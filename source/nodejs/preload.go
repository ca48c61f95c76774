package nodejs

import (
	_ "embed"
	"fmt"
	"os"
)

//go:embed preload.cjs
var preload []byte

// writePreload writes the module that is loaded into node first. The caller removes it.
func writePreload() (path string, err error) {
	f, err := os.CreateTemp("", "sluice-preload-*.cjs")
	if err != nil {
		return "", fmt.Errorf("prepare node: %w", err)
	}
	_, err = f.Write(preload)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return "", fmt.Errorf("prepare node: %w", err)
	}
	return f.Name(), nil
}
