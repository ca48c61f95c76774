package command

import (
	"os/exec"
	"time"
)

// isolate lets the end of the context end the command although something that it started keeps its pipes open.
func isolate(cmd *exec.Cmd) { cmd.WaitDelay = 5 * time.Second }
