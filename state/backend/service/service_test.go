package service

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/backend/service/internal/api"
	"github.com/sluice-iac/sluice/testing/scratch"
	"github.com/sluice-iac/sluice/testing/servicetest"
	"github.com/sluice-iac/sluice/urn"
)

func TestMain(m *testing.M) { os.Exit(scratch.Run(m)) }

// open returns a service, and a backend that uses it.
func open(t *testing.T, can servicetest.Options, change func(*Options)) (*servicetest.Server, *Backend) {
	t.Helper()
	can.Users = map[string]string{"pul-alice": "alice"}
	server := servicetest.New(can)
	t.Cleanup(func() {
		server.Close()
		require.Empty(t, server.Violations())
	})
	o := Options{Home: t.TempDir(), Patience: 2 * time.Second}
	o.URL, o.Project, o.Version = server.URL(), "demo", "sluice/0.1.0"
	o.Environment = func(name string) (string, bool) { return "pul-alice", name == EnvToken }
	if change != nil {
		change(&o)
	}
	b, err := Open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return server, b
}

func made(t *testing.T, b *Backend) *stack {
	t.Helper()
	s, err := b.Init(t.Context(), backend.Ref{Project: "demo", Name: "dev"}, nil)
	require.NoError(t, err)
	return s.WithSecrets(b.DefaultSecrets(s.Ref())).(*stack)
}

func resource(name, id string) *state.Resource {
	u, err := urn.Parse("urn:pulumi:dev::demo::pkg:index:Thing::" + name)
	if err != nil {
		panic(err)
	}
	inputs := property.NewMap(map[string]property.Value{"id": property.String(id), "password": property.Secret(property.String("sw0rdfish"))})
	return &state.Resource{URN: u, Type: u.Type(), Custom: true, ID: id, Inputs: inputs, Outputs: inputs}
}

// described lists the content of a state, independent of its order.
func described(t *testing.T, s *state.Snapshot) []string {
	all := []string{}
	e := state.NewEncoder(state.EncoderOptions{Plaintext: true})
	for _, r := range s.Resources {
		text, err := e.Resource(t.Context(), r, false)
		require.NoError(t, err)
		all = append(all, string(text))
	}
	for _, op := range s.Pending {
		all = append(all, fmt.Sprintf("%s %s", op.Type, op.Resource.URN.Name()))
	}
	slices.Sort(all)
	return all
}

// At its end, the service has exactly the records of a run, by each of the ways to send them.
func TestTheServiceHasWhatWasRecorded(t *testing.T) {
	for name, can := range map[string]servicetest.Options{"journal": {Journal: true}, "delta": {Delta: true}, "whole": {}} {
		for seed := range uint64(12) {
			t.Run(fmt.Sprintf("%s %d", name, seed), func(t *testing.T) {
				_, b := open(t, can, nil)
				s := made(t, b)
				random := rand.New(rand.NewPCG(seed, 1))
				for range 3 {
					want := recordSomething(t, s, random)
					got, err := s.Load(t.Context())
					require.NoError(t, err)
					require.Equal(t, want, described(t, got))
				}
			})
		}
	}
}

