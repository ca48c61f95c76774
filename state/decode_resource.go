package state

import (
	"encoding/json"
	"time"

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
