package sluice

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/internal/operation"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
)

// Config maps "namespace:name" to values.
type Config map[string]ConfigValue

// ConfigValue is one setting. Text is the text that programs get: structured values are JSON text.
type ConfigValue struct {
	Text   string
	Secret bool // it is, or contains, a secret
}

// SettingError reports a wrong value of a setting of the engine itself. Nothing has been done then.
type SettingError struct {
	Key string // "namespace:name"
	Err error  // names the key
}

func (e *SettingError) Error() string { return e.Err.Error() }

// Unwrap returns the error of the value.
func (e *SettingError) Unwrap() error { return e.Err }

// Values returns the values as programs get them, and the keys of the secret ones, sorted.
func (c Config) Values() (values map[string]string, secret []string) {
	values = make(map[string]string, len(c))
	for k, v := range c {
		values[k] = v.Text
		if v.Secret {
			secret = append(secret, k)
		}
	}
	slices.Sort(secret)
	return values, secret
}

// shown returns the configuration for people.
func (c Config) shown() map[string]string {
	values := make(map[string]string, len(c))
	for k, v := range c {
		values[k] = v.Text
		if v.Secret {
			values[k] = "[secret]"
		}
	}
	return values
}

// PackageInputs returns the configuration of a package as the inputs of its default provider ([state.md 6.7]): the settings in its
// namespace, by their names there. The provider of dynamic resources gets all settings, by their whole keys, because it runs
// providers of the program, which may read any of them.
//
// [state.md 6.7]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#67-what-programs-and-providers-get
func (c Config) PackageInputs(pkg string) property.Map {
	dynamic := providers.IsDynamic(pkg)
	m := map[string]property.Value{}
	for k, v := range c {
		namespace, name, _ := strings.Cut(k, ":")
		switch {
		case dynamic:
			name = k
		case namespace != pkg:
			continue
		}
		m[name] = property.String(v.Text)
		if v.Secret {
			m[name] = property.Secret(m[name])
		}
	}
	return property.NewMap(m)
}

// deniedProviders reads pulumi:disable-default-providers (steps.md 1.6).
func (c Config) deniedProviders() ([]string, error) {
	const key = "pulumi:disable-default-providers"
	text := c[key].Text
	if text == "" {
		return nil, nil
	}
	var list []string
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, &SettingError{Key: key, Err: fmt.Errorf("config %s must be a JSON list of package names: %w", key, err)}
	}
	for i, p := range list {
		list[i] = strings.TrimSpace(p)
	}
	return list, nil
}

// Keys of the settings that bound the calls of providers. LimitsKey has a list of rules (see [providers.ParseRules]). ReadLimitKey
// is used if [Options.ReadLimit] is 0.
const (
	LimitsKey    = "sluice:limits"
	ReadLimitKey = "sluice:readLimit"
)

// DependsOnKey is the key of the setting that says what dependsOn means in a delete-before-replace: "order", the default, or "replace", which replaces
// the dependents, too.
const DependsOnKey = "sluice:dependsOn"

// replacesDependsOn reads DependsOnKey.
func (c Config) replacesDependsOn() (bool, error) {
	switch text := c[DependsOnKey].Text; text {
	case "", "order":
		return false, nil
	case "replace":
		return true, nil
	default:
		return false, &SettingError{Key: DependsOnKey, Err: fmt.Errorf("config %s must be order or replace, not %q", DependsOnKey, text)}
	}
}

// EphemeralKey is the key of the setting that names the properties whose values no state and no journal has: a list of texts "type#property".
const EphemeralKey = "sluice:ephemeral"

// ephemeral reads EphemeralKey; nil if there is none.
func (c Config) ephemeral() (*operation.Ephemeral, error) {
	v, ok := c[EphemeralKey]
	if !ok {
		return nil, nil
	}
	e, err := operation.ParseEphemeral(v.Text)
	if err != nil {
		return nil, &SettingError{Key: EphemeralKey, Err: fmt.Errorf("config %s: %w", EphemeralKey, err)}
	}
	return e, nil
}

// limits returns the limits that the configuration has; nil if there are none.
func (c Config) limits() (*providers.Limits, error) {
	v, ok := c[LimitsKey]
	if !ok {
		return nil, nil
	}
	rules, err := providers.ParseRules(v.Text)
	if err != nil {
		return nil, &SettingError{Key: LimitsKey, Err: fmt.Errorf("config %s: %w", LimitsKey, err)}
	}
	limits, err := providers.NewLimits(rules...)
	if err != nil {
		return nil, &SettingError{Key: LimitsKey, Err: fmt.Errorf("config %s: %w", LimitsKey, err)}
	}
	return limits, nil
}

// isSensitive returns a function that reports whether a text contains a secret setting. It ignores short settings, which occur in
// almost every text.
func (c Config) isSensitive() func(string) bool {
	const shortest = 3
	var texts []string
	for _, v := range c {
		if v.Secret && len(v.Text) >= shortest {
			texts = append(texts, v.Text)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	return func(s string) bool {
		return slices.ContainsFunc(texts, func(secret string) bool { return strings.Contains(s, secret) })
	}
}