// recordSomething records a run of random changes, some of which do not end, and describes the state afterwards.
func recordSomething(t *testing.T, s *stack, random *rand.Rand) []string {
	ctx := t.Context()
	l, err := s.Lock(ctx, backend.LockOptions{Operation: "update"})
	require.NoError(t, err)
	run, err := s.Begin(ctx, backend.Operation{Kind: "update", Config: json.RawMessage(`{"demo:a":"b","demo:c":{"secure":"x"},"demo:d":[1]}`)})
	require.NoError(t, err)
	base, err := s.Load(ctx)
	require.NoError(t, err)
	r, err := s.Record(ctx, base)
	require.NoError(t, err)
	var live []*state.Resource
	if base != nil {
		live = slices.Clone(base.Resources)
	}
	for i := range 12 {
		name := fmt.Sprintf("r%d-%d", random.IntN(1000), i)
		switch pick := random.IntN(6); {
		case pick <= 1 || len(live) == 0: // created, or about to be
			begun := resource(name, "")
			if len(live) > 0 && random.IntN(2) == 0 {
				begun.Dependencies = []urn.URN{live[random.IntN(len(live))].URN} // perhaps of the base, in no other entry
			}
			require.NoError(t, r.Begin(ctx, state.Pending{Type: state.Creating, Resource: begun}))
			switch random.IntN(16) {
			case 0: // it does not end
			case 1:
				require.NoError(t, r.End(ctx, state.Change{Begun: begun}))
			default:
				add := resource(name, "id-"+name)
				add.Dependencies = begun.Dependencies
				require.NoError(t, r.End(ctx, state.Change{Begun: begun, Add: add}))
				live = append(live, add)
			}
		case pick == 2: // the same
			at := unneeded(live, random)
			same := *live[at]
			require.NoError(t, r.End(ctx, state.Change{Add: &same, Remove: []*state.Resource{live[at]}, Elide: true}))
			live[at] = &same
		case pick == 3: // updated
			at := unneeded(live, random)
			begun, next := *live[at], *live[at]
			next.Outputs = property.NewMap(map[string]property.Value{"updated": property.String(name)})
			require.NoError(t, r.Begin(ctx, state.Pending{Type: state.Updating, Resource: &begun}))
			require.NoError(t, r.End(ctx, state.Change{Begun: &begun, Add: &next, Remove: []*state.Resource{live[at]}}))
			live[at] = &next
		case pick == 4: // its outputs
			at := random.IntN(len(live))
			next := *live[at]
			next.Outputs = property.NewMap(map[string]property.Value{"outputs": property.String(name)})
			require.NoError(t, r.End(ctx, state.Change{Replace: []state.Replacement{{Old: live[at], New: &next}}, Refresh: random.IntN(2) == 0}))
			live[at] = &next
		default: // deleted
			at := unneeded(live, random)
			require.NoError(t, r.Begin(ctx, state.Pending{Type: state.Deleting, Resource: live[at]}))
			require.NoError(t, r.End(ctx, state.Change{Begun: live[at], Remove: []*state.Resource{live[at]}}))
			live = slices.Delete(live, at, at+1)
		}
	}
	require.NoError(t, r.Close(ctx))
	h, _ := s.now()
	recorded, err := h.stack.Load(ctx)
	require.NoError(t, err)
	require.NoError(t, run.End(ctx, backend.Update{Result: backend.ResultSucceeded}))
	require.NoError(t, l.Close())
	return described(t, recorded)
}

// An operation that ends before it has recorded anything keeps the operations that were interrupted before it, however the service treats
// journals.
func TestAnOperationWithoutRecordsKeepsWhatIsPending(t *testing.T) {
	for name, can := range map[string]servicetest.Options{"journal": {Journal: true}, "whole": {}} {
		t.Run(name, func(t *testing.T) {
			_, b := open(t, can, nil)
			s := made(t, b)
			ctx := t.Context()
			existing := resource("one", "id-one")
			run := func(do func(r state.Recorder)) {
				t.Helper()
				l, err := s.Lock(ctx, backend.LockOptions{})
				require.NoError(t, err)
				_, err = s.Begin(ctx, backend.Operation{Kind: "update"})
				require.NoError(t, err)
				if do != nil {
					base, err := s.Load(ctx)
					require.NoError(t, err)
					r, err := s.Record(ctx, base)
					require.NoError(t, err)
					do(r)
					require.NoError(t, r.Close(ctx))
				}
				require.NoError(t, l.Close())
			}
			run(func(r state.Recorder) {
				require.NoError(t, r.End(ctx, state.Change{Add: existing}))
				require.NoError(t, r.Begin(ctx, state.Pending{Type: state.Updating, Resource: existing}))
			})
			before, err := s.Load(ctx)
			require.NoError(t, err)
			require.Len(t, before.Pending, 1)
			run(nil)
			after, err := s.Load(ctx)
			require.NoError(t, err)
			require.Equal(t, described(t, before), described(t, after))
		})
	}
}

