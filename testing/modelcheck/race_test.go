//go:build race

package modelcheck

// most is the maximal number of schedules of a scenario: the race detector makes everything ten times slower, and only one
// goroutine runs at a time.
const most = 100
