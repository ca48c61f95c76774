//go:build !slow

package tier

// IsSlow reports whether the slow tier runs too.
const IsSlow = false
