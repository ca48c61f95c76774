package results

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"github.com/klauspost/cpuid/v2"

	"github.com/sluice-iac/sluice/internal/platform/build"
)

// Machine has the conditions of the figures that the benchmark cannot choose.
type Machine struct {
	System     string  `json:"system"`
	Processor  string  `json:"processor"`
	Processors int     `json:"processors"`
	Load       float64 `json:"load"` // at the beginning of the command, for each processor; negative if it is unknown
	Go         string  `json:"go"`
}

// ThisMachine describes this machine.
func ThisMachine() Machine {
	return Machine{
		System: runtime.GOOS + "/" + runtime.GOARCH, Processor: cpuid.CPU.BrandName, Processors: runtime.GOMAXPROCS(0), Load: Load(), Go: runtime.Version(),
	}
}

// Load returns the number of runnable processes for each processor, on average over the last minute. It is negative if the system does not
// report it.
func Load() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return -1
	}
	var minute float64
	if _, err := fmt.Sscan(string(text), &minute); err != nil {
		return -1
	}
	return minute / float64(runtime.NumCPU())
}

// Commit returns the measured commit: the one in the build information or, as `go run` may leave that out, the one checked out in the
// working directory. It is "unknown" if there is neither.
func Commit(ctx context.Context) string {
	if c := build.Revision(); c != "" {
		return c
	}
	head, err := exec.CommandContext(ctx, "git", "rev-parse", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	commit := strings.TrimSpace(string(head))
	if changed, err := exec.CommandContext(ctx, "git", "status", "--porcelain").Output(); err == nil && len(changed) > 0 {
		commit += " with changes"
	}
	return commit
}
