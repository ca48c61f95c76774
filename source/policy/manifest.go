package policy

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
)

// readManifest reads the manifest of a folder.
func readManifest(directory string) (source.Manifest, error) {
	m, err := source.ReadManifest(directory, plugin.PolicyManifest)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return m, &noManifestError{directory}
	case err != nil:
		return m, fmt.Errorf("read the policy pack: %w", err)
	}
	return m, nil
}

// noManifestError reports a folder without a manifest. It is an [fs.ErrNotExist].
type noManifestError struct{ directory string }

func (e *noManifestError) Error() string {
	return fmt.Sprintf("there is no policy pack in %s: it has no %s; name the folder or the executable of a policy pack", e.directory, plugin.PolicyManifest)
}

func (e *noManifestError) Unwrap() error { return fs.ErrNotExist }
