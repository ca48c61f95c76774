package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/fleet/run"
	"github.com/sluice-iac/sluice/fleet/spec"
)

func TestALogHasTheBeginningAndTheEnd(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	defer file.Close()
	w := newLogWriter(file)
	line := bytes.Repeat([]byte("x"), 999)
	for i := range mostLog/1000 + 1000 {
		n, err := fmt.Fprintf(w, "%06d%s\n", i, line)
		require.NoError(t, err)
		require.Equal(t, 1006, n)
		require.LessOrEqual(t, len(w.last), 2*tail)
	}
	end := w.end()
	require.Len(t, end, tail)
	require.True(t, strings.HasSuffix(end, "x\n"))
	text, err := os.ReadFile(file.Name())
	require.NoError(t, err)
	require.Less(t, len(text), mostLog+2*tail)
	require.True(t, strings.HasPrefix(string(text), "000000x"))
	require.Regexp(t, `\n… \d+ bytes are left out here: the log of an operation has at most \d+\. What was printed last:\n`, string(text[mostLog-10:]))
	require.True(t, strings.HasSuffix(string(text), end))
}

func TestAnswersOfSluiceAreBounded(t *testing.T) {
	all := &limited{most: 100}
	fmt.Fprint(all, "as it is")
	require.Equal(t, "as it is", all.text())
	w := &limited{most: 100}
	for i := range 1000 {
		fmt.Fprintf(w, "%03d ", i)
		require.LessOrEqual(t, len(w.first)+len(w.last), 160)
	}
	require.Regexp(t, `^000 001 .*\n… 3900 bytes are left out …\n.* 998 999 $`, w.text())
}

func TestALongLineOfEventsIsLeftOut(t *testing.T) {
	f := &follower{path: filepath.Join(t.TempDir(), "events")}
	file, err := os.Create(f.path)
	require.NoError(t, err)
	defer file.Close()
	part := strings.Repeat("x", 1<<19)
	for range 20 {
		_, err := file.WriteString(part)
		require.NoError(t, err)
		require.NoError(t, f.follow())
		require.LessOrEqual(t, cap(f.line), 2*mostLine)
	}
	_, err = file.WriteString("\n" + `{"diagnosticEvent":{"severity":"error","message":"broken"}}` + "\n")
	require.NoError(t, err)
	require.NoError(t, f.follow())
	require.Equal(t, []string{"broken"}, f.errors)
	for range 2 * mostErrors {
		fmt.Fprintf(file, `{"diagnosticEvent":{"severity":"error","message":"%s"}}`+"\n", part)
	}
	require.NoError(t, f.follow())
	require.Len(t, f.errors, mostErrors)
	require.Less(t, len(f.errors[1]), mostText+100)
}

// An attempt that still runs here is waited for, even if the server has given it up.
func TestASecondAttemptWaitsForTheFirst(t *testing.T) {
	works := newWorks()
	end, err := works.begin(t.Context(), "a")
	require.NoError(t, err)
	other, err := works.begin(t.Context(), "b")
	require.NoError(t, err)
	other()
	waiting, stop := context.WithCancel(t.Context())
	stop()
	_, err = works.begin(waiting, "a")
	require.ErrorIs(t, err, context.Canceled)
	var wg conc.WaitGroup
	ended := false
	wg.Go(func() {
		again, err := works.begin(t.Context(), "a")
		if err == nil && ended {
			again()
		}
	})
	ended = true
	end()
	wg.Wait()
	require.Empty(t, works.now)
}

func TestOnlyWhatIsBiddenIsDone(t *testing.T) {
	now := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	fleet := &spec.Fleet{Schedules: []spec.Schedule{{Name: "night", Operation: "drift"}}}
	right := run.StackRequest{Bound: true, Attempt: "this", Asked: now.Add(-time.Hour), Operation: run.Destroy, Stack: spec.Stack{Name: "web"}}
	require.NoError(t, checkBidden(fleet, "this", right, now))
	for want, change := range map[string]func(*run.StackRequest){
		"sealed for another run":                         func(r *run.StackRequest) { r.Attempt = "former" },
		"was sealed for another run":                     func(r *run.StackRequest) { r.Bound = false },
		"more than 7 days from now":                      func(r *run.StackRequest) { r.Asked = now.Add(-8 * 24 * time.Hour) },
		"on 2026-12-05 12:00:00, more than 7 days":       func(r *run.StackRequest) { r.Asked = now.Add(10 * 24 * time.Hour) },
		`no schedule "noon"`:                             func(r *run.StackRequest) { r.Schedule = "noon" },
		`no schedule "night" with the operation destroy`: func(r *run.StackRequest) { r.Schedule = "night" },
	} {
		r := right
		change(&r)
		require.ErrorContains(t, checkBidden(fleet, "this", r, now), want)
	}
	right.Schedule, right.Operation = "night", run.Drift
	require.NoError(t, checkBidden(fleet, "this", right, now))
}

func TestPlansForTheSameHaveTheSameDigest(t *testing.T) {
	const text = `{"manifest":{"time":"2026-11-25T12:00:00Z"},"config":{"a:b":1},"resourcePlans":{"urn:pulumi:dev::a::t:m:R::web":{"goal":{"type":"t:m:R","name":"web",
		"inputDiff":{"adds":{"name":"web-3f2a91c","size":1,"password":{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","ciphertext":"v1:abc"}}},"outputDiff":{},"protect":false},
		"steps":["create"],"state":{"id":"x"},"seed":"c2VlZA=="}}}`
	of := func(text string, custom bool) string {
		d, err := planDigest(json.NewDecoder(strings.NewReader(text)), custom)
		require.NoError(t, err)
		return d
	}
	same := of(text, false)
	for _, change := range [][2]string{{"12:00:00", "13:00:00"}, {"web-3f2a91c", "web-0000aaa"}, {"v1:abc", "v1:def"}, {"c2VlZA==", "b3RoZXI="}, {`"id":"x"`, `"id":"y"`}} {
		require.Contains(t, text, change[0])
		require.Equal(t, same, of(strings.Replace(text, change[0], change[1], 1), false), change[0])
	}
	for _, change := range [][2]string{
		{`"size":1`, `"size":2`}, {`["create"]`, `["delete"]`}, {`"protect":false`, `"protect":true`}, {"R::web", "R::api"}, {"web-3f2a91c", "another name"}, {`"size":1,`, ""},
	} {
		require.Contains(t, text, change[0])
		require.NotEqual(t, same, of(strings.Replace(text, change[0], change[1], 1), false), change[0])
	}
	require.Equal(t, of(text, true), of(strings.Replace(text, "web-3f2a91c", "another name", 1), true), "where the project says how resources are named")
}

// Predicted outputs for which there is no room are unknown.
func TestPredictedOutputsAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "planned.json")
	write := func(text string) run.Planned {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		p, err := readPlanned(path)
		require.NoError(t, err)
		return p
	}
	p := write(`{"set":{"a":1,"b":{"c":"x"}},"removed":["d"]}`)
	require.JSONEq(t, `{"c":"x"}`, string(p.Set["b"]))
	require.Equal(t, []string{"d"}, p.Removed)
	p = write(`{"set":{"a":"` + strings.Repeat("x", mostPlanned) + `","b":2}}`)
	require.Equal(t, unknown, string(p.Set["a"]))
	require.Equal(t, "2", string(p.Set["b"]))
}
