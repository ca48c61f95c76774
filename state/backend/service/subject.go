package service

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/backend/service/internal/api"
	"github.com/sluice-iac/sluice/state/secrets"
)

func idOf(ref backend.Ref) api.StackID {
	return api.StackID{Organization: ref.Organization(), Project: ref.Project, Name: ref.Name}
}

// subject is a stack at the service.
type subject struct {
	backend *core
	ref     backend.Ref // with its organization
}

func (s subject) id() api.StackID { return idOf(s.ref) }

// Ref implements [backend.Stack].
func (s subject) Ref() backend.Ref { return s.ref }

// Named implements [backend.Stack].
func (s subject) Named() (project, name string) { return s.ref.Project, s.ref.Name }

// File implements [backend.Stack].
func (s subject) File(context.Context) string { return s.backend.client.URL() + "/" + s.ref.String() }

// exists returns a [*backend.NotFoundError] if the service does not have the stack.
func (s subject) exists(ctx context.Context) error {
	_, err := s.describe(ctx)
	return err
}

func (s subject) describe(ctx context.Context) (api.Stack, error) {
	d, err := s.backend.client.Stack(ctx, s.id())
	if api.Is(err, http.StatusNotFound) {
		return d, &backend.NotFoundError{Name: s.ref.String()}
	}
	return d, err
}

// download returns the state at the service, as the content of a stack file. It refuses an empty state that contradicts other answers of the
// service.
func (s subject) download(ctx context.Context) ([]byte, error) {
	d, err := s.backend.client.Export(ctx, s.id(), 0)
	if api.Is(err, http.StatusNotFound) {
		return nil, &backend.NotFoundError{Name: s.ref.String()}
	}
	if err != nil {
		return nil, err
	}
	if isEmpty(d) {
		if err := s.mayBeEmpty(ctx, d); err != nil {
			return nil, err
		}
	}
	if d.Deployment, err = s.renamed(ctx, d.Deployment); err != nil {
		return nil, err
	}
	return contentOf(s.ref, d)
}

// renamed returns a state in which the key of this stack replaces the key of a stack that does not exist: after a rename, the state still has the old
// name in its key. The key stays with the stack.
func (s subject) renamed(ctx context.Context, deployment []byte) ([]byte, error) {
	var d struct {
		Secrets json.RawMessage `json:"secrets_providers"`
	}
	var p api.SecretsProvider
	var named keyState
	if json.Unmarshal(deployment, &d) != nil || json.Unmarshal(d.Secrets, &p) != nil || p.Type != secrets.TypeService || json.Unmarshal(p.State, &named) != nil {
		return deployment, nil // opening a secret returns the error
	}
	other := api.StackID{Organization: named.Owner, Project: named.Project, Name: named.Stack}
	if id := s.id(); other == id || named.Owner != id.Organization || named.URL != "" && named.URL != s.backend.client.URL() {
		return deployment, nil
	}
	if _, err := s.backend.client.Stack(ctx, other); !api.Is(err, http.StatusNotFound) {
		return deployment, err
	}
	own := s.backend.keysOf(s.id()).provider
	text, err := json.Marshal(api.SecretsProvider{Type: own.Type, State: own.State})
	return bytes.Replace(deployment, d.Secrets, text, 1), err
}

// Tags implements [backend.Stack].
func (s subject) Tags(ctx context.Context) (map[string]string, error) {
	d, err := s.describe(ctx)
	if d.Tags == nil {
		d.Tags = map[string]string{}
	}
	return d.Tags, err
}

// EditTags implements [backend.Stack]. The service replaces all tags: concurrent changes of others are lost.
func (s subject) EditTags(ctx context.Context, edit func(tags map[string]string)) error {
	tags, err := s.Tags(ctx)
	if err != nil {
		return err
	}
	edit(tags)
	return s.backend.client.SetTags(ctx, s.id(), tags)
}

// NoteDecryption implements [backend.Auditor].
func (s subject) NoteDecryption(ctx context.Context, setting, command string) error {
	return s.backend.client.Secrets(s.id()).NoteDecryption(ctx, setting, command)
}

// explain adds the current update of the stack to an error if it is why the service has refused.
func (s subject) explain(ctx context.Context, err error) error {
	if !api.Is(err, http.StatusConflict) {
		return err
	}
	e := &BusyError{Ref: s.ref}
	if now, asked := s.describe(ctx); asked == nil && now.Current != nil {
		e.Kind, e.Who = now.Current.Kind, now.Current.Author
	}
	return e
}

