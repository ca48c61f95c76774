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

// logged is a provider whose calls are logged: the method, the resource, the duration, and a summary of the response.
type logged struct {
	providers.Provider
	log *slog.Logger
}

// withLog returns p, or a provider that logs the calls of p if the log is enabled.
func withLog(ctx context.Context, p providers.Provider, l *slog.Logger) providers.Provider {
	if !l.Enabled(ctx, slog.LevelDebug) {
		return p
	}
	return &logged{p, l.With("package", p.Package())}
}

// sent returns pairs of a name and the properties that were sent to a provider under it, if they are logged.
func (p *logged) sent(ctx context.Context, pairs ...any) []any {
	if !p.log.Enabled(ctx, LevelValues) {
		return nil
	}
	return pairs
}

// called logs one call that has ended.
func (p *logged) called(ctx context.Context, method string, began time.Time, err error, sent []any, about ...any) {
	about = append([]any{"method", method, "took", time.Since(began).Round(time.Microsecond)}, about...)
	if err != nil {
		about = append(about, "error", err)
	}
	p.log.DebugContext(ctx, "provider call", append(about, sent...)...)
}

func (p *logged) CheckConfig(ctx context.Context, req providers.CheckRequest) (providers.CheckResponse, error) {
	began := time.Now()
	answer, err := p.Provider.CheckConfig(ctx, req)
	p.called(ctx, "CheckConfig", began, err, p.sent(ctx, "olds", req.Olds, "news", req.News), "urn", req.URN, "failures", len(answer.Failures))
	return answer, err
}

func (p *logged) DiffConfig(ctx context.Context, req providers.DiffRequest) (providers.DiffResponse, error) {
	began := time.Now()
	answer, err := p.Provider.DiffConfig(ctx, req)
	p.called(ctx, "DiffConfig", began, err, p.sent(ctx, "oldInputs", req.OldInputs, "oldOutputs", req.OldOutputs, "newInputs", req.NewInputs), "urn", req.URN, "changes", answer.Changes, "replace", answer.ReplaceKeys)
	return answer, err
}

func (p *logged) Configure(ctx context.Context, req providers.ConfigureRequest) error {
	began := time.Now()
	err := p.Provider.Configure(ctx, req)
	p.called(ctx, "Configure", began, err, p.sent(ctx, "inputs", req.Inputs), "urn", req.URN)
	return err
}

func (p *logged) Check(ctx context.Context, req providers.CheckRequest) (providers.CheckResponse, error) {
	began := time.Now()
	answer, err := p.Provider.Check(ctx, req)
	p.called(ctx, "Check", began, err, p.sent(ctx, "olds", req.Olds, "news", req.News), "urn", req.URN, "failures", len(answer.Failures))
	return answer, err
}

func (p *logged) Diff(ctx context.Context, req providers.DiffRequest) (providers.DiffResponse, error) {
	began := time.Now()
	answer, err := p.Provider.Diff(ctx, req)
	p.called(ctx, "Diff", began, err, p.sent(ctx, "oldInputs", req.OldInputs, "oldOutputs", req.OldOutputs, "newInputs", req.NewInputs), "urn", req.URN, "id", req.ID, "changes", answer.Changes, "replace", answer.ReplaceKeys)
	return answer, err
}

func (p *logged) Create(ctx context.Context, req providers.CreateRequest) (providers.CreateResponse, error) {
	began := time.Now()
	answer, err := p.Provider.Create(ctx, req)
	p.called(ctx, "Create", began, err, p.sent(ctx, "properties", req.Properties), "urn", req.URN, "id", answer.ID)
	return answer, err
}

func (p *logged) Read(ctx context.Context, req providers.ReadRequest) (providers.ReadResponse, error) {
	began := time.Now()
	answer, err := p.Provider.Read(ctx, req)
	p.called(ctx, "Read", began, err, p.sent(ctx, "inputs", req.Inputs, "state", req.State), "urn", req.URN, "id", req.ID, "found", answer.ID)
	return answer, err
}

func (p *logged) Update(ctx context.Context, req providers.UpdateRequest) (providers.UpdateResponse, error) {
	began := time.Now()
	answer, err := p.Provider.Update(ctx, req)
	p.called(ctx, "Update", began, err, p.sent(ctx, "oldInputs", req.OldInputs, "oldOutputs", req.OldOutputs, "newInputs", req.NewInputs), "urn", req.URN, "id", req.ID)
	return answer, err
}

func (p *logged) Delete(ctx context.Context, req providers.DeleteRequest) error {
	began := time.Now()
	err := p.Provider.Delete(ctx, req)
	p.called(ctx, "Delete", began, err, p.sent(ctx, "inputs", req.Inputs, "outputs", req.Outputs), "urn", req.URN, "id", req.ID)
	return err
}

func (p *logged) Invoke(ctx context.Context, req providers.InvokeRequest) (providers.InvokeResponse, error) {
	began := time.Now()
	answer, err := p.Provider.Invoke(ctx, req)
	p.called(ctx, "Invoke", began, err, p.sent(ctx, "args", req.Args), "token", req.Token)
	return answer, err
}

func (p *logged) Call(ctx context.Context, req providers.CallRequest) (providers.CallResponse, error) {
	began := time.Now()
	answer, err := p.Provider.Call(ctx, req)
	p.called(ctx, "Call", began, err, p.sent(ctx, "args", req.Args), "token", req.Token)
	return answer, err
}

func (p *logged) Construct(ctx context.Context, req providers.ConstructRequest) (providers.ConstructResponse, error) {
	began := time.Now()
	answer, err := p.Provider.Construct(ctx, req)
	p.called(ctx, "Construct", began, err, p.sent(ctx, "inputs", req.Inputs), "type", req.Type, "name", req.Name, "urn", answer.URN)
	return answer, err
}

func (p *logged) Parameterize(ctx context.Context, req providers.ParameterizeRequest) (providers.ParameterizeResponse, error) {
	began := time.Now()
	answer, err := p.Provider.Parameterize(ctx, req)
	p.called(ctx, "Parameterize", began, err, nil)
	return answer, err
}

func (p *logged) Cancel(ctx context.Context) error {
	began := time.Now()
	err := p.Provider.Cancel(ctx)
	p.called(ctx, "Cancel", began, err, nil)
	return err
}
