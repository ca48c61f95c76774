package workspace

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice"
)

// Effective returns the settings of a stack, completed with those of its environments and the project's defaults (state.md 6.2), and the
// declared settings that are missing. Objects that [MergeKey] names are merged. It does not change the stack file. The error is about the setting
// [MergeKey].
func Effective(p *Project, f *StackFile) (values map[Key]Value, missing []Key, err error) {
	values = f.completed()
	for _, d := range p.Declarations {
		if _, set := values[d.Key]; set {
			continue
		}
		if v, given := d.own(); given {
			values[d.Key] = d.given(v)
		} else {
			missing = append(missing, d.Key)
		}
	}
	return values, missing, merge(p, f, values)
}

// Validate checks the settings against the declarations of the project. dec is used only for secrets.
func Validate(ctx context.Context, p *Project, stack string, values map[Key]Value, missing []Key, dec Decrypter) error {
	if len(missing) > 0 {
		return configErrorf("Stack '%s' is missing configuration value(s) %s; set each with `sluice config set <key> <value>`",
			stack, quotedList(missing, p.Name))
	}
	for _, d := range p.Declarations {
		v, ok := values[d.Key]
		if !ok {
			continue
		}
		decrypted := func(v Value) (Value, error) { return Decrypted(ctx, v, dec) }
		if err := d.check(p, stack, v, decrypted); err != nil {
			return err
		}
	}
	return nil
}

func quotedList(keys []Key, project string) string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = "'" + k.Short(project) + "'"
	}
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// EngineConfig decrypts the settings into the form that the engine passes to programs and providers (state.md 6.7). dec
// may be nil if no setting is secret. All settings of an operation pass here, wherever they come from.
func EngineConfig(ctx context.Context, values map[Key]Value, dec Decrypter) (sluice.Config, error) {
	out := make(sluice.Config, len(values))
	for _, k := range slices.SortedFunc(maps.Keys(values), CompareKeys) {
		plain, err := Decrypted(ctx, values[k], dec)
		if err != nil {
			return nil, Undecryptable(k, err)
		}
		text := Text(plain)
		if err := RefuseMark(k, text); err != nil {
			return nil, err
		}
		out[k.String()] = sluice.ConfigValue{Text: text, Secret: HasSecrets(values[k])}
	}
	return out, nil
}
