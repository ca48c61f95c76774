package importfile

import (
	"context"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Placeholders returns a file for all resources that a preview would create, with placeholders for the IDs, and remarks
// about them. It encrypts secrets in the configurations of providers with enc.
func Placeholders(ctx context.Context, steps []stages.StepInfo, enc property.Encrypter) (*File, []string, error) {
	b := &writer{
		file: &File{NameTable: map[string]urn.URN{}, Resources: []Resource{}}, created: map[urn.URN]bool{},
		states: map[urn.URN]*state.Resource{}, names: Names{}, used: map[string]bool{}, raw: map[string]bool{}, enc: enc,
	}
	for _, s := range steps {
		if s.New == nil {
			continue
		}
		b.states[s.URN] = s.New
		b.raw[s.URN.Name()] = true
		b.created[s.URN] = s.Op == stages.OpCreate
	}
	for _, s := range steps {
		switch {
		case s.Op != stages.OpCreate, s.Type == urn.RootStackType, isDefault(s.URN):
			continue
		}
		if err := b.add(ctx, s.New); err != nil {
			return nil, nil, err
		}
	}
	return b.file, b.warnings, nil
}

// writer makes a file from the steps of a preview.
type writer struct {
	file     *File
	created  map[urn.URN]bool
	states   map[urn.URN]*state.Resource
	names    Names
	used     map[string]bool
	raw      map[string]bool // all names in the stack: generated names must differ from them
	enc      property.Encrypter
	warnings []string
}

func isDefault(u urn.URN) bool {
	return u.Type().IsProvider() && strings.HasPrefix(u.Name(), "default")
}

func (b *writer) add(ctx context.Context, r *state.Resource) error {
	q := Resource{Type: r.Type, Name: b.name(r.URN), Component: !r.Custom, Remote: !r.Custom && r.Provider != ""}
	if q.Name != r.URN.Name() {
		q.LogicalName = r.URN.Name()
	}
	if r.Parent != "" && !r.Parent.IsRootStack() {
		q.Parent = b.refer(r.Parent)
	}
	if ref, err := urn.ParseProviderRef(r.Provider); err == nil {
		if !isDefault(ref.URN) {
			q.Provider = b.refer(ref.URN)
		}
		if p := b.states[ref.URN]; p != nil {
			if err := q.setPlugin(p); err != nil {
				return err
			}
		}
	}
	switch {
	case r.Type.IsProvider():
		if err := b.configuration(ctx, &q, r); err != nil {
			return err
		}
	case r.Custom:
		q.ID = Placeholder
	}
	b.file.Resources = append(b.file.Resources, q)
	return nil
}

// configuration sets the inputs of a provider. It leaves unknown inputs to the user.
func (b *writer) configuration(ctx context.Context, q *Resource, r *state.Resource) error {
	if err := q.setPlugin(r); err != nil {
		return err
	}
	known := r.Inputs.WithoutInternal().Without("version")
	var unknown []string
	for name, v := range known.All() {
		if v.HasUnknowns() {
			unknown = append(unknown, name)
		}
	}
	known = known.Without(unknown...)
	if len(unknown) > 0 {
		b.warnings = append(b.warnings, fmt.Sprintf("configuration of provider %s is not known during the preview and has been omitted from "+
			"the import file, fill it in before importing: %s", r.URN, strings.Join(unknown, ", ")))
	}
	if known.Len() == 0 {
		return nil
	}
	text, err := property.EncodeState(ctx, known, property.StateOptions{Encrypter: b.enc})
	if err != nil {
		return fmt.Errorf("the configuration of %s: %w", r.URN, err)
	}
	q.Inputs = text
	return nil
}

// refer returns the name of a parent or provider. It adds an entry to the name table for a resource that the file does
// not list.
func (b *writer) refer(u urn.URN) string {
	name := b.name(u)
	if !b.created[u] {
		b.file.NameTable[name] = u
	}
	return name
}

// name returns the resource's own name, or another one if that is taken.
func (b *writer) name(u urn.URN) string {
	if name, ok := b.names[u]; ok {
		return name
	}
	name := u.Name()
	if b.used[name] {
		name = unusedName(name, u.Type(), func(name string) bool { return b.used[name] || b.raw[name] })
	}
	b.used[name], b.names[u] = true, name
	return name
}