// A move between two stacks that is cut off after any of its calls is completed by the next command on either stack.
func TestAMoveIsCompleted(t *testing.T) {
	for calls := range 3 {
		for _, first := range []string{"dev", "prod"} {
			t.Run(fmt.Sprintf("%d calls, %s first", calls, first), func(t *testing.T) {
				server, b := open(t, servicetest.Options{}, func(o *Options) { o.Patience = 500 * time.Millisecond })
				ctx := t.Context()
				from := made(t, b)
				other, err := b.Init(ctx, backend.Ref{Project: "demo", Name: "prod"}, nil)
				require.NoError(t, err)
				into := other.WithSecrets(b.DefaultSecrets(other.Ref())).(*stack)
				begin := func(s *stack) (backend.Lock, *state.Snapshot) {
					t.Helper()
					l, err := s.Lock(ctx, backend.LockOptions{})
					require.NoError(t, err)
					base, err := s.Load(ctx)
					require.NoError(t, err)
					return l, base
				}
				l, base := begin(from)
				r, err := from.Record(ctx, base)
				require.NoError(t, err)
				require.NoError(t, r.End(ctx, state.Change{Add: resource("one", "id-one")}))
				require.NoError(t, r.Close(ctx))
				require.NoError(t, l.Close())

				lockFrom, source := begin(from)
				lockInto, dest := begin(into)
				emptied, moved := *source, *dest
				emptied.Resources, moved.Resources = nil, source.Resources
				if calls < 2 {
					server.Inject(servicetest.Fault{Call: "POST import", After: calls, Status: 503})
				}
				err = from.SaveMove(ctx, &emptied, into, &moved)
				if calls < 2 {
					require.ErrorAs(t, err, new(*UnsentError))
				} else {
					require.NoError(t, err)
				}
				require.NoError(t, lockFrom.Close())
				require.NoError(t, lockInto.Close())
				server.Heal()
				again := map[string]backend.Stack{}
				for _, name := range []string{first, map[string]string{"dev": "prod", "prod": "dev"}[first]} {
					again[name], err = b.Open(ctx, backend.Ref{Project: "demo", Name: name})
					require.NoError(t, err)
					if name == "dev" {
						require.NotContains(t, string(server.State("alice/demo/dev")), "id-one")
						require.Contains(t, string(server.State("alice/demo/prod")), "id-one", "the destination has it first")
					}
				}
				require.Contains(t, string(server.State("alice/demo/prod")), "id-one")
			})
		}
	}
}

// If a sender was cut off before the answer came, its changes do not count as an update of another process.
func TestWhatTheServiceHasAlreadyIsNotOvertaken(t *testing.T) {
	for name, changed := range map[string]bool{"the same": false, "changed since": true} {
		t.Run(name, func(t *testing.T) {
			server, b := open(t, servicetest.Options{}, func(o *Options) { o.Patience = 500 * time.Millisecond })
			ctx := t.Context()
			s := made(t, b)
			l, err := s.Lock(ctx, backend.LockOptions{})
			require.NoError(t, err)
			base, err := s.Load(ctx)
			require.NoError(t, err)
			next := *base
			next.Resources = []*state.Resource{resource("one", "id-one")}
			server.Inject(servicetest.Fault{Call: "GET update", Status: 503})
			require.ErrorAs(t, s.Save(ctx, &next), new(*UnsentError))
			require.NoError(t, l.Close())
			server.Heal()
			require.Contains(t, string(server.State("alice/demo/dev")), "id-one")
			if changed {
				d, err := b.core.client.Export(ctx, s.subject.id(), 0)
				require.NoError(t, err)
				d.Deployment = []byte(strings.ReplaceAll(string(d.Deployment), "id-one", "id-two"))
				require.NoError(t, s.subject.upload(ctx, d))
			}

			l, err = s.Lock(ctx, backend.LockOptions{})
			if changed {
				require.ErrorAs(t, err, new(*OvertakenError))
				return
			}
			require.NoError(t, err)
			require.NoError(t, l.Close())
			require.Contains(t, string(server.State("alice/demo/dev")), "id-one")
		})
	}
}

