package plugin

import "errors"

// Installed reports whether a provider plugin of this name is there, in any version, or attached.
func (h *Host) Installed(name string) bool {
	if _, attached, err := h.attachedPort(name); attached || err != nil {
		return true
	}
	_, err := h.finder.Find(Resource, name, "")
	return !errors.As(err, new(*MissingError))
}

// Executable returns the executable of a plugin in a folder, and whether there is one.
func Executable(directory string, k Kind, name string) (string, bool) {
	return executableIn(directory, k, name)
}
