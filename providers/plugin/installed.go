package plugin

import (
	"errors"

	"github.com/sluice-iac/sluice/providers"
)

// Installed reports whether a provider plugin of this name is installed, in any version, or attached, or the project names a
// git repository for it.
func (h *Host) Installed(name string) bool {
	if h.finder.IsQualified(name) {
		return true
	}
	if h.finder.Complete(providers.Spec{Package: name}).DownloadURL != "" {
		return true
	}
	if _, attached, err := h.attachedPort(name); attached || err != nil {
		return true
	}
	_, err := h.finder.Find(Resource, name, "")
	return !errors.As(err, new(*MissingError))
}
