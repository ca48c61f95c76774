//go:build unix

package server

import (
	"fmt"
	"os"
	"syscall"

	"github.com/sluice-iac/sluice/internal/platform/private"
)

// own makes a folder accessible only to this user. It refuses a folder of another user, who could read its content. As root it accepts every folder.
func own(folder string) error {
	info, err := os.Stat(folder)
	if err != nil {
		return err
	}
	is, known := info.Sys().(*syscall.Stat_t)
	if me := os.Geteuid(); known && me != 0 && int(is.Uid) != me {
		return fmt.Errorf("%s belongs to another user (uid %d): remove it, or work as that user", folder, is.Uid)
	}
	if info.Mode().Perm() == private.Folder {
		return nil
	}
	return os.Chmod(folder, private.Folder)
}
