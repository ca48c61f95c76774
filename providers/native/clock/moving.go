package clock

import (
	"context"
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
	end.Always, end.Derived = true, true
	outputs := func(c native.Call) (string, native.Outputs, error) {
		base, err := k.base(c, "rfc3339")
		due := shift(base, "rotation", c.Inputs)
		if c.Inputs.Has("rotationRfc3339") && err == nil {
			due, err = time.Parse(time.RFC3339, c.Inputs.Text("rotationRfc3339"))
		}
		out := apart(base)
		out["rfc3339"], out["rotationRfc3339"] = native.Text(written(base)), native.Text(written(due))
		return written(base), out, err
	}
	return native.Resource{
		Type: "time:index/rotating:Rotating", Doc: "A moment that is made anew when a refresh finds that its time is over.",
		Inputs:   append(rotations[:len(rotations):len(rotations)], end, moment("rfc3339", "The moment; that of the creation by default."), triggers()),
		Computed: parts(false),
		Check: func(in native.Values) []providers.CheckFailure {
			return append(anyOf(in, append(rotations[:len(rotations):len(rotations)], end)), checkMoments("rfc3339", "rotationRfc3339")(in)...)
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

// importRotation reads "<time>,<rotation time>" or the time and its units.
func importRotation(id string) (native.Outputs, error) {
	if base, due, ok := strings.Cut(id, ","); ok && !strings.Contains(due, ",") {
		return native.Outputs{"rfc3339": native.Text(base), "rotationRfc3339": native.Text(due)}, nil
	}
	return importUnits(id, "rfc3339", "rotation", "Years", "Months", "Days", "Hours", "Minutes")
}
