package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// record is a resource as it is in a file (state.md 1.6). Fields that need no conversion have their types in
// [Resource].
type record struct {
	URN                     urn.URN              `json:"urn"`
	Custom                  bool                 `json:"custom"`
	Delete                  bool                 `json:"delete"`
	ID                      string               `json:"id"`
	Type                    urn.Type             `json:"type"`
	Inputs                  json.RawMessage      `json:"inputs"`
	Outputs                 json.RawMessage      `json:"outputs"`
	Parent                  urn.URN              `json:"parent"`
	Protect                 bool                 `json:"protect"`
	Taint                   bool                 `json:"taint"`
	External                bool                 `json:"external"`
	Dependencies            []urn.URN            `json:"dependencies"`
	InitErrors              []string             `json:"initErrors"`
	Provider                string               `json:"provider"`
	PropertyDependencies    map[string][]urn.URN `json:"propertyDependencies"`
	PendingReplacement      bool                 `json:"pendingReplacement"`
	AdditionalSecretOutputs []string             `json:"additionalSecretOutputs"`
	Aliases                 []urn.URN            `json:"aliases"`
	CustomTimeouts          Timeouts             `json:"customTimeouts"`
	ImportID                string               `json:"importID"`
	RetainOnDelete          bool                 `json:"retainOnDelete"`
	DeletedWith             urn.URN              `json:"deletedWith"`
	ReplaceWith             []urn.URN            `json:"replaceWith"`
	Created                 time.Time            `json:"created"`
	Modified                time.Time            `json:"modified"`
	SourcePosition          string               `json:"sourcePosition"`
	StackTrace              []StackFrame         `json:"stackTrace"`
	IgnoreChanges           []string             `json:"ignoreChanges"`
	HideDiff                []string             `json:"hideDiff"`
	ReplaceOnChanges        []string             `json:"replaceOnChanges"`
	ReplacementTrigger      json.RawMessage      `json:"replacementTrigger"`
	RefreshBeforeUpdate     bool                 `json:"refreshBeforeUpdate"`
	ViewOf                  urn.URN              `json:"viewOf"`
	ResourceHooks           map[string][]string  `json:"resourceHooks"`
	ExtensionRef            string               `json:"extensionRef"`
	SnippetID               string               `json:"snippetID"`
}

// one decodes a resource. With an error it returns the part of the resource that it could read, perhaps nil.
func (d resourceReader) one(ctx context.Context, raw json.RawMessage) (*Resource, error) {
	var rec *record
	if err := json.Unmarshal(raw, &rec); err != nil {
		if rec == nil {
			return nil, err
		}
		return &Resource{URN: rec.URN}, err
	}
	if rec == nil {
		return nil, errors.New("null instead of a resource")
	}
	r := rec.resource()
	if err := checkRecord(r); err != nil {
		return r, err
	}
	if err := d.properties(ctx, rec, r); err != nil {
		return r, err
	}
	if d.version < versionPlain {
		r.upgrade()
	}
	return r, nil
}

// checkRecord makes the checks of state.md 1.6 that belong to decoding.
func checkRecord(r *Resource) error {
	switch {
	case r.URN == "":
		return errors.New("resource without a urn; restore an older state, or remove the entry with a state edit")
	case r.Type == "":
		return errors.New("resource without a type; restore an older state, or remove the entry with a state edit")
	case !r.Custom && r.ID != "":
		return fmt.Errorf("a component (custom is false) must not have an ID, this one has %q", r.ID)
	}
	return nil
}

func (d resourceReader) properties(ctx context.Context, rec *record, r *Resource) (err error) {
	if r.Inputs, err = d.object(ctx, rec.Inputs); err != nil {
		return within(err, "inputs")
	}
	if r.Outputs, err = d.object(ctx, rec.Outputs); err != nil {
		return within(err, "outputs")
	}
	if rec.ReplacementTrigger == nil {
		return nil
	}
	r.ReplacementTrigger, err = property.DecodeStateValue(ctx, rec.ReplacementTrigger, d.crypt)
	return within(err, "replacementTrigger")
}

func (d resourceReader) object(ctx context.Context, raw json.RawMessage) (property.Map, error) {
	if raw == nil {
		return property.Map{}, nil
	}
	v, err := property.DecodeStateValue(ctx, raw, d.crypt)
	if err == nil && !v.IsMap() && !v.IsNull() {
		err = errors.New("a property map must be an object")
	}
	return v.AsMap(), err
}

// upgrade brings a resource of version 2 or older up to date: every input depends on all dependencies (state.md 1.16).
func (r *Resource) upgrade() {
	if r.Inputs.Len() == 0 || len(r.PropertyDependencies) > 0 {
		return
	}
	r.PropertyDependencies = make(map[string][]urn.URN, r.Inputs.Len())
	for name := range r.Inputs.All() {
		r.PropertyDependencies[name] = r.Dependencies
	}
}

func (rec *record) resource() *Resource {
	return &Resource{
		URN: rec.URN, Custom: rec.Custom, Delete: rec.Delete, ID: rec.ID, Type: rec.Type, Parent: rec.Parent,
		Protect: rec.Protect, Taint: rec.Taint, External: rec.External, Dependencies: rec.Dependencies,
		InitErrors: rec.InitErrors, Provider: rec.Provider, PropertyDependencies: rec.PropertyDependencies,
		PendingReplacement: rec.PendingReplacement, AdditionalSecretOutputs: rec.AdditionalSecretOutputs,
		Aliases: rec.Aliases, CustomTimeouts: rec.CustomTimeouts, ImportID: rec.ImportID,
		RetainOnDelete: rec.RetainOnDelete, DeletedWith: rec.DeletedWith, ReplaceWith: rec.ReplaceWith,
		Created: rec.Created, Modified: rec.Modified, SourcePosition: rec.SourcePosition, StackTrace: rec.StackTrace,
		IgnoreChanges: rec.IgnoreChanges, HideDiff: rec.HideDiff, ReplaceOnChanges: rec.ReplaceOnChanges,
		RefreshBeforeUpdate: rec.RefreshBeforeUpdate, ViewOf: rec.ViewOf, ResourceHooks: rec.ResourceHooks,
		ExtensionRef: rec.ExtensionRef, SnippetID: rec.SnippetID,
	}
}
