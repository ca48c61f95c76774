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
		return m, fmt.Errorf("there is no policy pack in %s: it has no %s; name the folder of a policy pack", directory, plugin.PolicyManifest)
	case err != nil:
		return m, fmt.Errorf("read the policy pack: %w", err)
	}
	return m, nil
}
