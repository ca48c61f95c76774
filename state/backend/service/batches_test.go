package service

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/secrets"
	"github.com/sluice-iac/sluice/testing/servicetest"
	"github.com/sluice-iac/sluice/urn"
)

// counted returns how often each call about secrets was made, and resets the counts.
func counted(server *servicetest.Server) map[string]int {
	n := map[string]int{}
	for _, c := range server.Calls() {
		if what := c.Path[strings.LastIndex(c.Path, "/")+1:]; strings.HasSuffix(what, "crypt") {
			n[what]++
		}
	}
	return n
}

// safe is a resource with n different secrets.
func safe(name string, n int) *state.Resource {
	u, err := urn.Parse("urn:pulumi:dev::demo::pkg:index:Thing::" + name)
	if err != nil {
		panic(err)
	}
	all := map[string]property.Value{}
	for i := range n {
		all[fmt.Sprintf("secret%d", i)] = property.Secret(property.String(fmt.Sprintf("%s-%d", name, i)))
	}
	return &state.Resource{URN: u, Type: u.Type(), Custom: true, ID: name, Inputs: property.NewMap(all)}
}

func edited(t *testing.T, s *stack, all ...*state.Resource) {
	ctx := t.Context()
	l, err := s.Lock(ctx, backend.LockOptions{Operation: "edit"})
	require.NoError(t, err)
	before, err := s.Load(ctx)
	require.NoError(t, err)
	next := &state.Snapshot{}
	if before != nil {
		*next = *before
	}
	next.Resources = all
	require.NoError(t, s.Save(ctx, next))
	require.NoError(t, l.Close())
}

// An edit encrypts its new secrets in batches, and decrypts them again as a check. A reader decrypts its secrets in batches. A service with smaller
// batches, or none, gets calls that it accepts.
func TestSecretsOfAStateGoInBatches(t *testing.T) {
	const n = 3
	for name, c := range map[string]struct {
		can  servicetest.Options
		want map[string]int
	}{
		"batches":       {servicetest.Options{Batch: true}, map[string]int{"batch-encrypt": 2, "batch-decrypt": 2 + 2}},
		"smaller":       {servicetest.Options{Batch: true, MaxBatch: 300}, map[string]int{"batch-encrypt": 4, "batch-decrypt": 4 + 4}},
		"none":          {servicetest.Options{OneByOne: true}, map[string]int{"encrypt": 3 * 200, "batch-decrypt": 1, "decrypt": 2 * 3 * 200}},
		"none, by word": {servicetest.Options{OneByOne: true, Batch: true}, map[string]int{"batch-encrypt": 1, "encrypt": 3 * 200, "batch-decrypt": 1, "decrypt": 2 * 3 * 200}},
	} {
		t.Run(name, func(t *testing.T) {
			server, b := open(t, c.can, nil)
			var all []*state.Resource
			for i := range n {
				all = append(all, safe(fmt.Sprint(i), 200))
			}
			edited(t, made(t, b), all...)
			other, err := Open(t.Context(), b.core.options)
			require.NoError(t, err)
			s, err := other.Open(t.Context(), backend.Ref{Project: "demo", Name: "dev"})
			require.NoError(t, err)
			got, err := s.Load(t.Context())
			require.NoError(t, err)
			require.Equal(t, described(t, &state.Snapshot{Resources: all}), described(t, got))
			calls := counted(server)
			if name == "smaller" { // a batch of 500 is refused, and then two of 250 are taken
				require.LessOrEqual(t, calls["batch-encrypt"], c.want["batch-encrypt"])
				require.LessOrEqual(t, calls["batch-decrypt"], c.want["batch-decrypt"])
				require.Zero(t, calls["encrypt"]+calls["decrypt"])
			} else {
				require.Equal(t, c.want, calls)
			}
			require.NoError(t, other.Close())
		})
	}
}

// Secrets that are encrypted already are not encrypted again when one more comes.
func TestOneNewSecretIsOneCall(t *testing.T) {
	server, b := open(t, servicetest.Options{Batch: true}, nil)
	s := made(t, b)
	edited(t, s, safe("a", 50))
	counted(server)
	before, err := s.Load(t.Context())
	require.NoError(t, err)
	edited(t, s, before.Resources[0], safe("b", 1))
	calls := counted(server)
	require.Equal(t, 1, calls["encrypt"])
	require.Zero(t, calls["batch-encrypt"])
}

