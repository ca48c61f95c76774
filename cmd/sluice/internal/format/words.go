package format

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Printable returns a name on one line. It quotes a name with characters that a Go string literal would escape.
func Printable(name string) string {
	quoted := strconv.Quote(name)
	if quoted[1:len(quoted)-1] == name {
		return name
	}
	return quoted
}

var needsNoQuotes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_./:=@%+,-]+$`) })

// ShellQuote quotes a text for a POSIX shell if necessary.
func ShellQuote(text string) string {
	if needsNoQuotes().MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'"'"'`) + "'"
}

// Plural returns "1 box" or "2 boxes".
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// PluralThousands is like [Plural], with the number in the form of [Thousands].
func PluralThousands(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Thousands(n) + " " + many
}

// Thousands formats a number: "12,345".
func Thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Resources returns "1 resource" or "n resources".
func Resources(n int) string { return Plural(n, "resource", "resources") }

// Locks returns "1 lock" or "n locks".
func Locks(n int) string { return Plural(n, "lock", "locks") }

// Files returns "1 file" or "n files".
func Files(n int) string { return Plural(n, "file", "files") }

// Ago formats how long ago something happened, in the largest unit that fits.
func Ago(d time.Duration) string {
	units := []struct {
		size time.Duration
		name string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}}
	for _, u := range units {
		if n := int(d / u.size); n == 1 {
			return "1 " + u.name + " ago"
		} else if n > 1 {
			return fmt.Sprintf("%d %ss ago", n, u.name)
		}
	}
	return "now"
}

// Time formats a time for JSON documents.
func Time(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// Bytes formats a number of bytes in the largest unit that fits.
func Bytes(n int64) string {
	units := []string{"B", "kB", "MB", "GB", "TB"}
	amount, unit := float64(n), 0
	for amount >= 1000 && unit < len(units)-1 {
		amount, unit = amount/1000, unit+1
	}
	if unit == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", amount, units[unit])
}
