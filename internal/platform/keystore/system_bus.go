//go:build unix && !darwin

package keystore

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

const system = "linux-secretservice"

// usable returns an error if there is no session bus. Without this check, the library would start one, which has no keys.
func usable() error {
	if os.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return nil
	}
	runtime := os.Getenv("XDG_RUNTIME_DIR")
	if runtime == "" {
		runtime = filepath.Join("/run/user", strconv.Itoa(os.Getuid()))
	}
	if _, err := os.Stat(filepath.Join(runtime, "bus")); err != nil {
		return fmt.Errorf("%w: this session has no D-Bus, and so no Secret Service", ErrUnavailable)
	}
	return nil
}
