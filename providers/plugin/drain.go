package plugin

import (
	"context"
	"os"
	"time"

	"github.com/sluice-iac/sluice/pipeline/await"
)

const (
	// drainPatience limits how long the output of a process is read after its end, however busy the machine is. Only a child that
	// goes on writing makes it take that long.
	drainPatience = 10 * time.Second
	// drainPace is the time between two looks.
	drainPace = 2 * time.Millisecond
)

// drain waits until a pipe is empty. done happens when no process has the other end open any more. If a child holds it, that
// may never happen.
func drain(pipe *os.File, done *await.Event) {
	began := time.Now()
	for time.Since(began) < drainPatience {
		left, known := bytesIn(pipe)
		if known && left == 0 || !known && time.Since(began) > outputPatience {
			return
		}
		moment, cancel := context.WithTimeout(context.Background(), drainPace)
		err := done.Wait(moment)
		cancel()
		if err == nil {
			return
		}
	}
}
