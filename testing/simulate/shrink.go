package simulate

import (
	"encoding/json"
	"strconv"
)

// kept are the fields that all others depend on.
var kept = map[string]bool{"Name": true, "Do": true, "Method": true, "Seed": true, "Workers": true, "Operations": true, "Schedules": true}

// Shrink makes a case smaller as long as it still fails, with at most tries attempts. It leaves out operations,
// declarations, references and options, one at a time, and keeps those that the failure needs.
func Shrink(c Case, fails func(Case) bool, tries int) Case {
	for {
		smaller := false
		for _, path := range paths(c) {
			if tries--; tries < 0 {
				return c
			}
			if candidate, ok := without(c, path); ok && fails(candidate) {
				c, smaller = candidate, true
				break
			}
		}
		if !smaller {
			return c
		}
	}
}

// plain returns a case as decoded JSON.
func plain(c Case) any {
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // a case is plain data
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		panic(err)
	}
	return v
}

// paths lists the parts that can be left out, large ones first.
func paths(c Case) [][]string {
	var out [][]string
	level := []struct {
		path []string
		v    any
	}{{nil, plain(c)}}
	for len(level) > 0 {
		next := level[:0:0]
		for _, at := range level {
			add := func(key string, v any, removable bool) {
				path := append(append([]string(nil), at.path...), key)
				if removable {
					out = append(out, path)
				}
				next = append(next, struct {
					path []string
					v    any
				}{path, v})
			}
			switch v := at.v.(type) {
			case map[string]any:
				for _, key := range sorted(v) {
					add(key, v[key], !kept[key])
				}
			case []any:
				for i := len(v) - 1; i >= 0; i-- { // later entries refer to earlier ones
					add(strconv.Itoa(i), v[i], true)
				}
			}
		}
		level = next
	}
	return out
}

// without returns the case without the value at a path.
func without(c Case, path []string) (Case, bool) {
	v := remove(plain(c), path)
	text, err := json.Marshal(v)
	if err != nil {
		return c, false
	}
	var out Case
	if err := json.Unmarshal(text, &out); err != nil {
		return c, false
	}
	return out, len(out.Schedules) > 0
}

func remove(v any, path []string) any {
	switch v := v.(type) {
	case map[string]any:
		if len(path) == 1 {
			delete(v, path[0])
		} else {
			v[path[0]] = remove(v[path[0]], path[1:])
		}
		return v
	case []any:
		i, err := strconv.Atoi(path[0])
		if err != nil || i >= len(v) {
			return v
		}
		if len(path) == 1 {
			return append(v[:i:i], v[i+1:]...)
		}
		v[i] = remove(v[i], path[1:])
		return v
	}
	return v
}
