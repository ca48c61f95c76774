//go:build !race

package modelcheck

import "math"

// most is the maximal number of schedules of a scenario.
const most = math.MaxInt
