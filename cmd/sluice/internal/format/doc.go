// Package format has the forms in which commands write names, times, amounts, tables and JSON.
package format
