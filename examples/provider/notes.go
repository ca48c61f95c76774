package provider

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
)

// Notes is a provider of the package "notes". Its resources, of the type notes:index:Note, are files in a folder. An input "text" is the content,
// and an input "title" the name of the file, which the provider generates if it is not given. An output "words" counts.
type Notes struct {
	providers.Unimplemented
	folder string
}

// NewNotes returns the provider for a folder.
func NewNotes(folder string) *Notes {
	return &Notes{providers.Unimplemented{PackageName: "notes"}, folder}
}

// Host returns a host that has only this provider.
func (n *Notes) Host() providers.Host {
	return providers.HostFunc(func(_ context.Context, s providers.Spec) (providers.Provider, error) {
		if s.Package != n.Package() {
			return nil, fmt.Errorf("there is no provider for the package %q", s.Package)
		}
		return n, nil
	})
}

// Check validates the inputs, and adds those that the program does not give.
func (n *Notes) Check(_ context.Context, req providers.CheckRequest) (providers.CheckResponse, error) {
	news := req.News
	if !given(news, "title") {
		title, ok := req.Olds.Get("title") // it stays while the resource stays
		if !ok {
			title = property.String(strings.ToLower(req.Name) + "-" + hex.EncodeToString(req.RandomSeed[:3]))
		}
		news = news.With("title", title)
	}
	var failures []providers.CheckFailure
	for _, name := range []string{"title", "text"} {
		if v := news.At(name).StripSecrets(); !v.IsString() && !v.HasUnknowns() {
			failures = append(failures, providers.CheckFailure{Property: name, Reason: "a note needs a " + name + ", which is a string"})
		}
	}
	if title := plain(news, "title"); strings.ContainsAny(title, `/\`) {
		failures = append(failures, providers.CheckFailure{Property: "title", Reason: "it is the name of a file, and must not have slashes"})
	}
	return providers.CheckResponse{Inputs: news, Failures: failures}, nil
}

// plain returns the text of a property. It may be a secret.
func plain(m property.Map, name string) string { return m.At(name).StripSecrets().AsString() }

func given(m property.Map, name string) bool {
	v, ok := m.Get(name)
	return ok && !v.IsNull()
}

// Diff compares the recorded inputs with the new ones. A file with another name is another object.
func (n *Notes) Diff(_ context.Context, req providers.DiffRequest) (providers.DiffResponse, error) {
	answer := providers.DiffResponse{Changes: providers.DiffNone}
	for _, name := range []string{"title", "text"} {
		if property.Equal(req.OldInputs.At(name), req.NewInputs.At(name)) {
			continue
		}
		answer.Changes = providers.DiffSome
		answer.ChangedKeys = append(answer.ChangedKeys, name)
		if name == "title" {
			answer.ReplaceKeys = append(answer.ReplaceKeys, name)
		}
	}
	return answer, nil
}

// Create makes a file, and never takes over one that exists.
func (n *Notes) Create(ctx context.Context, req providers.CreateRequest) (providers.CreateResponse, error) {
	answer := providers.CreateResponse{ID: plain(req.Properties, "title"), Properties: outputs(req.Properties)}
	if req.Preview {
		answer.ID = "" // it is known once the note exists
		return answer, nil
	}
	if err := context.Cause(ctx); err != nil {
		return answer, err
	}
	file, err := os.OpenFile(n.path(answer.ID), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return answer, err
	}
	_, err = file.WriteString(plain(req.Properties, "text"))
	if err = errors.Join(err, file.Close()); err != nil {
		return answer, &providers.InitError{ID: answer.ID, Properties: answer.Properties, Reasons: []string{err.Error()}, Err: err} // it exists
	}
	return answer, nil
}

// Read returns the note as it is now.
func (n *Notes) Read(_ context.Context, req providers.ReadRequest) (providers.ReadResponse, error) {
	text, err := os.ReadFile(n.path(req.ID))
	if errors.Is(err, fs.ErrNotExist) {
		return providers.ReadResponse{Absent: true}, nil
	}
	if err != nil {
		return providers.ReadResponse{}, err
	}
	inputs := property.NewMap(map[string]property.Value{"title": property.String(req.ID), "text": property.String(string(text))})
	inputs = property.AnnotateSecrets(inputs, req.Inputs) // what is recorded as a secret stays one
	return providers.ReadResponse{ID: req.ID, Inputs: inputs, HasInputs: true, Properties: outputs(inputs)}, nil
}

// Update writes another text.
func (n *Notes) Update(ctx context.Context, req providers.UpdateRequest) (providers.UpdateResponse, error) {
	answer := providers.UpdateResponse{Properties: outputs(req.NewInputs)}
	if req.Preview {
		return answer, nil
	}
	if err := context.Cause(ctx); err != nil {
		return answer, err
	}
	return answer, os.WriteFile(n.path(req.ID), []byte(plain(req.NewInputs, "text")), 0o600)
}

// Delete removes a note. One that is gone is no error.
func (n *Notes) Delete(_ context.Context, req providers.DeleteRequest) error {
	if err := os.Remove(n.path(req.ID)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (n *Notes) path(id string) string { return filepath.Join(n.folder, filepath.Base(id)) }

// outputs returns the outputs of a note with these inputs. In a preview, the text may be unknown, and the number of words is, too.
func outputs(inputs property.Map) property.Map {
	words := property.Computed()
	if !inputs.At("text").HasUnknowns() {
		words = property.Number(float64(len(strings.Fields(plain(inputs, "text")))))
	}
	return inputs.With("words", words)
}