// Callers that need a secret encrypted while a call is under way share the next one. A caller that gives up takes nothing
// from the others.
func TestSecretsThatComeTogetherShareCalls(t *testing.T) {
	for name, can := range map[string]servicetest.Options{"batches": {Batch: true}, "one by one": {}} {
		t.Run(name, func(t *testing.T) {
			can.Delay = 20 * time.Millisecond
			server, b := open(t, can, nil)
			m := made(t, b).secrets
			const n = 200
			sealed := make([]string, n)
			var all conc.WaitGroup
			for i := range n {
				all.Go(func() {
					ctx, impatient := t.Context(), i%10 == 0
					if impatient {
						short, cancel := context.WithTimeout(ctx, time.Duration(i)*time.Millisecond/2)
						defer cancel()
						ctx = short
					}
					text, err := m.Encrypter().Encrypt(ctx, fmt.Sprint(i))
					if !impatient {
						assert.NoError(t, err)
					}
					sealed[i] = text
				})
			}
			all.Wait()
			calls := counted(server)
			if can.Batch {
				require.Less(t, calls["encrypt"]+calls["batch-encrypt"], n/4)
			}
			for i, text := range sealed {
				if i%10 == 0 && text == "" {
					continue
				}
				opened, err := m.Decrypter().Decrypt(t.Context(), text)
				require.NoError(t, err)
				require.Equal(t, fmt.Sprint(i), opened)
			}
		})
	}
}

// A run that goes on while the service is away delivers its own ciphertexts in batches.
func TestSecretsOfThisMachineAreDeliveredInBatches(t *testing.T) {
	server, b := open(t, servicetest.Options{Batch: true, Journal: true}, nil)
	s := made(t, b)
	ctx := t.Context()
	l, err := s.Lock(ctx, backend.LockOptions{Operation: "update"})
	require.NoError(t, err)
	_, err = s.Begin(ctx, backend.Operation{Kind: "update"})
	require.NoError(t, err)
	base, err := s.Load(ctx)
	require.NoError(t, err)
	r, err := s.Record(ctx, base)
	require.NoError(t, err)
	server.Inject(servicetest.Fault{Call: "POST crypt", Status: 503})
	add := safe("a", 40)
	require.NoError(t, r.Begin(ctx, state.Pending{Type: state.Creating, Resource: add}))
	require.NoError(t, r.End(ctx, state.Change{Begun: add, Add: add}))
	require.Error(t, r.Close(ctx))
	_ = l.Close() // the state stays on this machine
	server.Heal()
	counted(server)
	again, err := Open(ctx, b.core.options)
	require.NoError(t, err)
	opened, err := again.Open(ctx, s.subject.ref)
	require.NoError(t, err)
	calls := counted(server)
	require.Equal(t, map[string]int{"batch-encrypt": 1, "batch-decrypt": 1}, calls)
	got, err := opened.Load(ctx)
	require.NoError(t, err)
	require.Equal(t, described(t, &state.Snapshot{Resources: []*state.Resource{add}}), described(t, got))
	require.NotContains(t, string(server.State("alice/demo/dev")), sheltered)
	require.NoError(t, again.Close())
}

// The outputs of a stack are opened by one call, and the rest of its state is not opened.
func TestOutputsAreOpenedAlone(t *testing.T) {
	server, b := open(t, servicetest.Options{Batch: true}, nil)
	s := made(t, b)
	u, err := urn.Parse("urn:pulumi:dev::demo::pulumi:pulumi:Stack::demo-dev")
	require.NoError(t, err)
	root := &state.Resource{URN: u, Type: u.Type(), Outputs: safe("x", 5).Inputs}
	edited(t, s, root, safe("a", 20))
	other, err := Open(t.Context(), b.core.options)
	require.NoError(t, err)
	counted(server)
	outputs, err := other.StackOutputs(t.Context(), "dev")
	require.NoError(t, err)
	require.True(t, property.EqualMaps(root.Outputs, outputs))
	var sent int
	for _, c := range server.Calls() {
		if strings.HasSuffix(c.Path, "batch-decrypt") {
			sent += strings.Count(string(c.Body), `","`) + 1
		}
		require.NotContains(t, c.Path, "/decrypt")
	}
	require.Equal(t, 5, sent)
	require.NoError(t, other.Close())
}

// A manager that makes no calls is not prepared.
func TestOwnKeysAreNotAskedAhead(t *testing.T) {
	require.NoError(t, secrets.EncryptAhead(t.Context(), secrets.Plain{}.Encrypter(), []string{"a", "b"}))
	require.NoError(t, secrets.DecryptAhead(t.Context(), secrets.Plain{}.Decrypter(), []string{"a", "b"}))
}
