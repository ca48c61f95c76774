package std

import (
	"errors"
	"strconv"
	"time"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers/native"
)

func conversions() []native.Function {
	return []native.Function{
		converting("tobool", "The truth value that a text stands for.", flagType(), func(v property.Value) (property.Value, bool) {
			if b, err := strconv.ParseBool(v.AsString()); v.IsString() && err == nil {
				v = native.Bool(b)
			}
			return v, v.IsBool()
		}),
		converting("tonumber", "The number that a text stands for.", numberType(), func(v property.Value) (property.Value, bool) {
			if f, err := strconv.ParseFloat(v.AsString(), 64); v.IsString() && err == nil {
				v = property.Number(f)
			}
			return v, v.IsNumber()
		}),
		converting("tostring", "A number or a truth value as a text.", textType(), asText),
		ofList("tolist", "A list, of texts if its elements are of different types.", listType(), oneType),
		ofList("toset", "The elements without those that were there before, as texts if they are of different types.", listType(),
			func(l []property.Value) (property.Value, error) { return oneType(distinct(l)) }),
	}
}

// converting makes a function of one value that returns null for null.
func converting(name, doc string, result native.Type, f func(property.Value) (property.Value, bool)) native.Function {
	out := fn(name, doc, result, func(in native.Values) (property.Value, error) {
		v := in.Value("input")
		if v.IsNull() {
			return v, nil
		}
		v, ok := f(v)
		if !ok {
			return property.Null, errors.New("the value cannot be converted to this type")
		}
		return v, nil
	}, native.Field{Name: "input", Type: anyType(), Required: true, Nullable: true})
	out.Outputs[0].Required = false
	return out
}

func oneType(l []property.Value) (property.Value, error) {
	kind := func(v property.Value) [5]bool {
		return [5]bool{v.IsString(), v.IsNumber(), v.IsBool(), v.IsArray(), v.IsMap()}
	}
	same := true
	for _, v := range l {
		same = same && kind(v) == kind(l[0])
	}
	if same {
		return property.ArrayOf(l...), nil
	}
	out := make([]property.Value, len(l))
	for i, v := range l {
		text, ok := asText(v)
		if !ok {
			return property.Null, errors.New("the elements have no type in common")
		}
		out[i] = text
	}
	return property.ArrayOf(out...), nil
}

func times(now func() time.Time) []native.Function {
	return []native.Function{
		fn("timestamp", "The time.", textType(), func(native.Values) (property.Value, error) {
			return native.Text(now().UTC().Format(time.RFC3339)), nil
		}),
		fn("timeadd", "A time some duration such as 1h30m later.", textType(), func(in native.Values) (property.Value, error) {
			d, err1 := time.ParseDuration(in.Text("duration"))
			t, err2 := time.Parse(time.RFC3339, in.Text("timestamp"))
			return native.Text(t.Add(d).Format(time.RFC3339)), errors.Join(err1, err2)
		}, arg("duration", textType()), arg("timestamp", textType())),
		fn("timecmp", "-1 if the first time is before the second, 1 if it is after, else 0.", native.Of(native.KindInteger),
			func(in native.Values) (property.Value, error) {
				a, err1 := time.Parse(time.RFC3339, in.Text("timestampa"))
				b, err2 := time.Parse(time.RFC3339, in.Text("timestampb"))
				return native.Int(a.Compare(b)), errors.Join(err1, err2)
			}, arg("timestampa", textType()), arg("timestampb", textType())),
	}
}
