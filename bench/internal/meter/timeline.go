package meter

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-iac/sluice/bench/internal/results"
)

// traced is the variable of the environment with which a program in Go writes a line to stderr whenever its collector has ended.
const traced = "GODEBUG=gctrace=1"

// collection is such a line. The first two groups are when it ended, in seconds since the start, and the clock times of its phases; the third are the
// processor times of these, in milliseconds; then the size of the heap when it began, when it ended, and what is alive, in megabytes, and the goal.
var collection = regexp.MustCompile(`(?m)^gc (\d+) @([\d.]+)s \d+%: [\d.+]+ ms clock, ([\d.+/]+) ms cpu, (\d+)->(\d+)->(\d+) MB, (\d+) MB goal.*\n?`)

// collections returns the collections that the output of a process reports. Those of its child processes are not at the beginning of a line.
func collections(output []byte) []results.Moment {
	var all []results.Moment
	var spent float64
	for _, m := range collection.FindAllSubmatch(output, -1) {
		number := func(i int) float64 {
			v, _ := strconv.ParseFloat(string(m[i]), 64) // the pattern has numbers only
			return v
		}
		const megabyte = 1 << 20
		for part := range strings.FieldsFuncSeq(string(m[3]), func(r rune) bool { return r == '+' || r == '/' }) {
			v, _ := strconv.ParseFloat(part, 64)
			spent += v / 1000
		}
		all = append(all, results.Moment{At: number(2), Live: number(6) * megabyte, Goal: number(7) * megabyte, Collections: float64(len(all) + 1), Collector: spent})
	}
	return all
}

// withCollections adds what the last collection said to each moment of a timeline.
func withCollections(moments []results.Moment, output []byte) []results.Moment {
	all := collections(bytes.ReplaceAll(output, []byte("\r\n"), []byte("\n")))
	if len(all) == 0 {
		return moments
	}
	out := slices.Clone(moments)
	for i := range out {
		m := &out[i]
		next := slices.IndexFunc(all, func(c results.Moment) bool { return c.At > m.At })
		if next < 0 {
			next = len(all)
		}
		if next > 0 {
			last := all[next-1]
			m.Live, m.Goal, m.Collections, m.Collector = last.Live, last.Goal, last.Collections, last.Collector
		}
	}
	return out
}
