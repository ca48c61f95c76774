package command

import (
	"os/exec"
	"time"
)

// isolate makes the end of the context end the command even if something that it started keeps its pipes open.
func isolate(cmd *exec.Cmd) { cmd.WaitDelay = 5 * time.Second }