// A recording by a caller that has not checked for required policies is refused if there are any.
func TestRequiredPoliciesAreNotPassedOver(t *testing.T) {
	packs := map[string][]servicetest.RequiredPolicy{"alice": {{
		Name: "guard", Version: 3, Config: map[string]json.RawMessage{"small": json.RawMessage(`{"largest":2}`)}, Archive: []byte("pack"),
	}}}
	server, b := open(t, servicetest.Options{Policies: packs}, nil)
	s := made(t, b)
	ctx := t.Context()
	l, err := s.Lock(ctx, backend.LockOptions{})
	require.NoError(t, err)
	base, err := s.Load(ctx)
	require.NoError(t, err)
	_, err = s.Record(ctx, base)
	require.ErrorAs(t, err, new(*PoliciesError))
	require.ErrorContains(t, err, "guard 3")

	run, err := s.Begin(ctx, backend.Operation{Kind: "update"})
	require.NoError(t, err)
	required := run.Policies()
	require.Len(t, required, 1)
	require.Equal(t, "guard", required[0].Name)
	require.JSONEq(t, `{"largest":2}`, string(required[0].Config["small"]))
	body, err := required[0].Fetch(ctx)
	require.NoError(t, err)
	text, err := io.ReadAll(body)
	require.NoError(t, err)
	require.NoError(t, body.Close())
	require.Equal(t, "pack", string(text))
	r, err := s.Record(ctx, base) // the caller has the policies
	require.NoError(t, err)
	require.NoError(t, r.Close(ctx))
	require.NoError(t, run.End(ctx, backend.Update{Result: backend.ResultSucceeded}))
	require.NoError(t, l.Close())
	require.NotEmpty(t, server.Calls())
}

// A secret that the service cannot encrypt is kept all the same, and gets a ciphertext of the service when the state is
// sent.
// A service that ignores which page is asked for sends the same one without end.
func TestAHistoryThatRepeatsItsPagesEnds(t *testing.T) {
	full := func(first int) string {
		var all []string
		for n := range historyPage {
			all = append(all, fmt.Sprintf(`{"kind": "update", "result": "succeeded", "version": %d}`, first-n))
		}
		return `{"updates": [` + strings.Join(all, ",") + `]}`
	}
	for name, c := range map[string]struct {
		page     func(n int) string
		requests int
		updates  int // -1 if the history has no end
	}{
		"always the first page": {func(int) string { return full(900) }, 2, -1},
		"two pages by turns":    {func(n int) string { return full(900 - 100*(n%2)) }, 3, -1},
		"three full pages": {func(n int) string {
			if n == 4 {
				return `{"updates": []}`
			}
			return full(900 - 100*n)
		}, 4, 300},
		"an operation came meanwhile": {func(n int) string {
			if n == 3 {
				return `{"updates": []}`
			}
			return full(900 - 99*n)
		}, 3, 200},
	} {
		t.Run(name, func(t *testing.T) {
			requests := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if requests++; requests > 10 {
					http.Error(w, `{"message": "enough"}`, http.StatusBadRequest)
					return
				}
				n, _ := strconv.Atoi(r.URL.Query().Get("page"))
				_, _ = io.WriteString(w, c.page(n)) // the caller may have gone
			}))
			defer server.Close()
			client, err := api.New(api.Options{URL: server.URL, Token: "x"})
			require.NoError(t, err)
			defer client.Close()
			updates, _, err := subject{&core{client: client}, backend.Ref{Owner: "acme", Project: "demo", Name: "dev"}}.History(t.Context())
			require.Equal(t, c.requests, requests)
			if c.updates < 0 {
				require.ErrorContains(t, err, "history of stack acme/demo/dev has no end")
				return
			}
			require.NoError(t, err)
			require.Len(t, updates, c.updates)
		})
	}
}

