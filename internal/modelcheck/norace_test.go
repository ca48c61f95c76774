//go:build !race

package modelcheck

import "math"

// most is how many schedules of a scenario are taken.
const most = math.MaxInt
