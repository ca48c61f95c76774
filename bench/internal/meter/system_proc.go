package meter

import (
	"os"
	"strconv"
	"strings"
)

// writtenSoFar returns the number of bytes that this process has written so far, -1 if the system does not report it.
func writtenSoFar() int64 {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return -1
	}
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, "wchar: "); found {
			n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
			if err != nil {
				return -1
			}
			return n
		}
	}
	return -1
}

// memoryOf returns the bytes that a process has in memory, 0 if the system does not report them.
func memoryOf(process int) int64 {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(process) + "/statm")
	if err != nil {
		return 0
	}
	if fields := strings.Fields(string(text)); len(fields) > 1 {
		if pages, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
			return pages * int64(os.Getpagesize())
		}
	}
	return 0
}
