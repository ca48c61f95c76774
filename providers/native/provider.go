package native

import (
	"context"
	"fmt"
	"time"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/urn"
)

// New returns a provider of the package.
func New(p Package, o Options) providers.Provider {
	life, end := context.WithCancel(context.Background())
	return &provider{
		Unimplemented: providers.Unimplemented{PackageName: p.Name}, description: p, options: o.Complete(), life: life, end: end,
	}
}

type provider struct {
	providers.Unimplemented
	description Package
	options     Options
	// life ends when the provider is cancelled or closed.
	life context.Context
	end  context.CancelFunc
}

func (p *provider) resource(t urn.Type) (*Resource, error) {
	for i := range p.description.Resources {
		if p.description.Resources[i].Type == t {
			return &p.description.Resources[i], nil
		}
	}
	return nil, fmt.Errorf("the built-in provider %q has no resource type %q; install the plugin of that package if a newer "+
		"one has it", p.description.Name, t)
}

// during returns a context for one call: it ends with the provider and after timeout seconds, if that is not 0.
func (p *provider) during(ctx context.Context, timeout float64) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(p.life, func() { cancel(fmt.Errorf("the provider was cancelled")) })
	done := func() { stop(); cancel(nil) }
	if timeout <= 0 {
		return ctx, done
	}
	limit := time.Duration(timeout * float64(time.Second))
	ctx, release := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it took longer than %v", limit))
	return ctx, func() { release(); done() }
}

func (p *provider) call(fields []Field, u urn.URN, name, id string, inputs, state property.Map) Call {
	return Call{
		URN: u, Name: name, ID: id, Inputs: ValuesOf(inputs), State: ValuesOf(state), Secretive: secretive(fields, inputs),
		Log: func(m Message) { m.URN = u; p.options.Log(m) },
	}
}

func (p *provider) enter(ctx context.Context, m providers.Method, c Call) error {
	if p.description.Enter == nil {
		return nil
	}
	return p.description.Enter(ctx, m, c)
}

// Cancel ends the calls in flight.
func (p *provider) Cancel(context.Context) error {
	p.end()
	return nil
}

// Close ends the provider.
func (p *provider) Close() error {
	p.end()
	if p.description.Close != nil {
		return p.description.Close()
	}
	return nil
}

// CheckConfig checks the configuration. It converts strings where a stack's configuration can hold nothing but strings.
func (p *provider) CheckConfig(_ context.Context, req providers.CheckRequest) (providers.CheckResponse, error) {
	config := req.News.Without(providers.VersionKey, providers.InternalKey)
	failures := &complaints{}
	conformFields(decodeConfig(config, p.description.Config), p.description.Config, "", failures.add)
	return providers.CheckResponse{Inputs: req.News, Failures: failures.list}, nil
}

// Configure receives the configuration.
func (p *provider) Configure(ctx context.Context, req providers.ConfigureRequest) error {
	if p.description.Configure == nil {
		return nil
	}
	config := req.Inputs.Without(providers.VersionKey, providers.InternalKey)
	config = conformFields(decodeConfig(config, p.description.Config), p.description.Config, "", quietly)
	return p.description.Configure(ctx, ValuesOf(config))
}

// decodeConfig decodes the objects and lists that stack configurations hold as JSON text (protocol.md 3.3).
func decodeConfig(config property.Map, fields []Field) property.Map {
	for _, f := range fields {
		v, secret := config.At(f.Name).Unwrap()
		structured := f.Type.Kind == KindRecord || f.Type.Kind == KindMap || f.Type.Kind == KindArray
		if !structured || !v.IsString() {
			continue
		}
		decoded, err := property.DecodeStateValue(context.Background(), []byte(v.AsString()), property.StateDecodeOptions{})
		if err != nil {
			continue // conform complains about the type
		}
		if secret {
			decoded = property.MakeSecret(decoded)
		}
		config = config.With(f.Name, decoded)
	}
	return config
}

type complaints struct{ list []providers.CheckFailure }

func (c *complaints) add(path, reason string) {
	c.list = append(c.list, providers.CheckFailure{Property: path, Reason: fmt.Sprintf("property %q %s", path, reason)})
}
