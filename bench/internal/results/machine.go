package results

import (
	"fmt"
	"os"
	"runtime"

	"github.com/klauspost/cpuid/v2"
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
