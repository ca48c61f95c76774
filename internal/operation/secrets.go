package operation

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/property/redact"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/standard"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// masks keeps secrets out of the texts of an operation. It collects the secrets in everything from outside: configuration, state, requests of the
// program and responses of providers. It masks every text that leaves: events, the errors of the outcome, the log.
type masks struct {
	known *redact.Set
	// shown is known, or nil if secrets are shown.
	shown *redact.Set
	// settings are the secrets of the configuration, nil if there are none or they are shown. They are also masked in the values of events, because
	// a provider that repeats a setting may have lost its mark.
	settings *redact.Set
}

func newMasks(known *redact.Set, s *stages.Settings) masks {
	m := masks{known: known}
	if !s.ShowSecrets {
		m.shown = known
	}
	for _, key := range s.Info.ConfigSecretKeys {
		m.known.Add(s.Info.Config[key])
		if s.ShowSecrets {
			continue
		}
		if m.settings == nil {
			m.settings = &redact.Set{}
		}
		m.settings.Add(s.Info.Config[key])
	}
	return m
}

// learnSnapshot adds the secrets of a state.
func (m masks) learnSnapshot(s *state.Snapshot) {
	for _, r := range s.Resources {
		m.learnResource(r)
	}
	for _, p := range s.Pending {
		m.learnResource(p.Resource)
	}
}

func (m masks) learnResource(r *state.Resource) {
	if r != nil {
		m.known.Learn(r.Inputs)
		m.known.Learn(r.Outputs)
	}
}

// event adds the secrets of an event and returns the event with masked texts. Steps are the events in which outputs have the marks that the engine
// adds (steps.md 3.14).
func (m masks) event(event stages.Event) stages.Event {
	switch e := event.(type) {
	case stages.StepStarted:
		m.learnResource(e.Step.New)
		if m.mayChange(e.Step) { // otherwise the event need not be copied
			e.Step = m.step(e.Step)
			return e
		}
	case stages.StepDone:
		m.learnResource(e.Step.New)
		if m.mayChange(e.Step) {
			e.Step = m.step(e.Step)
			return e
		}
	case stages.StepFailed:
		m.learnResource(e.Step.New)
		e.Step = m.step(e.Step)
		e.Err = m.shown.Error(e.Err)
		return e
	case stages.Diagnostic:
		e.Message = m.text(e.Message)
		if e.Debugger != nil {
			e.Debugger = m.config(e.Debugger)
		}
		return e
	case stages.Stdout:
		e.Message = m.text(e.Message)
		return e
	case stages.PolicyViolation:
		e.Message = m.text(e.Message)
		return e
	case stages.Summary:
		e.Outputs, _ = m.values(e.Outputs)
		e.OldOutputs, _ = m.values(e.OldOutputs)
		return e
	}
	return event
}

// text returns a masked message. It cuts a very long one.
func (m masks) text(message string) string {
	return m.shown.Mask(redact.Cut(message, redact.MaxMessage))
}

// config returns the masked configuration of a debugger.
func (m masks) config(config map[string]any) map[string]any {
	shown := make(map[string]any, len(config))
	for key, value := range config {
		shown[key] = m.value(value)
	}
	return shown
}

func (m masks) value(v any) any {
	switch v := v.(type) {
	case string:
		return m.text(v)
	case map[string]any:
		return m.config(v)
	case []any:
		shown := make([]any, len(v))
		for i, e := range v {
			shown[i] = m.value(e)
		}
		return shown
	}
	return v
}

// step returns a masked step. In its states, the provider's errors are texts, and values may repeat secrets of the configuration.
func (m masks) step(s stages.StepInfo) stages.StepInfo {
	s.Old, s.New = m.resource(s.Old), m.resource(s.New)
	return s
}

// mayChange reports whether [masks.step] may change a step, which is rare.
func (m masks) mayChange(s stages.StepInfo) bool {
	return m.settings != nil || s.Old != nil && len(s.Old.InitErrors) > 0 || s.New != nil && len(s.New.InitErrors) > 0
}

func (m masks) resource(r *state.Resource) *state.Resource {
	if r == nil {
		return nil
	}
	inputs, inInputs := m.values(r.Inputs)
	outputs, inOutputs := m.values(r.Outputs)
	if len(r.InitErrors) == 0 && !inInputs && !inOutputs {
		return r
	}
	masked := *r
	masked.Inputs, masked.Outputs, masked.InitErrors = inputs, outputs, m.texts(m.shown, r.InitErrors)
	return &masked
}

