//go:build unix

package postgrestest

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// unprivileged returns a function that makes commands without root rights, because PostgreSQL refuses to run as root.
// It makes their user the owner of the directory.
func unprivileged(dir string) (func(name string, arguments ...string) *exec.Cmd, error) {
	if os.Getuid() != 0 {
		return exec.Command, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		u, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL does not run as root, and there is no other user: %w", err)
	}
	uid, _ := strconv.Atoi(u.Uid) // user IDs are numbers on these systems
	gid, _ := strconv.Atoi(u.Gid)
	if err := os.Chown(dir, uid, gid); err != nil {
		return nil, err
	}
	return func(name string, arguments ...string) *exec.Cmd {
		cmd := exec.Command(name, arguments...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		return cmd
	}, nil
}
