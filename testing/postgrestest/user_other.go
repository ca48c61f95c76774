//go:build !unix

package postgrestest

import "os/exec"

func unprivileged(string) (func(name string, arguments ...string) *exec.Cmd, error) {
	return exec.Command, nil
}
