package state

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/internal/text/jsonscan"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// ErrPlanSecrets is wrapped by the error for a plan whose secrets cannot be decrypted: it belongs to another stack, or is
// older than the stack's present key.
var ErrPlanSecrets = errors.New("the secrets are encrypted with another key than this stack has: the plan is for another stack, " +
	"or older than the stack's secrets provider; make a new one")

// PlanDecodeOptions define how a plan is read.
type PlanDecodeOptions struct {
	Name      string             // of the file, for error messages
	Decrypter property.Decrypter // opens secrets; needed if there is one
	Crypter   string             // the Decrypter's identity, see [SecretsProvider.Identity]
}

// DecodePlan reads a plan file ([steps.md 12.1]). Errors are a [*DecodeError]. Unknown members of resources and goals are
// ignored, as they have no effect in this version; unknown members of the document itself are errors, since it may not
// be a plan at all.
//
// [steps.md 12.1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#121-the-file
func DecodePlan(ctx context.Context, data []byte, o PlanDecodeOptions) (*Plan, error) {
	p := &Plan{Resources: map[urn.URN]*PlannedResource{}}
	read := planReader{crypt: property.StateDecodeOptions{Decrypter: planDecrypter{o.Decrypter}, Crypter: o.Crypter}}
	c := jsonscan.New(data)
	marked := false
	err := c.Object(func(name string) (err error) {
		switch name {
		case "manifest":
			marked = true
			p.Manifest, err = readManifest(c)
		case "config":
			err = c.Decode(&p.Config)
		case "resourcePlans":
			return c.Object(func(u string) error {
				r, err := read.one(ctx, c, urn.URN(u))
				p.Resources[urn.URN(u)] = r
				if err != nil {
					return &DecodeError{Name: o.Name, Field: "resourcePlans", URN: urn.URN(u), Err: err}
				}
				return nil
			})
		default:
			err = errNotAPlan
		}
		return within(err, name)
	})
	if err == nil {
		err = c.End()
	}
	if err == nil && !marked {
		err = errNotAPlan
	}
	switch located := (*DecodeError)(nil); {
	case err == nil:
		return p, nil
	case errors.As(err, &located):
		return nil, located
	}
	return nil, &DecodeError{Name: o.Name, Err: err}
}

var errNotAPlan = advice.With(errors.New("this is not an update plan"), advice.On(advice.SavePlan))

// planDecrypter distinguishes failures to decrypt from others.
type planDecrypter struct{ property.Decrypter }

func (d planDecrypter) Decrypt(ctx context.Context, ciphertext string) (string, error) {
	if d.Decrypter == nil {
		return "", ErrPlanSecrets
	}
	text, err := d.Decrypter.Decrypt(ctx, ciphertext)
	if err != nil {
		return "", fmt.Errorf("%w (%w)", ErrPlanSecrets, err)
	}
	return text, nil
}

// PlanRecord is a plan file as a Go type, for its schema.
type PlanRecord struct {
	// Manifest records which tool made the plan, and when.
	Manifest struct {
		Time    time.Time `json:"time"`
		Magic   string    `json:"magic"`
		Version string    `json:"version"`
	} `json:"manifest"`
	// Config is the configuration that the preview used.
	Config map[string]any `json:"config,omitempty"`
	// ResourcePlans are the permitted steps, by URN.
	ResourcePlans map[urn.URN]plannedRecord `json:"resourcePlans,omitempty"`
}

// plannedRecord is a planned resource as it is in a file. Fields that need no conversion have their types in
// [PlannedResource].
type plannedRecord struct {
	// Goal is the planned registration; it is missing for a resource that is only to be deleted.
	Goal *goalRecord `json:"goal,omitempty"`
	// Steps are the kinds of its steps, in order.
	Steps []string `json:"steps,omitempty"`
	// State are the outputs that the preview predicted, null if it did not.
	State *map[string]any `json:"state" jsonschema:"nullable"`
	// Seed is the random seed with which the inputs were checked.
	Seed []byte `json:"seed,omitempty"`

	// Uncertain is true if a replacement depends on values that the preview did not know. Pulumi does not write this.
	Uncertain bool `json:"uncertain,omitempty"`
}

