package property

// Plain makes a value of what [encoding/json] has decoded into an any, in which nothing has a meaning of its own: [FromJSON]
// is for the state, where some objects stand for secrets and assets. What JSON has no value for is null.
func Plain(decoded any) Value {
	switch v := decoded.(type) {
	case bool:
		return Bool(v)
	case float64:
		return Number(v)
	case string:
		return String(v)
	case []any:
		list := make([]Value, len(v))
		for i, item := range v {
			list[i] = Plain(item)
		}
		return ArrayOf(list...)
	case map[string]any:
		m := make(map[string]Value, len(v))
		for name, item := range v {
			m[name] = Plain(item)
		}
		return Of(NewMap(m))
	}
	return Null
}
