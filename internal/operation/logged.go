package operation

import (
	"context"
	"log/slog"
	"time"

	"github.com/sluice-iac/sluice/providers"
)

// LevelValues is the level from which the log has the property values that are sent to providers, with secrets masked. Responses are not
// logged, because providers do not always mark the secrets in them.
const LevelValues = slog.LevelDebug - 4

// logging returns an interceptor that logs calls: the method, the resource, the duration, and a summary of the response. l is the log with the
// package of the provider.
func logging(l *slog.Logger) providers.Interceptor {
	return func(ctx context.Context, c *providers.Call) error {
		began := time.Now()
		err := c.Do(ctx)
		record := []any{"method", c.Method, "took", time.Since(began).Round(time.Microsecond)}
		if c.URN != "" {
			record = append(record, "urn", c.URN)
		}
		record = append(record, summary(c)...)
		if err != nil {
			record = append(record, "error", err)
		}
		if l.Enabled(ctx, LevelValues) {
			record = append(record, sent(c.Request)...)
		}
		l.DebugContext(ctx, "provider call", record...)
		return err
	}
}

// summary returns what a call was about and what it came to, without property values, as pairs of names and values.
func summary(c *providers.Call) []any {
	switch req := c.Request.(type) {
	case *providers.CheckRequest:
		return []any{"failures", len(c.Response.(*providers.CheckResponse).Failures)}
	case *providers.DiffRequest:
		res := c.Response.(*providers.DiffResponse)
		return []any{"id", req.ID, "changes", res.Changes, "replace", res.ReplaceKeys}
	case *providers.CreateRequest:
		return []any{"id", c.Response.(*providers.CreateResponse).ID}
	case *providers.ReadRequest:
		return []any{"id", req.ID, "found", c.Response.(*providers.ReadResponse).ID}
	case *providers.UpdateRequest:
		return []any{"id", req.ID}
	case *providers.DeleteRequest:
		return []any{"id", req.ID}
	case *providers.ListRequest:
		return []any{"type", req.Type}
	case *providers.InvokeRequest:
		return []any{"token", req.Token}
	case *providers.CallRequest:
		return []any{"token", req.Token}
	case *providers.ConstructRequest:
		return []any{"type", req.Type, "name", req.Name, "urn", c.Response.(*providers.ConstructResponse).URN}
	}
	return nil
}

// sent returns the properties of a request, as pairs of names and values.
func sent(request any) []any {
	switch req := request.(type) {
	case *providers.CheckRequest:
		return []any{"olds", req.Olds, "news", req.News}
	case *providers.DiffRequest:
		return []any{"oldInputs", req.OldInputs, "oldOutputs", req.OldOutputs, "newInputs", req.NewInputs}
	case *providers.ConfigureRequest:
		return []any{"inputs", req.Inputs}
	case *providers.CreateRequest:
		return []any{"properties", req.Properties}
	case *providers.ReadRequest:
		return []any{"inputs", req.Inputs, "state", req.State}
	case *providers.UpdateRequest:
		return []any{"oldInputs", req.OldInputs, "oldOutputs", req.OldOutputs, "newInputs", req.NewInputs}
	case *providers.DeleteRequest:
		return []any{"inputs", req.Inputs, "outputs", req.Outputs}
	case *providers.InvokeRequest:
		return []any{"args", req.Args}
	case *providers.CallRequest:
		return []any{"args", req.Args}
	case *providers.ConstructRequest:
		return []any{"inputs", req.Inputs}
	}
	return nil
}
