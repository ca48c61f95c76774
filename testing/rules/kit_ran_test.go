package rules

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
)

// ran is one finished operation: its result and error, the events in order, the requests to providers, the calls that
// reached the cloud, and the resulting state.
type ran struct {
	*sluice.Result
	t        *testing.T
	err      error
	events   []stages.Event
	requests []inquiry
	calls    []providertest.Call
	snapshot *state.Snapshot
}

// requireFailure fails unless the operation failed without being canceled, with this text in its error.
func (r *ran) requireFailure(text string) {
	r.t.Helper()
	var failed *sluice.FailedError
	require.ErrorAs(r.t, r.err, &failed)
	require.False(r.t, failed.Canceled)
	require.ErrorContains(r.t, r.err, text)
	require.Equal(r.t, stages.Failed, r.summary().Result)
}

// requireCanceled fails unless the operation was canceled.
func requireCanceled(t *testing.T, r *ran) {
	t.Helper()
	var failed *sluice.FailedError
	require.ErrorAs(t, r.err, &failed)
	require.True(t, failed.Canceled, "%v", r.err)
	require.Equal(t, stages.Canceled, r.summary().Result)
}

// steps returns the steps in the order in which they began, except internal ones: "create a".
func (r *ran) steps() []string {
	var out []string
	for _, e := range r.events {
		if s, ok := e.(stages.StepStarted); ok && !s.Step.Internal {
			out = append(out, string(s.Step.Op)+" "+s.Step.URN.Name())
		}
	}
	return out
}

// userSteps returns the steps except those of providers.
func userSteps(r *ran) []string {
	var out []string
	for _, e := range r.events {
		if s, ok := e.(stages.StepStarted); ok && !s.Step.Type.IsProvider() {
			out = append(out, string(s.Step.Op)+" "+s.Step.URN.Name())
		}
	}
	return out
}

// did returns the calls of resource methods in their order: "check a".
func (r *ran) did() []string {
	var out []string
	for _, c := range r.calls {
		switch c.Method {
		case providers.MethodCheck, providers.MethodDiff, providers.MethodCreate, providers.MethodUpdate, providers.MethodDelete, providers.MethodRead:
			out = append(out, string(c.Method)+" "+c.URN.Name())
		}
	}
	return out
}

// changed returns the calls that change the cloud.
func (r *ran) changed() []string {
	return slices.DeleteFunc(r.did(), func(s string) bool {
		return strings.HasPrefix(s, "check ") || strings.HasPrefix(s, "diff ") || strings.HasPrefix(s, "read ")
	})
}

// requireOrder fails unless the first of each pair was done before the second.
func requireOrder(t *testing.T, done []string, pairs ...[2]string) {
	t.Helper()
	for _, p := range pairs {
		a, b := slices.Index(done, p[0]), slices.Index(done, p[1])
		require.True(t, a >= 0 && b >= 0, "%q and %q in %q", p[0], p[1], done)
		require.Less(t, a, b, "%q before %q in %q", p[0], p[1], done)
	}
}

// step returns the only step of this kind for the name.
func (r *ran) step(op stages.Op, name string) stages.StepInfo {
	r.t.Helper()
	var found []stages.StepInfo
	for _, s := range r.Steps() {
		if s.Op == op && s.URN.Name() == name {
			found = append(found, s)
		}
	}
	require.Len(r.t, found, 1, "%s %s", op, name)
	return found[0]
}

// requireCounts compares the counted steps, except zero counts.
func (r *ran) requireCounts(want map[stages.Op]int) {
	r.t.Helper()
	require.Equal(r.t, want, r.Changes)
}

// summary returns the last event but one, which is the summary.
func (r *ran) summary() stages.Summary {
	r.t.Helper()
	require.GreaterOrEqual(r.t, len(r.events), 2)
	s, ok := r.events[len(r.events)-2].(stages.Summary)
	require.True(r.t, ok, "the last event but one is %T", r.events[len(r.events)-2])
	return s
}

// diagnostics returns the messages of a severity.
func (r *ran) diagnostics(s stages.Severity) []stages.Diagnostic {
	var out []stages.Diagnostic
	for _, e := range r.events {
		if d, ok := e.(stages.Diagnostic); ok && d.Severity == s {
			out = append(out, d)
		}
	}
	return out
}

// requireDiagnostic looks for a message with this code and text.
func (r *ran) requireDiagnostic(s stages.Severity, code int, text string) {
	r.t.Helper()
	for _, d := range r.diagnostics(s) {
		if d.Code == code && strings.Contains(d.Message, text) {
			return
		}
	}
	require.Fail(r.t, "no such diagnostic", "%s %d %q\nthere are: %+v", s, code, text, r.diagnostics(s))
}

// requireAdvice fails unless a message of this severity has the advice.
func (r *ran) requireAdvice(s stages.Severity, a advice.Advice) {
	r.t.Helper()
	var all []advice.Advice
	for _, d := range r.diagnostics(s) {
		all = append(all, d.Advice...)
	}
	require.Contains(r.t, all, a)
}

// asked returns the requests of one type for the resource of that name.
func asked[T any](r *ran, name string) []T {
	var out []T
	for _, q := range r.requests {
		if body, ok := q.body.(T); ok && q.name == name {
			out = append(out, body)
		}
	}
	return out
}

// askedOnce returns the only request of one type for the resource of that name.
func askedOnce[T any](r *ran, name string) T {
	r.t.Helper()
	all := asked[T](r, name)
	require.Len(r.t, all, 1)
	return all[0]
}
