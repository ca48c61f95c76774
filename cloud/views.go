package cloud

import (
	"errors"
	"strings"

	"github.com/sluice-iac/sluice/state/store/postgres"
)

// ErrNoViews is the error for a backend that is no database.
var ErrNoViews = errors.New("only PostgreSQL backends have views")

// Views returns the SQL statements that make views of the states in the database that a backend URL names, or [ErrNoViews].
func Views(url string) (string, error) {
	if scheme, _, _ := strings.Cut(url, ":"); scheme != "postgres" {
		return "", ErrNoViews
	}
	return postgres.Views(url)
}
