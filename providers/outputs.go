package providers

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// judge judges the properties in the answers of a provider before they are recorded.
type judge struct {
	spec Spec
	warn func(u urn.URN, message string)
}

// made returns the answer of a Create or Update that was called outside of previews. Outputs that no state can hold would be found out only when
// they are recorded, and then nothing would be recorded, not even the ID. The object exists, so that is an [*InitError], with the other outputs.
func (j judge) made(method Method, u urn.URN, id string, outputs property.Map, refresh bool, err error) error {
	if err != nil {
		return j.unhealthy(method, u, "", err)
	}
	kept, bad := property.Recordable(outputs)
	if bad == nil {
		j.warnOfUnknown(method, u, outputs)
		return nil
	}
	bad = j.unrecordable(method, u, bad)
	return &InitError{ID: id, Properties: kept, Reasons: []string{bad.Error()}, RefreshBeforeUpdate: refresh, Err: bad}
}

// found is made for a Read of the object with an ID.
func (j judge) found(u urn.URN, id string, answer ReadResponse, err error) (ReadResponse, error) {
	if err != nil {
		return ReadResponse{}, j.unhealthy(MethodRead, u, id, err)
	}
	if err := answer.Validate(); err != nil || answer.Absent || answer.Unread {
		return answer, err
	}
	outputs, bad := property.Recordable(answer.Properties)
	inputs, badInputs := property.Recordable(answer.Inputs)
	if bad = errors.Join(bad, badInputs); bad == nil {
		j.warnOfUnknown(MethodRead, u, answer.Properties)
		return answer, nil
	}
	bad = j.unrecordable(MethodRead, u, bad)
	return ReadResponse{}, &InitError{
		ID: answer.ID, Properties: outputs, Inputs: inputs, HasInputs: answer.HasInputs && badInputs == nil, Reasons: []string{bad.Error()},
		RefreshBeforeUpdate: answer.RefreshBeforeUpdate, Err: bad,
	}
}

// unhealthy returns the error of a call. That of an object that is not healthy keeps only what a state can hold, and gives at least one reason:
// without any, the object would be recorded as healthy. If it names no ID, that is id.
func (j judge) unhealthy(method Method, u urn.URN, id string, err error) error {
	var unhealthy *InitError
	if !errors.As(err, &unhealthy) {
		return err
	}
	outputs, bad := property.Recordable(unhealthy.Properties)
	inputs, badInputs := property.Recordable(unhealthy.Inputs)
	bad = errors.Join(bad, badInputs)
	if bad == nil && len(unhealthy.Reasons) > 0 && (unhealthy.ID != "" || id == "") {
		return err
	}
	kept := *unhealthy
	kept.ID, kept.Err = cmp.Or(unhealthy.ID, id), err
	if len(kept.Reasons) == 0 {
		kept.Reasons = []string{unhealthy.reason()}
	}
	if bad == nil {
		return &kept
	}
	kept.Properties, kept.Inputs, kept.HasInputs = outputs, inputs, unhealthy.HasInputs && badInputs == nil
	bad = j.unrecordable(method, u, bad)
	kept.Reasons = append(kept.Reasons[:len(kept.Reasons):len(kept.Reasons)], bad.Error())
	kept.Err = errors.Join(err, bad)
	return &kept
}

// warnOfUnknown warns of an output that is not known although the object exists. It is not recorded, and whatever uses it fails. A plugin's answer
// with such an output is refused, because it cannot be read.
func (j judge) warnOfUnknown(method Method, u urn.URN, outputs property.Map) {
	at, v, found := outputs.FindUnknown()
	if !found {
		return
	}
	why := ""
	if text, unavailable := v.IsUnavailable(); unavailable {
		why = " (" + text + ")"
	}
	j.warn(u, fmt.Sprintf("provider %s has answered %s with the property %s, whose value is not known%s; it is not recorded, and resources that use it "+
		"fail. Outside of previews, providers must return known values", j.spec.name(), method, at, why))
}

func (j judge) unrecordable(method Method, u urn.URN, bad error) error {
	return fmt.Errorf("provider %s has answered %s of %s with properties that cannot be recorded, which are left out: %w", j.spec.name(), method, u, bad)
}
