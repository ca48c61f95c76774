package providers

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"

	"github.com/Masterminds/semver/v3"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// The keys of a provider resource's inputs that belong to the engine ([steps.md 1.7]). Everything else is the package's
// configuration.
//
// [steps.md 1.7]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#17-provider-inputs
const (
	// VersionKey holds the version of the package. The provider sees it and must return it unchanged.
	VersionKey = "version"
	// InternalKey holds an object with the other fields that are needed to start the provider again. No provider ever gets
	// it.
	InternalKey = "__internal"

	downloadURLKey      = "pluginDownloadURL"
	checksumsKey        = "pluginChecksums"
	nameKey             = "name"
	parameterizationKey = "parameterization"
	environmentKey      = "envVarMappings"
)

// SpecError is the error for a malformed input that the engine needs to start a provider. Property is the input's name, or
// "type".
type SpecError struct{ Property, Reason string }

func (e *SpecError) Error() string {
	return fmt.Sprintf("provider input %q %s", e.Property, e.Reason)
}

// SpecFromInputs returns the spec in the inputs of a provider resource of type t. It reads the form that is written today
// and the one of old states, which had no "__internal" ([protocol.md 1.12]). Errors are *[SpecError].
//
// [protocol.md 1.12]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#112-packages-and-parameterization
func SpecFromInputs(t urn.Type, inputs property.Map) (Spec, error) {
	r := inputReader{}
	spec := Spec{Package: t.ProviderPackage(), Version: r.version(inputs, VersionKey, "")}
	if spec.Package == "" {
		return Spec{}, &SpecError{Property: "type", Reason: fmt.Sprintf("%q is not the type of a provider", t)}
	}
	if err := t.CheckPackage(); err != nil {
		return Spec{}, &SpecError{Property: "type", Reason: "names no package: " + err.Error()}
	}

	at, prefix := inputs, ""
	internal, hasInternal := inputs.Get(InternalKey)
	if hasInternal {
		at, prefix = r.object(internal, InternalKey), InternalKey+"."
	}
	spec.DownloadURL = r.text(at, downloadURLKey, prefix)
	spec.Checksums = r.checksums(at, prefix)
	if hasInternal {
		spec.Environment = r.texts(at, environmentKey, prefix)
		r.plugin(at, prefix, &spec)
	}
	if r.err != nil {
		return Spec{}, r.err
	}
	return spec, nil
}

// Configuration returns the inputs of a provider resource in the form for providers and for its outputs: without
// "__internal" ([protocol.md 1.12]).
//
// [protocol.md 1.12]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#112-packages-and-parameterization
func Configuration(inputs property.Map) property.Map {
	if _, ok := inputs.Get(InternalKey); !ok {
		return inputs
	}
	return inputs.Without(InternalKey)
}

// hasUnknownConfiguration reports whether a provider with these inputs cannot be configured yet (protocol.md 3.2).
func hasUnknownConfiguration(inputs property.Map) bool {
	return inputs.Without(VersionKey, InternalKey).HasUnknowns()
}

// inputReader reads typed inputs and keeps the first error.
type inputReader struct{ err error }

func (i *inputReader) fail(name, reason string) {
	if i.err == nil {
		i.err = &SpecError{Property: name, Reason: reason}
	}
}

func (i *inputReader) object(v property.Value, name string) property.Map {
	inner, _ := v.Unwrap()
	if !inner.IsMap() && !inner.IsNull() {
		i.fail(name, "must be an object")
	}
	return inner.AsMap()
}

func (i *inputReader) string(v property.Value, name string) string {
	inner, _ := v.Unwrap()
	switch {
	case inner.IsUnknown():
		i.fail(name, "must be known before the provider is started")
	case !inner.IsString() && !inner.IsNull():
		i.fail(name, "must be a string")
	}
	return inner.AsString()
}

func (i *inputReader) text(m property.Map, key, prefix string) string {
	return i.string(m.At(key), prefix+key)
}

func (i *inputReader) version(m property.Map, key, prefix string) string {
	text := i.text(m, key, prefix)
	if text == "" {
		return ""
	}
	if _, err := semver.StrictNewVersion(text); err != nil {
		i.fail(prefix+key, fmt.Sprintf("is %q, which is not a semantic version such as 1.2.3", text))
	}
	return text
}

func (i *inputReader) texts(m property.Map, key, prefix string) map[string]string {
	object := i.object(m.At(key), prefix+key)
	if object.Len() == 0 {
		return nil
	}
	out := make(map[string]string, object.Len())
	for name, v := range object.All() {
		out[name] = i.string(v, prefix+key+"."+name)
	}
	return out
}

func (i *inputReader) checksums(m property.Map, prefix string) map[string][]byte {
	texts := i.texts(m, checksumsKey, prefix)
	if texts == nil {
		return nil
	}
	out := make(map[string][]byte, len(texts))
	for platform, text := range texts {
		sum, err := hex.DecodeString(text)
		if err != nil {
			i.fail(prefix+checksumsKey, "must be hexadecimal")
		}
		out[platform] = sum
	}
	return out
}

func (i *inputReader) plugin(m property.Map, prefix string, spec *Spec) {
	name := i.text(m, nameKey, prefix)
	if name != "" {
		if err := urn.CheckPluginName(name); err != nil {
			i.fail(prefix+nameKey, "names no plugin: "+err.Error())
		}
	}
	encoded, parameterized := m.Get(parameterizationKey)
	if !parameterized {
		if name != spec.Package {
			spec.Plugin = name
		}
		return
	}
	value, err := base64.StdEncoding.DecodeString(i.string(encoded, prefix+parameterizationKey))
	if err != nil {
		i.fail(prefix+parameterizationKey, "must be base64")
	}
	if name == "" {
		i.fail(prefix+nameKey, "must name the plugin that is parameterized")
	}
	spec.Parameterization = &Parameterization{
		Plugin: name, PluginVersion: i.version(m, VersionKey, prefix), Value: value,
	}
}
