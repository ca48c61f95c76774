package operation

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/stages"
)

// A timer that has fired may report when the operation has returned already.
func TestNothingComesAfterTheLastEvent(t *testing.T) {
	e, got := watchedEvents()
	e.warn("", "in time")
	e.emit(stages.Ended{})
	e.warn("", "late")
	e.emit(piece(1, "late"))
	e.emit(stages.LimitWait{Limit: "late"})
	require.Equal(t, []stages.Event{stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.Warning, Message: "in time"}}, stages.Ended{}}, *got)
}
