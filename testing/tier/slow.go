//go:build slow

package tier

const tagged = true
