package service

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/backend/service/internal/api"
)

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
	for page := 1; ; page++ {
		all, err := s.backend.client.History(ctx, s.id(), historyPage, page)
		if err != nil {
			return err
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
