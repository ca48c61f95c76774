package state

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/internal/text/jsonscan"
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
		Aliases: rec.Aliases, CustomTimeouts: rec.CustomTimeouts.Record(), ImportID: rec.ImportID,
		RetainOnDelete: rec.RetainOnDelete, DeletedWith: rec.DeletedWith, ReplaceWith: rec.ReplaceWith,
		Created: rec.Created, Modified: rec.Modified, SourcePosition: rec.SourcePosition, StackTrace: rec.StackTrace,
		IgnoreChanges: rec.IgnoreChanges, HideDiff: rec.HideDiff, ReplaceOnChanges: rec.ReplaceOnChanges,
		RefreshBeforeUpdate: rec.RefreshBeforeUpdate, ViewOf: rec.ViewOf, ResourceHooks: rec.ResourceHooks,
		ExtensionRef: rec.ExtensionRef, SnippetID: rec.SnippetID,
	}
}

// recordFields are the indices of the fields of a record, by their names in a file.
type recordFields map[string]int

func newRecordFields() recordFields {
	t := reflect.TypeFor[record]()
	fields := make(recordFields, t.NumField())
	for i := range t.NumField() {
		fields[t.Field(i).Tag.Get("json")] = i
	}
	return fields
}

// read reads a record, nil for null. It reads one as programs write it in one pass. Anything else it leaves to package encoding/json: the errors and
// the tolerance of that package count. With an error it returns the part that it could read, perhaps nil.
func (f recordFields) read(raw json.RawMessage) (*record, error) {
	rec := new(record)
	if f.scan(raw, rec) == nil {
		return rec, nil
	}
	rec = nil
	err := json.Unmarshal(raw, &rec)
	return rec, err
}

// scan reads a record in one pass. Its properties are slices of the text.
func (f recordFields) scan(raw json.RawMessage, into *record) error {
	c, fields := jsonscan.New(raw), reflect.ValueOf(into).Elem()
	err := c.Members(func(name string) error {
		if at, known := f[name]; known {
			return scanField(c, fields.Field(at).Addr().Interface())
		}
		for known := range f {
			if strings.EqualFold(name, known) {
				return errors.New("encoding/json takes it for a field")
			}
		}
		return c.Skip()
	})
	if err != nil {
		return err
	}
	return c.End()
}

// scanField reads one field.
func scanField(c *jsonscan.Scanner, field any) (err error) {
	next := c.Next()
	switch field := field.(type) {
	case *json.RawMessage:
		if *field != nil {
			return errors.New("the name is there twice, and nobody will look at the first value")
		}
		*field, err = c.Cut()
		return err
	case *time.Time:
		raw, err := c.Cut()
		if err != nil {
			return err
		}
		return field.UnmarshalJSON(raw)
	case *bool:
		if *field = next == 't'; *field {
			return c.Word("true")
		}
		return c.Word("false")
	case *string:
		return scanText(c, next, field)
	case *urn.URN:
		return scanText(c, next, field)
	case *urn.Type:
		return scanText(c, next, field)
	}
	return c.Decode(field)
}

func scanText[T ~string](c *jsonscan.Scanner, next byte, field *T) error {
	if next != '"' {
		return errors.New("not a string")
	}
	text, err := c.Text()
	*field = T(text)
	return err
}
