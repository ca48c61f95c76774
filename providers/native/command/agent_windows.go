package command

import (
	"io"
	"os"

	"github.com/sluice-iac/sluice/providers/native"
)

// defaultAgent is the named pipe at which the SSH agent of the system listens.
func defaultAgent(native.Options) string { return `\\.\pipe\openssh-ssh-agent` }

func dialAgent(path string) (io.ReadWriteCloser, error) { return os.OpenFile(path, os.O_RDWR, 0) }
