package providers

import (
	"fmt"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// UnknownError is the error for an operation with an unknown value outside of a preview. Nothing has been done.
type UnknownError struct {
	What     string // the operation, for example "create urn:pulumi:…"
	Property property.Path
	// Why describes the value and how to get it, if that is known.
	Why string
}

func (e *UnknownError) Error() string {
	if e.Why != "" {
		return fmt.Sprintf("%s: the property %s is not available: %s", e.What, e.Property, e.Why)
	}
	return fmt.Sprintf("%s: the value of the property %s is not known, and only a preview may go on without it", e.What, e.Property)
}

// known returns an error unless all properties for a call are known. It is for calls outside of previews: otherwise they would act on
// the mark that stands for an unknown value, or without the property.
func known(method string, subject string, m property.Map) error {
	at, v, found := m.FindUnknown()
	if !found {
		return nil
	}
	why, _ := v.IsUnavailable()
	return &UnknownError{What: method + " " + subject, Property: at, Why: why}
}

// identified returns an error if the ID of an object is the mark of an unknown value.
func identified(method string, u urn.URN, id string) error {
	if !property.IsUnknownMarker(id) {
		return nil
	}
	return fmt.Errorf("%s %s: the recorded ID is the mark of an unknown value; find the object, and import it under its ID", method, u)
}
