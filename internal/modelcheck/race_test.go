//go:build race

package modelcheck

// most is how many schedules of a scenario are taken: the race detector makes everything ten times slower, and only one goroutine
// runs at a time.
const most = 100
