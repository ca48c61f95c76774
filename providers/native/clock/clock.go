// Package clock is the built-in provider of the package "time": moments that are kept in the state, and pauses. It has the
// shapes, rules and import formats of the public package of that name.
//
// Invariant: a recorded moment changes only when its inputs do, or when a refresh finds that its rotation is due.
package clock

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/native"
)

// Name is the package's name.
const Name = "time"

// Package describes the package.
func Package(native.Options) native.Package { return At(time.Now) }

// At is like Package, with a clock of its own, for tests.
func At(now func() time.Time) native.Package {
	c := clock{now}
	return native.Package{
		Name: Name, Version: "0.1.1", Owner: "pulumiverse", Doc: "Moments and pauses.",
		Resources: []native.Resource{c.sleep(), c.static(), c.offset(), c.rotating()},
	}
}

type clock struct{ now func() time.Time }

func text(name, doc string) native.Field {
	return native.Field{Name: name, Type: native.Of(native.KindString), Doc: doc}
}

func triggers() native.Field {
	return native.Field{
		Name: "triggers", Type: native.MapOf(native.Of(native.KindString)), Replace: true, Doc: "Values whose change makes it anew.",
	}
}

// moment returns an input for a moment. Its default is now.
func moment(name, doc string) native.Field {
	f := text(name, doc)
	f.Output, f.Replace = native.Chosen, true
	return f
}

// parts returns the outputs with the parts of a moment. changing is true if updates change them.
func parts(changing bool) []native.Field {
	var out []native.Field
	for _, name := range []string{"day", "hour", "minute", "month", "second", "unix", "year"} {
		out = append(out, native.Field{
			Name: name, Type: native.Of(native.KindInteger), Required: true, Derived: changing, Doc: "A part of the moment.",
		})
	}
	return out
}

func apart(t time.Time) native.Outputs {
	return native.Outputs{
		"day": native.Int(t.Day()), "hour": native.Int(t.Hour()), "minute": native.Int(t.Minute()),
		"month": native.Int(int(t.Month())), "second": native.Int(t.Second()), "unix": native.Int(t.Unix()), "year": native.Int(t.Year()),
	}
}

// base returns the moment that an input gives, else the recorded one, else now.
func (k clock) base(c native.Call, name string) (time.Time, error) {
	for _, from := range []native.Values{c.Inputs, c.State} {
		if from.Has(name) {
			t, err := time.Parse(time.RFC3339, from.Text(name))
			if err != nil {
				return t, fmt.Errorf("%s: %w", name, err)
			}
			return t, nil
		}
	}
	return k.now().UTC(), nil
}

func written(t time.Time) string { return t.Format(time.RFC3339) }

func checkMoments(names ...string) func(native.Values) []providers.CheckFailure {
	return func(in native.Values) []providers.CheckFailure {
		var failures []providers.CheckFailure
		for _, name := range names {
			if _, err := time.Parse(time.RFC3339, in.Text(name)); in.Has(name) && err != nil {
				failures = append(failures, providers.CheckFailure{Property: name, Reason: fmt.Sprintf(
					"%s is %q; write a time such as 2030-01-02T03:04:05Z", name, in.Text(name))})
			}
		}
		return failures
	}
}

