package plugin

import (
	"context"
	"os"
	"time"

	"github.com/sluice-iac/sluice/pipeline/await"
)

const (
	// drainPatience is how long what a process has written is read after its end, however busy the machine is: only a child that goes on writing
	// makes it take longer.
	drainPatience = 10 * time.Second
	// drainPace is how long to wait before looking again.
	drainPace = 2 * time.Millisecond
)

// drain waits until what is in a pipe has been taken out. The event done is that nobody has its other end open any more, which may never come: a
// child may hold it.
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
