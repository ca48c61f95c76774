package flags

import (
	"time"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
)

// Moment returns the time that the text of a flag means: a date, a time, or how long before now.
func Moment(flag, text string, now time.Time) (time.Time, error) {
	if ago, err := time.ParseDuration(text); err == nil {
		return now.Add(-ago), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return now, exit.Usagef("--%s %s: write a date as 2026-01-31, a time as 2026-01-31T12:00:00Z, or how long ago as 24h", flag, format.Printable(text))
}