func (k clock) sleep() native.Resource {
	pause := func(ctx context.Context, length string) error {
		if length == "" {
			return nil // there is no pause
		}
		d, err := time.ParseDuration(length)
		if err != nil {
			return err
		}
		return await.For(ctx, d)
	}
	durations := []string{"createDuration", "destroyDuration"}
	return native.Resource{
		Type: "time:index/sleep:Sleep", Doc: "A pause when it is made and when it is deleted.",
		Inputs: []native.Field{text(durations[0], "Such as 30s."), text(durations[1], "Such as 5m."), triggers()},
		Idle:   true,
		Check: func(in native.Values) []providers.CheckFailure {
			var failures []providers.CheckFailure
			if in.Value(durations[0]).IsNull() && in.Value(durations[1]).IsNull() {
				failures = append(failures, providers.CheckFailure{
					Property: durations[0], Reason: "give at least one of " + strings.Join(durations, " and "),
				})
			}
			form := regexp.MustCompile(`^[0-9]+(\.[0-9]+)?(ms|s|m|h)$`)
			for _, name := range durations {
				if in.Has(name) && !form.MatchString(in.Text(name)) {
					failures = append(failures, providers.CheckFailure{
						Property: name, Reason: fmt.Sprintf("%s is %q; write a number and ms, s, m or h, such as 30s", name, in.Text(name)),
					})
				}
			}
			return failures
		},
		Create: func(ctx context.Context, c native.Call) (native.Made, error) {
			err := pause(ctx, c.Inputs.Text(durations[0]))
			return native.Made{ID: written(k.now().UTC())}, err
		},
		Delete: func(ctx context.Context, c native.Call) error { return pause(ctx, c.Inputs.Text(durations[1])) },
		Import: func(_ context.Context, c native.Call) (native.Made, error) {
			parts := strings.Split(c.ID, ",")
			if len(parts) != 2 || c.ID == "," {
				return native.Made{}, fmt.Errorf("the ID must be <createDuration>,<destroyDuration>, one of which may be empty")
			}
			outputs := native.Outputs{}
			for i, p := range parts {
				if p == "" {
					continue
				}
				if _, err := time.ParseDuration(p); err != nil {
					return native.Made{}, err
				}
				outputs[durations[i]] = native.Text(p)
			}
			return native.Made{ID: written(k.now().UTC()), Outputs: outputs}, nil
		},
	}
}

func (k clock) static() native.Resource {
	made := func(t time.Time) native.Made {
		out := apart(t)
		out["rfc3339"] = native.Text(written(t))
		return native.Made{ID: written(t), Outputs: out}
	}
	return native.Resource{
		Type: "time:index/static:Static", Doc: "A moment that stays.",
		Inputs:   []native.Field{moment("rfc3339", "The moment; that of the creation by default."), triggers()},
		Computed: parts(false), Check: checkMoments("rfc3339"),
		Create: func(_ context.Context, c native.Call) (native.Made, error) {
			t, err := k.base(c, "rfc3339")
			return made(t), err
		},
		Import: func(_ context.Context, c native.Call) (native.Made, error) {
			t, err := time.Parse(time.RFC3339, c.ID)
			return made(t), err
		},
	}
}

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
			return native.Found{Absent: err == nil && k.now().After(due)}, nil
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

// units returns the inputs for the units of offsets and rotations, in the order in which they are added.
func units(prefix string, all ...string) []native.Field {
	var out []native.Field
	for _, u := range all {
		out = append(out, native.Field{Name: prefix + u, Type: native.Of(native.KindInteger), Doc: "How many " + strings.ToLower(u) + "."})
	}
	return out
}

// shift adds the values of the inputs for units.
func shift(t time.Time, prefix string, in native.Values) time.Time {
	t = t.AddDate(0, 0, in.Int(prefix+"Days"))
	t = t.Add(time.Duration(in.Int(prefix+"Hours"))*time.Hour + time.Duration(in.Int(prefix+"Minutes"))*time.Minute)
	t = t.AddDate(0, in.Int(prefix+"Months"), 0)
	t = t.Add(time.Duration(in.Int(prefix+"Seconds")) * time.Second)
	return t.AddDate(in.Int(prefix+"Years"), 0, 0)
}

func anyOf(in native.Values, fields []native.Field) []providers.CheckFailure {
	var names []string
	for _, f := range fields {
		if !in.Value(f.Name).IsNull() {
			return nil
		}
		names = append(names, f.Name)
	}
	return []providers.CheckFailure{{Property: names[0], Reason: "give at least one of " + strings.Join(names, ", ")}}
}

// importUnits reads "<moment>,<years>,<months>,<days>,<hours>,<minutes>[,<seconds>]" into inputs.
func importUnits(id, base, prefix string, order ...string) (native.Outputs, error) {
	words := strings.Split(id, ",")
	if len(words) != len(order)+1 {
		return nil, fmt.Errorf("the ID must be <time>,<%s>", strings.ToLower(strings.Join(order, ">,<")))
	}
	out := native.Outputs{base: native.Text(words[0])}
	for i, unit := range order {
		if words[i+1] == "" {
			continue
		}
		n, err := strconv.ParseInt(words[i+1], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("the %s in the ID: %w", strings.ToLower(unit), err)
		}
		out[prefix+unit] = native.Int(n)
	}
	if len(out) == 1 {
		return nil, fmt.Errorf("the ID must have at least one of the %s", strings.ToLower(strings.Join(order, ", ")))
	}
	return out, nil
}
