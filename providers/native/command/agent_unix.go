//go:build unix

package command

import (
	"io"
	"net"

	"github.com/sluice-iac/sluice/providers/native"
)

// defaultAgent returns the socket of the SSH agent; "" if there is none.
func defaultAgent(o native.Options) string {
	path, _ := o.LookupEnv("SSH_AUTH_SOCK")
	return path
}

func dialAgent(path string) (io.ReadWriteCloser, error) { return net.Dial("unix", path) }
