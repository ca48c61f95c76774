package property

// ToGo returns a plain value as a Go value, for packages such as encoding/json. ok is false if it contains anything that is not
// plain data, such as a secret or an output.
func ToGo(v Value) (out any, ok bool) {
	switch {
	case v.IsNull():
		return nil, true
	case v.IsBool():
		return v.AsBool(), true
	case v.IsNumber():
		return v.AsNumber(), true
	case v.IsString():
		return v.AsString(), true
	case v.IsArray():
		list := make([]any, 0, v.AsArray().Len())
		for _, item := range v.AsArray().All() {
			x, ok := ToGo(item)
			if !ok {
				return nil, false
			}
			list = append(list, x)
		}
		return list, true
	case v.IsMap():
		m := map[string]any{}
		for name, item := range v.AsMap().All() {
			x, ok := ToGo(item)
			if !ok {
				return nil, false
			}
			m[name] = x
		}
		return m, true
	}
	return nil, false
}
