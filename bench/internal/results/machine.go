package results

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/klauspost/cpuid/v2"
)

// busyLoad is the load of a processor from which other work disturbs what is measured.
const busyLoad = 0.5

// Machine is what the figures depend on and the benchmark cannot choose.
type Machine struct {
	System     string  `json:"system"`
	Processor  string  `json:"processor"`
	Processors int     `json:"processors"`
	Load       float64 `json:"load"` // when the command began, for each processor; negative if it is not known
	Go         string  `json:"go"`
}

// ThisMachine describes the machine as it is.
func ThisMachine() Machine {
	return Machine{
		System: runtime.GOOS + "/" + runtime.GOARCH, Processor: cpuid.CPU.BrandName, Processors: runtime.GOMAXPROCS(0), Load: Load(), Go: runtime.Version(),
	}
}

// Load returns how many processes want to run for each processor, on average over the last minute. It is negative if the system does not say.
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

// builtFrom returns the commit in the build information, "" if there is none.
func builtFrom() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	revision, modified := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = " with changes"
		}
	}
	return revision + modified
}