// poll is the time between two status calls.
const poll = 200 * time.Millisecond

// outgoing returns the state in the content of a working copy as it is sent.
func (s subject) outgoing(ctx context.Context, content []byte) (api.Deployment, error) {
	summary, err := state.Summarise(content, s.File(ctx))
	if err != nil {
		return api.Deployment{}, err
	}
	if content, err = s.backend.delivered(ctx, summary.SecretsProvider, content); err != nil {
		return api.Deployment{}, err
	}
	return deploymentOf(content)
}

// has reports whether the service has the state of a working copy: its sender may have been cut off before it recorded that.
func (s subject) has(ctx context.Context, content []byte) (bool, error) {
	d, err := s.outgoing(ctx, content)
	if err != nil {
		return false, err
	}
	if content, err = contentOf(s.ref, d); err != nil {
		return false, err
	}
	there, err := s.download(ctx)
	if err != nil {
		return false, err
	}
	return sameJSON(content, there)
}

// upload replaces the state at the service, and waits until that is done.
func (s subject) upload(ctx context.Context, d api.Deployment) error {
	u, err := s.backend.client.Import(ctx, s.id(), d)
	if err != nil {
		return err
	}
	for {
		status, more, err := s.backend.client.Status(ctx, u)
		switch {
		case err != nil:
			return err
		case status == api.Failed:
			return fmt.Errorf("the service has not taken the state of stack %s: the import has failed", s.ref)
		case more == "" && status == api.Succeeded:
			return s.saved(ctx, d, 0)
		case more == "":
			return fmt.Errorf("the service has not taken the state of stack %s: the import was %s", s.ref, status)
		}
		if err := await.For(ctx, poll); err != nil {
			return err
		}
	}
}

// historyPage is the number of operations in one call.
const historyPage = 100

// History implements [backend.Stack].
func (s subject) History(ctx context.Context) (updates []backend.Update, warnings []string, err error) {
	err = s.eachUpdate(ctx, func(u backend.Update) bool {
		updates = append(updates, u)
		return true
	})
	return updates, nil, err
}

// LastUpdate implements [backend.Stack].
func (s subject) LastUpdate(ctx context.Context, accept func(backend.Update) bool) (*backend.Update, error) {
	var found *backend.Update
	err := s.eachUpdate(ctx, func(u backend.Update) bool {
		if accept(u) {
			found = &u
		}
		return found == nil
	})
	return found, err
}

// eachUpdate calls f with the operations on the stack, the newest first, until it returns false.
func (s subject) eachUpdate(ctx context.Context, f func(backend.Update) bool) error {
	begun := map[string]bool{} // by the first operation of a page
	for page := 1; ; page++ {
		all, err := s.backend.client.History(ctx, s.id(), historyPage, page)
		if err != nil {
			return err
		}
		if len(all) > 0 {
			first, err := json.Marshal(all[0])
			if err != nil {
				return err
			}
			if begun[string(first)] {
				return fmt.Errorf("the service at %s: its history of stack %s has no end: page %d begins as an earlier one", s.backend.host(), s.ref, page)
			}
			begun[string(first)] = true
		}
		for _, i := range all {
			u, err := updateOf(i)
			if err != nil {
				return err
			}
			if !f(u) {
				return nil
			}
		}
		if len(all) < historyPage {
			return nil
		}
	}
}

// contradicts returns the error for an answer that contradicts another one. The formats have one argument each.
func (s subject) contradicts(before, answer string, x, y any) error {
	return &ContradictionError{s.ref, s.backend.host(), fmt.Sprintf(before, x), fmt.Sprintf(answer, y)}
}

// recentUpdates is the number of operations that are checked to find out whether a stack can be empty.
const recentUpdates = 20

// mayBeEmpty returns an error if the service returns an empty state, and other answers show that the stack has
// resources.
func (s subject) mayBeEmpty(ctx context.Context, d api.Deployment) error {
	now, err := s.describe(ctx)
	if err != nil {
		return err
	}
	if now.Version > 0 && d.IsNothing() {
		return s.contradicts("the stack has version %d", "that version has no state at all%s", now.Version, "")
	}
	if now.Version == 0 && now.ActiveUpdate == "" {
		return nil // nothing was ever done to it
	}
	recent, err := s.backend.client.History(ctx, s.id(), recentUpdates, 1)
	if err != nil {
		return err
	}
	for _, u := range recent {
		n := leftBy(u)
		switch {
		case u.Result == "succeeded" && n > 0:
			return s.contradicts("its last update that succeeded has left %d resources", "the state of version %d, which it has now, has none", n, now.Version)
		case u.Result == "succeeded", u.Kind != "update" && u.Kind != "refresh" && u.Kind != "preview":
			return nil // earlier resources may be gone
		}
	}
	return nil
}

