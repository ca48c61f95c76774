package clock

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/native"
)

func (k clock) offset() native.Resource {
	offsets := units("offset", "Days", "Hours", "Minutes", "Months", "Seconds", "Years")
	result := text("rfc3339", "The moment.")
	result.Required, result.Derived = true, true
	outputs := func(c native.Call) (string, native.Outputs, error) {
		base, err := k.base(c, "baseRfc3339")
		t := shift(base, "offset", c.Inputs)
		out := apart(t)
		out["rfc3339"], out["baseRfc3339"] = native.Text(written(t)), native.Text(written(base))
		return written(base), out, err
	}
	return native.Resource{
		Type: "time:index/offset:Offset", Doc: "A moment some time away from another.",
		Inputs:   append(offsets[:len(offsets):len(offsets)], moment("baseRfc3339", "The other moment; that of the creation by default."), triggers()),
		Computed: append(parts(true), result),
		Check: func(in native.Values) []providers.CheckFailure {
			return append(anyOf(in, offsets), checkMoments("baseRfc3339")(in)...)
		},
		Create: func(_ context.Context, c native.Call) (native.Made, error) {
			id, out, err := outputs(c)
			return native.Made{ID: id, Outputs: out}, err
		},
		Update: func(_ context.Context, c native.Call) (native.Outputs, error) {
			_, out, err := outputs(c)
			return out, err
		},
		Import: func(_ context.Context, c native.Call) (native.Made, error) {
			given, err := importUnits(c.ID, "baseRfc3339", "offset", "Years", "Months", "Days", "Hours", "Minutes", "Seconds")
			if err != nil {
				return native.Made{}, err
			}
			c.Inputs = native.ValuesOf(property.NewMap(given))
			id, out, err := outputs(c)
			return native.Made{ID: id, Outputs: joined(given, out)}, err
		},
	}
}

func joined(a, b native.Outputs) native.Outputs {
	for name, v := range b {
		a[name] = v
	}
	return a
}

func (k clock) rotating() native.Resource {
	rotations := units("rotation", "Days", "Hours", "Minutes", "Months", "Years")
	end := text("rotationRfc3339", "When the rotation is due.")
	end.Output, end.Derived = native.Chosen, true
	outputs := func(c native.Call) (string, native.Outputs, error) {
		base, err := k.base(c, "rfc3339")
		if err != nil {
			return "", nil, err
		}
		due, err := rotation(base, c.Inputs)
		out := apart(due)
		out["rfc3339"], out["rotationRfc3339"] = native.Text(written(base)), native.Text(written(due))
		return written(base), out, err
	}
	return native.Resource{
		Type: "time:index/rotating:Rotating", Doc: "A moment that is made anew when a refresh finds that its time is over.",
		Inputs:   append(rotations[:len(rotations):len(rotations)], end, moment("rfc3339", "The moment; that of the creation by default."), triggers()),
		Computed: parts(true), Diff: k.replaceIfDue,
		Check: func(in native.Values) []providers.CheckFailure {
			failures := append(anyOf(in, append(rotations[:len(rotations):len(rotations)], end)), checkMoments("rfc3339", "rotationRfc3339")(in)...)
			for _, f := range rotations {
				if in.Has(f.Name) && in.Int(f.Name) < 1 {
					failures = append(failures, providers.CheckFailure{Property: f.Name, Reason: f.Name + " must be at least 1"})
				}
			}
			return failures
		},
		Create: func(_ context.Context, c native.Call) (native.Made, error) {
			id, out, err := outputs(c)
			return native.Made{ID: id, Outputs: out}, err
		},
		Update: func(_ context.Context, c native.Call) (native.Outputs, error) {
			_, out, err := outputs(c)
			return out, err
		},
		Read: func(_ context.Context, c native.Call) (native.Found, error) {
			due, err := time.Parse(time.RFC3339, c.State.Text("rotationRfc3339"))
			return native.Found{Exists: err != nil || !k.now().After(due)}, nil
		},
		Import: func(_ context.Context, c native.Call) (native.Made, error) {
			given, err := importRotation(c.ID)
			if err != nil {
				return native.Made{}, err
			}
			c.Inputs = native.ValuesOf(property.NewMap(given))
			id, out, err := outputs(c)
			return native.Made{ID: id, Outputs: joined(given, out)}, err
		},
	}
}

// rotation returns when a rotation is due. Among several units the last of these counts, as in the public package. An
// explicit time takes precedence over all units.
func rotation(base time.Time, in native.Values) (time.Time, error) {
	due := base
	if in.Has("rotationDays") {
		due = base.AddDate(0, 0, in.Int("rotationDays"))
	}
	if in.Has("rotationHours") {
		due = base.Add(time.Duration(in.Int("rotationHours")) * time.Hour)
	}
	if in.Has("rotationMinutes") {
		due = base.Add(time.Duration(in.Int("rotationMinutes")) * time.Minute)
	}
	if in.Has("rotationMonths") {
		due = base.AddDate(0, in.Int("rotationMonths"), 0)
	}
	if in.Has("rotationYears") {
		due = base.AddDate(in.Int("rotationYears"), 0, 0)
	}
	if in.Has("rotationRfc3339") {
		var err error
		if due, err = time.Parse(time.RFC3339, in.Text("rotationRfc3339")); err != nil {
			return due, fmt.Errorf("rotationRfc3339: %w", err)
		}
	}
	return due, nil
}

// replaceIfDue turns a change into a replacement if the rotation is due.
func (k clock) replaceIfDue(c native.Call, answer *providers.DiffResponse) {
	due, err := time.Parse(time.RFC3339, c.State.Text("rotationRfc3339"))
	if err == nil && k.now().After(due) && len(answer.ChangedKeys) > 0 {
		answer.ReplaceKeys = append(answer.ReplaceKeys, "rotationRfc3339")
		answer.DetailedDiff["rotationRfc3339"] = providers.PropertyDiff{Kind: providers.DiffUpdateReplace}
	}
}

// importRotation reads "<time>,<rotation time>" or the time and its units.
func importRotation(id string) (native.Outputs, error) {
	if base, due, ok := strings.Cut(id, ","); ok && !strings.Contains(due, ",") {
		return native.Outputs{"rfc3339": native.Text(base), "rotationRfc3339": native.Text(due)}, nil
	}
	return importUnits(id, "rfc3339", "rotation", "Years", "Months", "Days", "Hours", "Minutes")
}
