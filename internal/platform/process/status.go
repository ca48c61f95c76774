package process

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// StartOf returns the start time of a process, as a text to compare, "" if it is unknown, and "ended" for a zombie, which
// will never do anything again.
func StartOf(pid int) string {
	s, ok := statusOf(pid)
	switch {
	case !ok:
		return ""
	case s.ended:
		return "ended"
	}
	return s.start
}

// status is the status of a process according to the system.
type status struct {
	command string
	ended   bool // but has not been waited for
	parent  int
	group   int
	session string
	start   string // in units of the system
}

func statusOf(pid int) (status, bool) {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return status{}, false
	}
	// The second field is the command in parentheses. It may contain parentheses itself.
	text := string(b)
	open, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return status{}, false
	}
	fields := strings.Fields(text[end+1:])
	if len(fields) < 20 {
		return status{}, false
	}
	parent, _ := strconv.Atoi(fields[1])
	group, _ := strconv.Atoi(fields[2])
	return status{
		command: text[open+1 : end], ended: fields[0] == "Z" || fields[0] == "X",
		parent: parent, group: group, session: fields[3], start: fields[19],
	}, true
}

func processes() []int {
	entries, _ := os.ReadDir("/proc")
	var pids []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
