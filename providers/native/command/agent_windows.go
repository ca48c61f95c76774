package command

import (
	"io"
	"os"

	"github.com/sluice-iac/sluice/providers/native"
)

// defaultAgent returns the named pipe of the system's SSH agent.
func defaultAgent(native.Options) string { return `\\.\pipe\openssh-ssh-agent` }

func dialAgent(path string) (io.ReadWriteCloser, error) { return os.OpenFile(path, os.O_RDWR, 0) }