func TestNewSecretsAreKeptWhileTheServiceIsAway(t *testing.T) {
	for name, can := range map[string]servicetest.Options{"journal": {Journal: true}, "delta": {Delta: true, Batch: true}, "whole": {}} {
		t.Run(name, func(t *testing.T) {
			server, b := open(t, can, func(o *Options) { o.Patience = 500 * time.Millisecond })
			s := made(t, b)
			ctx := t.Context()
			l, err := s.Lock(ctx, backend.LockOptions{})
			require.NoError(t, err)
			run, err := s.Begin(ctx, backend.Operation{Kind: "update"})
			require.NoError(t, err)
			base, err := s.Load(ctx)
			require.NoError(t, err)
			r, err := s.Record(ctx, base)
			require.NoError(t, err)
			server.Inject(servicetest.Fault{Call: "POST encrypt", Status: 503})
			server.Inject(servicetest.Fault{Call: "POST batch-encrypt", Status: 503})
			begun, made := resource("one", ""), resource("one", "id-one")
			require.NoError(t, r.Begin(ctx, state.Pending{Type: state.Creating, Resource: begun}))
			require.NoError(t, r.End(ctx, state.Change{Begun: begun, Add: made}))
			h, _ := s.now()
			text, err := h.workingCopy.content(ctx)
			require.NoError(t, err)
			require.NotContains(t, string(text), "sw0rdfish")
			var unsent *UnsentError
			require.ErrorAs(t, r.Close(ctx), &unsent)
			require.NoError(t, run.End(ctx, backend.Update{Result: backend.ResultFailed}))
			require.NoError(t, l.Close())
			text, err = os.ReadFile(unsent.File)
			require.NoError(t, err)
			require.Contains(t, string(text), sheltered)
			require.NotContains(t, string(text), "sw0rdfish")
			_, err = b.DefaultSecrets(s.subject.Ref()).Encrypter().Encrypt(ctx, "a setting")
			require.True(t, api.IsAway(err), "%v", err)

			server.Heal()
			later, err := Open(ctx, b.core.options) // as the next command does
			require.NoError(t, err)
			defer func() { require.NoError(t, later.Close()) }()
			again, err := later.Open(ctx, s.subject.Ref())
			require.NoError(t, err)
			require.NoFileExists(t, unsent.File)
			snapshot, err := again.Load(ctx)
			require.NoError(t, err)
			require.Equal(t, described(t, &state.Snapshot{Resources: []*state.Resource{made}}), described(t, snapshot))
			exported, err := again.Export(ctx, false)
			require.NoError(t, err)
			require.NotContains(t, string(exported), sheltered)
			for _, c := range server.Calls() {
				require.NotContains(t, string(c.Body), sheltered)
				require.NotContains(t, string(c.Body), "sw0rdfish")
			}
		})
	}
}

// unneeded returns the position of a resource without references to it: the engine handles the targets of a resource's references before the
// resource.
func unneeded(live []*state.Resource, random *rand.Rand) int {
	for {
		at := random.IntN(len(live))
		if !slices.ContainsFunc(live, func(r *state.Resource) bool { return slices.Contains(r.Dependencies, live[at].URN) }) {
			return at
		}
	}
}

// A lease that cannot be renewed is lost: nothing more begins. The operations that had begun can still end, and the next command
// sends them.
func TestAnOperationThatIsAbandonedSendsNothingMore(t *testing.T) {
	_, b := open(t, servicetest.Options{}, nil)
	s := made(t, b)
	l, err := s.Lock(t.Context(), backend.LockOptions{Operation: "update"})
	require.NoError(t, err)
	h, _ := s.now()
	r := &run{stack: s, held: h}
	require.NoError(t, r.start(t.Context(), backend.Operation{Kind: "update"}))
	require.NoError(t, r.abandon(t.Context()))
	require.False(t, r.events.box.Put(json.RawMessage("{}")), "it takes no more events, and has waited for those that it had")
	status, _, err := s.subject.backend.client.Status(t.Context(), r.created.ID)
	require.NoError(t, err)
	require.Equal(t, api.Failed, status)
	require.NoError(t, l.Close())
}

