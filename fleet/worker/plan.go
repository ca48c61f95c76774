package worker

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// planned has the compared parts of a planned resource.
type planned struct {
	Goal *struct {
		Protect    bool
		Parent     string
		Provider   string
		ID         string
		InputDiff  difference
		OutputDiff difference
	}
	Steps []string
}

type difference struct {
	Adds, Updates map[string]any
	Deletes       []string
}

// planDigest returns a digest of the effect of a plan. It is equal for two plans with the same effect: it leaves out times, seeds and ciphertexts,
// which differ, and names that sluice generates for new resources.
func planDigest(dec *json.Decoder, custom bool) (string, error) {
	sums := map[string]string{}
	err := members(dec, func(name string) error {
		if name != "resourcePlans" {
			return skip(dec)
		}
		return members(dec, func(urn string) error {
			var p planned
			if err := dec.Decode(&p); err != nil {
				return err
			}
			if p.Goal != nil {
				isNew := slices.ContainsFunc(p.Steps, func(op string) bool { return strings.HasPrefix(op, "create") })
				for _, part := range []map[string]any{p.Goal.InputDiff.Adds, p.Goal.InputDiff.Updates} {
					for key, value := range part {
						part[key] = compared(value, isNew, urn[strings.LastIndex(urn, "::")+1:], custom)
					}
				}
				p.Goal.OutputDiff = difference{} // it is a prediction
			}
			text, err := json.Marshal(p) // keys of maps are sorted
			sums[urn] = digest(text)
			return err
		})
	})
	var all bytes.Buffer
	for _, urn := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(&all, "%q %s\n", urn, sums[urn])
	}
	return digest(all.Bytes()), err
}

// ending matches the suffix that sluice adds to the name of a resource.
var ending = regexp.MustCompile(`^[-_.]?[0-9a-zA-Z]{4,}$`)

// compared returns the compared part of a top-level input.
func compared(value any, isNew bool, resource string, custom bool) any {
	if text, is := value.(string); is && isNew {
		rest, begins := strings.CutPrefix(text, strings.TrimPrefix(resource, ":"))
		if custom || begins && ending.MatchString(rest) {
			return "a name"
		}
	}
	return withoutSecrets(value)
}

// withoutSecrets replaces encrypted values. Changes of them show in the settings and the state from which they come.
func withoutSecrets(value any) any {
	switch v := value.(type) {
	case map[string]any:
		if v[secretSignature] == secretMark {
			return "a secret"
		}
		for key, member := range v {
			v[key] = withoutSecrets(member)
		}
	case []any:
		for i, element := range v {
			v[i] = withoutSecrets(element)
		}
	}
	return value
}

// The marks of a secret in a plan.
const (
	secretSignature = "4dabf18193072939515e22adb298388d"
	secretMark      = "1b47061264138c4ac30d75fd1eb44270"
)
