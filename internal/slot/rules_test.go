package slot

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
)

func TestTheChangeOfEachFieldOfAGoalIsFound(t *testing.T) {
	typ := reflect.TypeFor[stages.Goal]()
	for i := range typ.NumField() {
		field := typ.Field(i)
		goal := stages.Goal{}
		was := goal
		require.Empty(t, mutated(&was, &goal))
		to := reflect.ValueOf(&goal).Elem().Field(i)
		to.Set(another(t, field.Type))
		require.Equal(t, field.Name, mutated(&was, &goal))
	}
}

// another returns a value of a type that is not its zero value.
func another(t *testing.T, typ reflect.Type) reflect.Value {
	t.Helper()
	v := reflect.New(typ).Elem()
	switch typ {
	case reflect.TypeFor[property.Map]():
		return reflect.ValueOf(property.NewMap(map[string]property.Value{"size": property.Number(1)}))
	case reflect.TypeFor[property.Value]():
		return reflect.ValueOf(property.Number(1))
	case reflect.TypeFor[state.RecordedTimeouts]():
		return reflect.ValueOf(state.Timeouts{Read: 1}.Record())
	}
	switch typ.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int:
		v.SetInt(1)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Pointer:
		return reflect.New(typ.Elem())
	case reflect.Slice:
		return reflect.MakeSlice(typ, 1, 1)
	case reflect.Map:
		return reflect.MakeMap(typ)
	case reflect.Struct:
		v.Field(0).Set(another(t, typ.Field(0).Type))
	default:
		t.Fatalf("no value of the type %v", typ)
	}
	return v
}