// values masks the secrets of the configuration in properties, and reports whether there were any.
func (m masks) values(properties property.Map) (masked property.Map, found bool) {
	if m.settings == nil {
		return properties, false
	}
	out := property.Of(properties).ReplaceTexts(func(text string) (property.Value, bool) {
		masked := m.settings.Mask(text)
		found = found || masked != text
		return property.String(masked), masked != text
	})
	return out.AsMap(), found
}

func (m masks) texts(set *redact.Set, list []string) []string {
	list = slices.Clone(list)
	for i, text := range list {
		list[i] = set.Mask(text)
	}
	return list
}

// results masks the texts of the results. The run is over, so all its secrets are known.
func (m masks) results(r *standard.Results) {
	for i, f := range r.Failures {
		r.Failures[i].Err = m.shown.Error(f.Err)
	}
	steps := r.Steps
	r.Steps = func() []stages.StepInfo {
		shown := steps()
		for i, s := range shown {
			m.learnResource(s.New)
			shown[i] = m.step(s)
		}
		return shown
	}
	for i, found := range r.Resolved {
		r.Resolved[i].Why = m.shown.Mask(found.Why)
	}
}

func (m masks) log(l *slog.Logger) *slog.Logger { return slog.New(m.shown.Handler(l.Handler())) }

// host returns a host that collects the secrets in responses of its providers, and then logs the calls.
func (m masks) host(h providers.Host, l *slog.Logger) providers.Host {
	return providers.HostFunc(func(ctx context.Context, s providers.Spec) (providers.Provider, error) {
		p, err := h.Load(ctx, s)
		if err != nil || p == nil { // the registry returns the error
			return nil, err
		}
		p = providers.Intercept(p, m.learn)
		if l.Enabled(ctx, slog.LevelDebug) {
			p = providers.Intercept(p, logging(l.With("package", p.Package())))
		}
		return p, nil
	})
}

// learn makes a call and collects the secrets in the response.
func (m masks) learn(ctx context.Context, c *providers.Call) error {
	err := c.Do(ctx)
	switch res := c.Response.(type) {
	case *providers.CheckResponse:
		m.known.Learn(res.Inputs)
	case *providers.CreateResponse:
		m.known.Learn(res.Properties)
		return m.failure(err)
	case *providers.ReadResponse:
		m.known.Learn(res.Inputs)
		m.known.Learn(res.Properties)
		return m.failure(err)
	case *providers.UpdateResponse:
		m.known.Learn(res.Properties)
		return m.failure(err)
	case *providers.InvokeResponse:
		m.known.Learn(res.Return)
	case *providers.CallResponse:
		m.known.Learn(res.Return)
	case *providers.ConstructResponse:
		m.known.Learn(res.Outputs)
	}
	return err
}

// failure adds the secrets in the error of an unhealthy resource. It masks the reasons, because states record them unchanged.
func (m masks) failure(err error) error {
	if err == nil {
		return nil
	}
	var unhealthy *providers.InitError
	if !errors.As(err, &unhealthy) {
		return err
	}
	m.known.Learn(unhealthy.Inputs)
	m.known.Learn(unhealthy.Properties)
	if err != error(unhealthy) {
		return err // keep the wrapping errors
	}
	masked := *unhealthy
	masked.Reasons = m.texts(m.known, unhealthy.Reasons)
	return &masked
}

// monitor returns a monitor that collects the secrets in requests and replies.
func (m masks) monitor(inner stages.Monitor) stages.Monitor { return &heardMonitor{inner, m} }

type heardMonitor struct {
	stages.Monitor
	masks masks
}

func (h *heardMonitor) Register(ctx context.Context, req *stages.RegisterRequest) (*stages.RegisterReply, error) {
	if req != nil { // the inner monitor refuses it
		h.masks.known.Learn(req.Inputs)
		h.masks.known.LearnValue(req.ReplacementTrigger)
	}
	return h.Monitor.Register(ctx, req)
}

func (h *heardMonitor) Read(ctx context.Context, req *stages.ReadRequest) (*stages.RegisterReply, error) {
	if req != nil {
		h.masks.known.Learn(req.Properties)
	}
	return h.Monitor.Read(ctx, req)
}

func (h *heardMonitor) RegisterOutputs(ctx context.Context, u urn.URN, outputs property.Map) error {
	h.masks.known.Learn(outputs)
	return h.Monitor.RegisterOutputs(ctx, u, outputs)
}

func (h *heardMonitor) Invoke(ctx context.Context, req *stages.InvokeRequest) (*stages.InvokeReply, error) {
	if req != nil {
		h.masks.known.Learn(req.Args)
	}
	return h.Monitor.Invoke(ctx, req)
}

func (h *heardMonitor) Call(ctx context.Context, req *stages.CallRequest) (*stages.CallReply, error) {
	if req != nil {
		h.masks.known.Learn(req.Args)
	}
	return h.Monitor.Call(ctx, req)
}
