package query

import (
	"encoding/base64"
	"fmt"
	"math"
	"slices"
	"time"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/property"
)

// objectOf returns the values of an object for expressions.
func objectOf(m property.Map, showSecrets bool) map[string]any {
	out := make(map[string]any, m.Len())
	for name, v := range m.All() {
		out[name] = valueOf(v, showSecrets)
	}
	return out
}

// valueOf returns a value for expressions. A secret that is not shown, and a value that is not known, are unknown values of CEL: what depends on them is
// unknown too.
func valueOf(v property.Value, showSecrets bool) any {
	inner, secret := v.Unwrap()
	switch {
	case v.IsSealed(), inner.IsSealed(), secret && !showSecrets:
		return types.NewUnknown(secretKind, nil)
	case inner.IsUnknown(), inner.HasMark():
		return types.NewUnknown(unknownKind, nil)
	case inner.IsArray():
		out := make([]any, 0, inner.AsArray().Len())
		for _, e := range inner.AsArray().All() {
			out = append(out, valueOf(e, showSecrets))
		}
		return out
	case inner.IsMap():
		return objectOf(inner.AsMap(), showSecrets)
	case inner.IsNull():
		return types.NullValue
	}
	return display.PlainJSON(inner, showSecrets)
}

// isHidden reports whether a result depends on a secret that is not shown.
func isHidden(v ref.Val) bool {
	u, is := v.(*types.Unknown)
	return is && slices.Contains(u.IDs(), secretKind)
}

// plain returns a result of an expression for JSON.
func plain(v ref.Val) any {
	switch v := v.(type) {
	case *types.Unknown:
		switch {
		case isHidden(v):
			return "[secret]"
		case slices.Contains(v.IDs(), unknownKind):
			return "[unknown]"
		}
		return nil
	case types.Bool:
		return bool(v)
	case types.Int:
		return int64(v)
	case types.Uint:
		return uint64(v)
	case types.Double:
		if f := float64(v); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return f
		}
		return nil // JSON has no such number
	case types.String:
		return string(v)
	case types.Bytes:
		return base64.StdEncoding.EncodeToString(v)
	case types.Null, *types.Err:
		return nil
	case types.Timestamp:
		return format.Time(v.Time)
	case types.Duration:
		return time.Duration(v.Duration).String()
	case *types.Optional:
		if v.HasValue() {
			return plain(v.GetValue())
		}
		return nil
	case traits.Mapper:
		out := map[string]any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			value, _ := v.Find(key)
			out[fmt.Sprint(key.Value())] = plain(value)
		}
		return out
	case traits.Lister:
		out := []any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			out = append(out, plain(it.Next()))
		}
		return out
	case *types.Type:
		return v.TypeName()
	}
	return fmt.Sprint(v.Value())
}