type goalRecord struct {
	Type                    urn.Type             `json:"type"`
	Name                    string               `json:"name"`
	Custom                  bool                 `json:"custom"`
	InputDiff               diffRecord           `json:"inputDiff"`
	OutputDiff              diffRecord           `json:"outputDiff"`
	Parent                  urn.URN              `json:"parent,omitempty"`
	Protect                 bool                 `json:"protect"`
	Dependencies            []urn.URN            `json:"dependencies,omitempty"`
	Provider                string               `json:"provider,omitempty"`
	PropertyDependencies    map[string][]urn.URN `json:"propertyDependencies,omitempty"`
	DeleteBeforeReplace     *bool                `json:"deleteBeforeReplace,omitempty"`
	IgnoreChanges           []string             `json:"ignoreChanges,omitempty"`
	AdditionalSecretOutputs []string             `json:"additionalSecretOutputs,omitempty"`
	AliasURNs               []urn.URN            `json:"aliases,omitempty"`
	Aliases                 []urn.Alias          `json:"structuredAliases,omitempty"`
	ID                      string               `json:"id,omitempty"`
	CustomTimeouts          Timeouts             `json:"customTimeouts"`
}

type diffRecord struct {
	Adds    map[string]any `json:"adds,omitempty"`
	Updates map[string]any `json:"updates,omitempty"`
	Deletes []string       `json:"deletes,omitempty"`
}

type planReader struct{ crypt property.StateDecodeOptions }

func (d planReader) one(ctx context.Context, c *jsonscan.Scanner, u urn.URN) (*PlannedResource, error) {
	if !u.IsValid() {
		return nil, errors.New("this is not a URN")
	}
	var rec *plannedRecord
	if err := c.Decode(&rec); err != nil {
		return nil, err
	}
	if rec == nil {
		return nil, errors.New("null instead of the plan of a resource")
	}
	r := &PlannedResource{Ops: rec.Steps, Seed: rec.Seed, Uncertain: rec.Uncertain}
	if rec.State != nil {
		outputs, err := d.object(ctx, *rec.State)
		if err != nil {
			return nil, within(err, "state")
		}
		r.Outputs = &outputs
	}
	if rec.Goal == nil {
		return r, nil
	}
	if rec.Goal.Type != u.Type() || rec.Goal.Name != u.Name() {
		return nil, fmt.Errorf("the goal is of another resource: %s of type %s", rec.Goal.Name, rec.Goal.Type)
	}
	var err error
	r.Goal, err = d.goal(ctx, rec.Goal)
	return r, within(err, "goal")
}

func (d planReader) goal(ctx context.Context, rec *goalRecord) (g *PlannedGoal, err error) {
	g = &PlannedGoal{
		Type: rec.Type, Name: rec.Name, Custom: rec.Custom, Parent: rec.Parent, Protect: rec.Protect, Dependencies: rec.Dependencies,
		Provider: rec.Provider, PropertyDependencies: rec.PropertyDependencies, DeleteBeforeReplace: rec.DeleteBeforeReplace,
		IgnoreChanges: rec.IgnoreChanges, AdditionalSecretOutputs: rec.AdditionalSecretOutputs, ImportID: rec.ID,
		CustomTimeouts: rec.CustomTimeouts,
	}
	for _, u := range rec.AliasURNs {
		g.Aliases = append(g.Aliases, urn.Alias{URN: u})
	}
	g.Aliases = append(g.Aliases, rec.Aliases...)
	if g.Inputs, err = d.diff(ctx, rec.InputDiff); err != nil {
		return nil, within(err, "inputDiff")
	}
	g.Outputs, err = d.diff(ctx, rec.OutputDiff)
	return g, within(err, "outputDiff")
}

func (d planReader) diff(ctx context.Context, rec diffRecord) (out PlannedDiff, err error) {
	if out.Adds, err = d.object(ctx, rec.Adds); err != nil {
		return out, within(err, "adds")
	}
	if out.Updates, err = d.object(ctx, rec.Updates); err != nil {
		return out, within(err, "updates")
	}
	out.Deletes = rec.Deletes
	return out, nil
}

func (d planReader) object(ctx context.Context, raw map[string]any) (property.Map, error) {
	if len(raw) == 0 {
		return property.Map{}, nil
	}
	v, err := property.FromJSON(ctx, raw, d.crypt)
	if err == nil && !v.IsMap() {
		err = errors.New("a property map must be an object")
	}
	return v.AsMap(), err
}
