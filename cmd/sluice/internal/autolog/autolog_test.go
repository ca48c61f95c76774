package autolog

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/property/redact"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
)

var began = time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)

func open(t *testing.T, home string, at time.Time, limits Limits) *Log {
	t.Helper()
	known := &redact.Set{}
	known.Add("sw0rdfish")
	l, err := Open(Options{Home: home, Stack: "organization/demo/dev", Operation: "resource-import", Known: known, Now: at, Limits: limits})
	require.NoError(t, err)
	return l
}

func wide(t *testing.T) Limits {
	t.Helper()
	l, err := LimitsOf(func(string) (string, bool) { return "", false })
	require.NoError(t, err)
	return l
}

func TestALogHasNoPropertiesAndNoSecrets(t *testing.T) {
	home := t.TempDir()
	l := open(t, home, began, wide(t))
	resource := &state.Resource{URN: "urn:pulumi:dev::demo::a:b:C::x", Type: "a:b:C", Inputs: property.NewMap(map[string]property.Value{"size": property.String("private")})}
	l.Observe(stages.Prelude{Operation: "update", Config: map[string]string{"demo:size": "private"}})
	l.Observe(stages.StepStarted{Step: stages.StepInfo{Op: stages.OpCreate, URN: resource.URN, Type: resource.Type, New: resource}})
	l.Observe(stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.Error, Message: "the password sw0rdfish is wrong"}})
	l.Observe(stages.Stdout{Message: "sw0rdfish"})
	l.Observe(stages.PolicyRemediation{URN: resource.URN, Before: resource.Inputs, After: resource.Inputs})
	require.NoError(t, l.Close())
	all, err := List(home)
	require.NoError(t, err)
	require.Len(t, all, 1)
	e := all[0]
	require.Equal(t, "organization/demo/dev resource-import "+fmt.Sprint(os.Getpid()), e.Stack+" "+e.Operation+" "+e.PID)
	require.Equal(t, began, e.Began)
	text, err := os.ReadFile(e.Path)
	require.NoError(t, err)
	require.Equal(t, int64(len(text)), e.Size)
	require.NotContains(t, string(text), "private")
	require.NotContains(t, string(text), "sw0rdfish")
	require.Contains(t, string(text), "the password [secret] is wrong")
	require.Contains(t, string(text), "a:b:C::x")
}

func TestALogIsBounded(t *testing.T) {
	home := t.TempDir()
	l := open(t, home, began, wide(t))
	long := strings.Repeat("x", 1<<20)
	say := func(severity stages.Severity, text string) {
		l.Observe(stages.Diagnostic{LogMessage: stages.LogMessage{Severity: severity, Message: text}})
	}
	for range 3 * maxSize / len(long) {
		say(stages.Info, long)
	}
	say(stages.Error, "still there")
	for range 3 * maxSize / len(long) {
		say(stages.Error, long)
	}
	l.Observe(stages.Summary{Result: stages.Failed})
	require.NoError(t, l.Close())
	all, err := List(home)
	require.NoError(t, err)
	require.Less(t, all[0].Size, int64(2*maxSize+2*len(long)))
	text, err := os.ReadFile(all[0].Path)
	require.NoError(t, err)
	require.Contains(t, string(text), "still there")
	require.Contains(t, string(text), "events were left out")
	require.Contains(t, string(text), `"result":"failed"`)
}

func TestOldLogsAreRemoved(t *testing.T) {
	for name, c := range map[string]struct {
		limits Limits
		left   int
	}{
		"by number": {Limits{Count: 2, Age: time.Hour * 1000, Size: 1 << 30}, 2},
		"by age":    {Limits{Count: 100, Age: 90 * time.Minute, Size: 1 << 30}, 2},
		"by size":   {Limits{Count: 100, Age: time.Hour * 1000, Size: 0}, 1},
		"none":      {Limits{Count: 100, Age: time.Hour * 1000, Size: 1 << 30}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			other := filepath.Join(folder(home), "notes.txt")
			for i := range 5 {
				l := open(t, home, began.Add(time.Duration(i)*time.Hour), wide(t))
				l.Observe(stages.Summary{Result: stages.Succeeded})
				require.NoError(t, l.Close())
			}
			require.NoError(t, os.WriteFile(other, nil, 0o600))
			require.NoError(t, prune(home, c.limits, began.Add(4*time.Hour)))
			all, err := List(home)
			require.NoError(t, err)
			require.Len(t, all, c.left)
			require.Equal(t, began.Add(4*time.Hour), all[0].Began)
			require.FileExists(t, other)
		})
	}
}

func TestLimitsComeFromTheEnvironment(t *testing.T) {
	set := map[string]string{envAge: "2", envSize: "3"}
	lookup := func(name string) (string, bool) { v, ok := set[name]; return v, ok }
	l, err := LimitsOf(lookup)
	require.NoError(t, err)
	require.Equal(t, Limits{200, 48 * time.Hour, 3 << 20}, l)
	set[envAge] = "-1"
	_, err = LimitsOf(lookup)
	require.ErrorContains(t, err, envAge+"=-1")
}