func TestALostLeaseBeginsNothingMore(t *testing.T) {
	for name, can := range map[string]servicetest.Options{"journal": {Journal: true}, "whole": {}} {
		t.Run(name, func(t *testing.T) {
			var notes []string
			server, b := open(t, can, func(o *Options) { o.Renew = 10 * time.Millisecond })
			b.core.options.Note = nil
			s := made(t, b)
			ctx := t.Context()
			l, err := s.Lock(ctx, backend.LockOptions{})
			require.NoError(t, err)
			lost := await.NewPromise[error]()
			_, err = s.Begin(ctx, backend.Operation{Kind: "update", OnLost: func(err error) { lost.Resolve(err) }})
			require.NoError(t, err)
			base, err := s.Load(ctx)
			require.NoError(t, err)
			r, err := s.Record(ctx, base)
			require.NoError(t, err)
			begun := resource("one", "")
			require.NoError(t, r.Begin(ctx, state.Pending{Type: state.Creating, Resource: begun}))

			now, err := s.subject.describe(ctx)
			require.NoError(t, err)
			require.NoError(t, b.core.client.Cancel(ctx, api.UpdateID{Stack: s.subject.id(), ID: now.ActiveUpdate})) // from elsewhere
			why, err := lost.Wait(ctx)
			require.NoError(t, err)
			require.ErrorAs(t, why, new(*LeaseError))
			require.ErrorAs(t, l.Check(ctx), new(*LeaseError))
			require.ErrorAs(t, r.Begin(ctx, state.Pending{Type: state.Creating, Resource: resource("two", "")}), new(*LeaseError))
			require.NoError(t, r.End(ctx, state.Change{Begun: begun, Add: resource("one", "id-one")}))
			var unsent *UnsentError
			require.ErrorAs(t, r.Close(ctx), &unsent)
			require.FileExists(t, unsent.File)
			require.NoError(t, l.Close())

			again, err := b.Open(ctx, s.subject.Ref()) // sends it
			require.NoError(t, err)
			snapshot, err := again.Load(ctx)
			require.NoError(t, err)
			require.Len(t, described(t, snapshot), 1)
			require.NoFileExists(t, unsent.File)
			require.Empty(t, notes)
			for _, c := range server.Calls() {
				require.NotContains(t, string(c.Body), "sw0rdfish")
			}
		})
	}
}

func TestCertificatesAreVerifiedUnlessTheUserDoesNotWantThat(t *testing.T) {
	server := servicetest.NewTLS(servicetest.Options{Users: map[string]string{"pul-alice": "alice"}})
	defer server.Close()
	o := Options{Home: t.TempDir(), Patience: time.Second}
	o.URL = server.URL()
	_, err := Login(t.Context(), o, "pul-alice", false)
	require.ErrorContains(t, err, "certificate")
	require.Empty(t, server.Calls())
	who, err := Login(t.Context(), o, "pul-alice", true)
	require.NoError(t, err)
	require.Equal(t, "alice", who.User)
	b, err := Open(t.Context(), o) // the credentials say that it is not verified
	require.NoError(t, err)
	who, err = b.WhoAmI(t.Context())
	require.NoError(t, err)
	require.Equal(t, "alice", who.User)
}

// Edits turn any text into any other.
func TestEditsLeadToTheOtherText(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := func() []byte {
		var b strings.Builder
		b.WriteString("head")
		for range random.IntN(9) {
			fmt.Fprintf(&b, `{"urn":"%d"}`, random.IntN(6))
		}
		return []byte(b.String())
	}
	for range 500 {
		before, after := text(), text()
		var got []byte
		at := 0
		for _, e := range editsOf(before, after) {
			got = append(append(got, before[at:e.Span.Start.Offset]...), e.NewText...)
			at = e.Span.End.Offset
		}
		require.Equal(t, string(after), string(append(got, before[at:]...)))
	}
}

func TestSettingsAreTheSameInTheHistory(t *testing.T) {
	config := json.RawMessage(`{"p:a":"text","p:b":{"secure":"c2VjcmV0"},"p:c":{"list":[1,{"secure":"eA=="}]},"p:d":[true]}`)
	values, err := configOf(config)
	require.NoError(t, err)
	require.Equal(t, api.ConfigValue{String: `{"list":[1,{"secure":"eA=="}]}`, Secret: true, Object: true}, values["p:c"])
	u, err := updateOf(api.Info{Config: values})
	require.NoError(t, err)
	require.JSONEq(t, string(config), string(u.Config))
}
