package postgres

import (
	_ "embed" // views.sql
	"errors"
	"fmt"
	"net/url"
	"strings"
)

//go:embed views.sql
var viewStatements string

// The longest name in views.sql after its prefix, and the longest name that PostgreSQL distinguishes, in bytes.
const (
	longestView = len("stack_references")
	longestName = 63
)

// Views returns the SQL statements that make the views of the table that a URL names (docs/query.md). The views are in the schema of the table. Their
// names begin with "sluice_" and, if the table has not the usual name, with that name and "_" after it.
func Views(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil {
		return "", errUnreadableURL
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return "", fmt.Errorf("backend URL %s: its parameters cannot be read", masked(u))
	}
	table, err := tableOf(u, query)
	if err != nil {
		return "", err
	}
	schema, name := "", table
	if at := strings.IndexByte(table, '.'); at >= 0 {
		schema, name = table[:at+1], table[at+1:]
	}
	prefix := program + "_"
	if name != defaultTable {
		prefix += name + "_"
	}
	if len(prefix)+longestView > longestName {
		return "", fmt.Errorf("backend URL %s: the name of the table is too long for names of views that begin with it: they may have %d characters", masked(u), longestName)
	}
	return strings.NewReplacer("{table}", table, "{prefix}", schema+prefix).Replace(viewStatements), nil
}

var errUnreadableURL = errors.New("the backend URL postgres://… cannot be read; special characters in the password have to be written as %XX")
