package state

import (
	"context"
	"encoding/json"
	"time"

	"github.com/sluice-iac/sluice/property"
)

// Summary is the information about a stack in a list ([state.md 7.4]).
//
// [state.md 7.4]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#74-stack-ls
type Summary struct {
	Deployed  bool      // the stack has had a deployment
	Time      time.Time // of the last write by an engine
	Resources int       // all entries, providers, the stack and old copies included
	OnlyRoot  bool      // the one resource is the stack itself
	// SecretsProvider is the provider that the deployment names.
	SecretsProvider *SecretsProvider
}

// Summarise reads a checkpoint without decoding its resources.
func Summarise(data []byte, name string) (Summary, error) {
	d, _, err := openCheckpoint(data, name)
	if err != nil || d == nil {
		return Summary{}, err
	}
	return Summary{
		Deployed: true, Time: d.snapshot.Manifest.Time, Resources: len(d.resources),
		OnlyRoot: len(d.resources) == 1 && d.root() != nil, SecretsProvider: d.snapshot.SecretsProvider,
	}, nil
}

// openCheckpoint reads all of a checkpoint but its resources. The deployment is nil if the stack never had one.
func openCheckpoint(data []byte, name string) (*deployment, *envelope, error) {
	env, err := readCheckpoint(data)
	if err != nil {
		return nil, nil, &DecodeError{Name: name, Err: err}
	}
	if env.latest == nil {
		return nil, env, nil
	}
	d, err := readDeployment(env.latest)
	if err != nil {
		return nil, nil, &DecodeError{Name: name, Err: err}
	}
	return d, env, nil
}

// DecodeOutputs returns the outputs of the stack in a checkpoint: those of its root resource, which is the only one
// decoded; integrity is not checked ([state.md 7.8], 8). They are empty for a stack without a root resource.
//
// [state.md 7.8]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#78-stack-output
func DecodeOutputs(ctx context.Context, data []byte, o DecodeOptions) (property.Map, error) {
	d, env, err := openCheckpoint(data, o.Name)
	if err != nil || d == nil {
		return property.Map{}, err
	}
	root := d.root()
	if root == nil {
		return property.Map{}, nil
	}
	read, err := newResourceReader(ctx, env.version, d.snapshot.SecretsProvider, o)
	if err != nil {
		return property.Map{}, err
	}
	rs, err := read.all(ctx, "stack", []json.RawMessage{root})
	if err != nil {
		return property.Map{}, err
	}
	return rs[0].Outputs, nil
}

// ReexportCheckpoint returns the export of a checkpoint as it is stored: its bytes, indented in the envelope of an
// export ([state.md 7.6]). It decodes no resource, so that a damaged state can be exported and edited.
//
// [state.md 7.6]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#76-stack-export-stack-import
func ReexportCheckpoint(data []byte, name string) ([]byte, error) {
	env, err := readCheckpoint(data)
	if err != nil {
		return nil, &DecodeError{Name: name, Err: err}
	}
	b := appendHeader(nil, env.version, env.features)
	if env.latest == nil {
		b = appendHeader(nil, versionPlain, nil)
		env.latest = parts{}.appendDeployment(nil, &Snapshot{})
	}
	b = append(append(b, `,"deployment":`...), env.latest...)
	out, err := indent(append(b, '}'))
	if err != nil {
		return nil, &DecodeError{Name: name, Err: err}
	}
	return out, nil
}
