package config

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/sluice-iac/sluice/property"
)

// Untyped returns a value of the stack without a declared type.
func Untyped(text string) property.Value {
	if len(text) > 1 && text[0] == '0' && text[1] != '.' {
		return property.String(text)
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
		return property.Number(f)
	}
	if b, err := strconv.ParseBool(text); err == nil {
		return property.Bool(b)
	}
	var v any
	if json.Unmarshal([]byte(text), &v) == nil {
		if value, err := property.FromGo(v); err == nil {
			return value
		}
	}
	return property.String(text)
}
