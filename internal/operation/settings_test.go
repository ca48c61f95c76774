package operation

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/standard"
)

func TestWhatIsReadBeforeTheProgramStarts(t *testing.T) {
	update, refresh, destroy := stages.ModeUpdate, stages.ModeRefresh, stages.ModeDestroy
	for name, c := range map[string]struct {
		mode  stages.Mode
		given Settings
		want  standard.Reads
	}{
		"an update":                                 {update, Settings{}, standard.ReadMarked},
		"an update with a refresh":                  {update, Settings{Refresh: true}, standard.ReadAll},
		"an update that refreshes each resource":    {update, Settings{Refresh: true, RunProgram: true}, standard.ReadNothing},
		"a refresh":                                 {refresh, Settings{}, standard.ReadAll},
		"a refresh that runs the program":           {refresh, Settings{RunProgram: true}, standard.ReadNothing},
		"a destroy":                                 {destroy, Settings{}, standard.ReadMarked},
		"a destroy that runs the program":           {destroy, Settings{RunProgram: true}, standard.ReadMarked},
		"a destroy with a refresh and the program":  {destroy, Settings{Refresh: true, RunProgram: true}, standard.ReadAll},
		"a recovery":                                {refresh, Settings{Recovers: true}, standard.ReadInterrupted},
		"an import, which leaves what was recorded": {update, Settings{Imports: make([]stages.ImportRequest, 1)}, standard.ReadNothing},
	} {
		t.Run(name, func(t *testing.T) {
			c.given.Stages.Mode = c.mode
			require.Equal(t, c.want, c.given.reads())
		})
	}
}

func TestARecordThatWasNotOpenedHasNothingToClose(t *testing.T) {
	var none *record
	require.NoError(t, none.close(t.Context()))
	require.NoError(t, (&record{}).close(t.Context()))
}
