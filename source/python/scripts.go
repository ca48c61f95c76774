package python

import (
	_ "embed"
	"fmt"
	"os"
)

//go:embed run.py
var runScript []byte

//go:embed packages.py
var packagesScript string

// writeRunner writes the script that runs programs. The caller removes it.
func writeRunner() (path string, err error) {
	f, err := os.CreateTemp("", "sluice-run-*.py")
	if err != nil {
		return "", fmt.Errorf("prepare python: %w", err)
	}
	_, err = f.Write(runScript)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return "", fmt.Errorf("prepare python: %w", err)
	}
	return f.Name(), nil
}
