// Package format formats names, times, amounts, tables and JSON for commands.
package format