// leftBy returns the minimum number of resources after an operation, as far as the service reports it.
func leftBy(u api.Info) int {
	n := u.ResourceCount
	if u.Kind != "update" && u.Kind != "resource-import" {
		return n
	}
	for _, op := range []string{"same", "create", "update", "replace", "import"} {
		n = max(n, u.ResourceChanges[op])
	}
	return n
}

// confirm returns an error unless the service has the state of a working copy, as the given version of the stack.
func (s subject) confirm(ctx context.Context, content []byte, version int) error {
	d, err := s.outgoing(ctx, content)
	if err != nil {
		return err
	}
	return s.saved(ctx, d, version)
}

// saved returns an error unless the service has saved a state that was sent to it. version is the version of the stack with that state, 0 for the
// latest one.
func (s subject) saved(ctx context.Context, d api.Deployment, version int) error {
	there, err := s.backend.client.Export(ctx, s.id(), version)
	if version > 0 && api.Is(err, http.StatusNotFound) {
		there, err = s.backend.client.Export(ctx, s.id(), 0) // a service without old versions
	}
	if err != nil {
		return err
	}
	given, err := digestsOf(d.Deployment)
	if err != nil {
		return err
	}
	kept, err := digestsOf(there.Deployment)
	if err != nil {
		return err
	}
	if !maps.Equal(given, kept) {
		return s.contradicts("it has taken a state with %d resources", "the state that it has now, with %d resources, is another one", given.count(), kept.count())
	}
	return nil
}

// RequiredPolicies implements [backend.Requirer].
func (s subject) RequiredPolicies(ctx context.Context) ([]backend.RequiredPolicy, error) {
	all, err := s.backend.client.StackPolicies(ctx, s.id())
	return s.backend.required(all), err
}

// KeptEvents implements [backend.EventKeeper].
func (s subject) KeptEvents(ctx context.Context, operation string, f backend.EventFilter, token string) (events []json.RawMessage, next string, err error) {
	events, next, err = s.backend.client.Events(ctx, api.UpdateID{Stack: s.id(), ID: operation}, api.EventFilter(f), token)
	if api.Is(err, http.StatusNotFound) {
		err = &OperationError{s.ref, operation, err}
	}
	return events, next, err
}

// updateOf converts an update of the service's history.
func updateOf(i api.Info) (backend.Update, error) {
	u := backend.Update{
		Kind: i.Kind, StartTime: i.StartTime, Message: i.Message, Environment: i.Environment, Version: i.Version, Result: i.Result,
		EndTime: i.EndTime, ResourceChanges: i.ResourceChanges,
	}
	values := make(map[string]any, len(i.Config))
	for key, v := range i.Config {
		switch {
		case v.Object:
			values[key] = json.RawMessage(v.String)
		case v.Secret:
			values[key] = map[string]string{"secure": v.String}
		default:
			values[key] = v.String
		}
	}
	var err error
	u.Config, err = json.Marshal(values)
	return u, err
}

// configOf converts settings from the form of [backend.Update] to that of the service.
func configOf(config json.RawMessage) (map[string]api.ConfigValue, error) {
	out := map[string]api.ConfigValue{}
	if len(config) == 0 {
		return out, nil
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(config, &values); err != nil {
		return nil, err
	}
	for key, raw := range values {
		var text string
		var secret map[string]string
		switch {
		case json.Unmarshal(raw, &text) == nil:
			out[key] = api.ConfigValue{String: text}
		case json.Unmarshal(raw, &secret) == nil && len(secret) == 1 && secret["secure"] != "":
			out[key] = api.ConfigValue{String: secret["secure"], Secret: true}
		case raw[0] == '{' || raw[0] == '[':
			out[key] = api.ConfigValue{String: string(raw), Object: true, Secret: strings.Contains(string(raw), `{"secure":`)}
		default: // a number, true or false
			out[key] = api.ConfigValue{String: string(raw)}
		}
	}
	return out, nil
}
