package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/property/redact"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source/internal/terminal"
	"github.com/sluice-iac/sluice/stages"
)

// cancelPatience is the time that a pack has to acknowledge Cancel before it is interrupted.
const cancelPatience = time.Second

// Analyzer is a running policy pack. It satisfies stages.Analyzer; its methods may be called from many goroutines.
type Analyzer struct {
	served    plugin.Server
	directory string // absolute
	given     string // the directory as the caller wrote it
	conn      *grpc.ClientConn
	rpc       pulumirpc.AnalyzerClient
	info      stages.AnalyzerInfo // complete when Load returns

	closing sync.Once
}

var _ stages.Analyzer = (*Analyzer)(nil)

// Info describes the pack as it is configured.
func (a *Analyzer) Info() stages.AnalyzerInfo { return a.info }

// name returns the name of the pack for messages, with its version if it has one. Until the pack has returned its name, it is that of the
// folder.
func (a *Analyzer) name() string {
	switch {
	case a.info.Name == "":
		return a.directory
	case a.info.Version == "":
		return a.info.Name
	}
	return a.info.Name + " " + a.info.Version
}

func (a *Analyzer) connect(ctx context.Context) error {
	port, err := plugin.PortInTime(ctx, a.served)
	if err != nil {
		return errors.New(terminal.Plain(err.Error()))
	}
	if a.conn, err = plugin.Dial(ctx, port); err != nil {
		var exit *plugin.ExitError
		if context.Cause(ctx) == nil && errors.As(plugin.ExitedSoon(a.served), &exit) {
			return errors.New(terminal.Plain(exit.Error()))
		}
		return fmt.Errorf("%w%s", err, a.lastOutput())
	}
	a.rpc = pulumirpc.NewAnalyzerClient(a.conn)
	return nil
}

func (a *Analyzer) handshake(ctx context.Context, engine string) error {
	_, err := a.rpc.Handshake(ctx, &pulumirpc.AnalyzerHandshakeRequest{
		EngineAddress: engine, RootDirectory: &a.directory, ProgramDirectory: &a.directory,
	})
	return a.failed(ctx, "greet", optional(err))
}

func (a *Analyzer) configureStack(ctx context.Context, info stages.RunInfo) error {
	_, err := a.rpc.ConfigureStack(ctx, &pulumirpc.AnalyzerStackConfigureRequest{
		Stack: info.Stack, Project: info.Project, Organization: info.Organization, DryRun: info.DryRun,
		Config: info.Config, ConfigSecretKeys: info.ConfigSecretKeys,
	})
	return a.failed(ctx, "tell the stack to", optional(err))
}

// description is the pack's own description.
type description struct {
	policies     []described
	configurable bool
	initial      map[string]setting
}

func (d description) has(policy string) bool {
	return slices.ContainsFunc(d.policies, func(p described) bool { return p.Name == policy })
}

func (a *Analyzer) describe(ctx context.Context) (description, error) {
	answer, err := a.rpc.GetAnalyzerInfo(ctx, &emptypb.Empty{})
	if err != nil {
		return description{}, fmt.Errorf("failed to get analyzer info: %w", a.failed(ctx, "ask", err))
	}
	d := description{configurable: answer.GetSupportsConfig(), initial: map[string]setting{}}
	a.info = stages.AnalyzerInfo{Name: cmp.Or(answer.GetName(), filepath.Base(a.directory)), Version: answer.GetVersion(), Directory: a.given}
	for _, p := range answer.GetPolicies() {
		x := described{PolicyInfo: stages.PolicyInfo{
			Name: p.GetName(), Level: levelOf(p.GetEnforcementLevel()), Type: stages.PolicyType(p.GetPolicyType()), Severity: severityOf(p.GetSeverity()),
		}}
		if s := p.GetConfigSchema(); s != nil {
			x.properties, x.required = s.GetProperties().AsMap(), s.GetRequired()
		}
		d.policies = append(d.policies, x)
	}
	slices.SortStableFunc(d.policies, func(x, y described) int { return strings.Compare(x.Name, y.Name) })
	for _, p := range d.policies {
		a.info.Policies = append(a.info.Policies, p.PolicyInfo)
	}
	for name, c := range answer.GetInitialConfig() {
		level := levelOf(c.GetEnforcementLevel())
		d.initial[name] = setting{Level: &level, Properties: c.GetProperties().AsMap()}
	}
	return d, nil
}

func (a *Analyzer) configure(ctx context.Context, config map[string]setting) error {
	req := &pulumirpc.ConfigureAnalyzerRequest{PolicyConfig: map[string]*pulumirpc.PolicyConfig{}}
	for name, s := range config {
		properties, err := structpb.NewStruct(s.Properties)
		if err != nil {
			return fmt.Errorf("the configuration of policy %s of policy pack %s: %w", name, a.name(), err)
		}
		req.PolicyConfig[name] = &pulumirpc.PolicyConfig{EnforcementLevel: pulumirpc.EnforcementLevel(*s.Level), Properties: properties}
	}
	if _, err := a.rpc.Configure(ctx, req); err != nil {
		return a.failed(ctx, "configure", err)
	}
	for i, p := range a.info.Policies {
		a.info.Policies[i].Level = *config[p.Name].Level
	}
	return nil
}

// Remediate returns the inputs as the pack rewrites them. A pack without this method changes nothing.
func (a *Analyzer) Remediate(ctx context.Context, r stages.Analysis) (stages.Remedies, error) {
	req, err := analyzeRequest(r)
	if err != nil {
		return stages.Remedies{}, err
	}
	answer, err := a.rpc.Remediate(ctx, req)
	if optional(err) != nil {
		return stages.Remedies{}, a.failed(ctx, "ask", err)
	}
	out := stages.Remedies{NotApplicable: notApplicable(answer.GetNotApplicable())}
	before := r.Properties
	var secrets redact.Set
	secrets.Learn(before)
	for _, rem := range answer.GetRemediations() {
		x := stages.Remediation{Policy: rem.GetPolicyName(), Diagnostic: terminal.Plain(rem.GetDiagnostic())}
		if rem.GetProperties() != nil && x.Diagnostic == "" {
			m, err := property.UnmarshalStruct(rem.GetProperties(), property.WireOptions{
				Unknowns: property.KeepUnknowns, KeepSecrets: true, KeepReferences: true,
			})
			if err != nil {
				return stages.Remedies{}, fmt.Errorf("policy %s returned properties that cannot be read: %w", rem.GetPolicyName(), err)
			}
			after := conceal(&secrets, before, restore(before, m))
			secrets.Learn(after)
			before, x.Properties = after, &after
		}
		out.Remediations = append(out.Remediations, x)
	}
	return out, nil
}

// Analyze returns the pack's findings on a resource.
func (a *Analyzer) Analyze(ctx context.Context, r stages.Analysis) (stages.Findings, error) {
	req, err := analyzeRequest(r)
	if err != nil {
		return stages.Findings{}, err
	}
	answer, err := a.rpc.Analyze(ctx, req)
	if err != nil {
		return stages.Findings{}, a.failed(ctx, "ask", err)
	}
	return findings(answer), nil
}

// AnalyzeStack returns the pack's findings on the stack. A pack without this method has none. If it has policies for stacks, that is an
// error: they would be skipped unnoticed.
func (a *Analyzer) AnalyzeStack(ctx context.Context, rs []stages.StackResource) (stages.Findings, error) {
	req, err := analyzeStackRequest(rs)
	if err != nil {
		return stages.Findings{}, err
	}
	answer, err := a.rpc.AnalyzeStack(ctx, req)
	if err != nil && (a.hasStackPolicy() || optional(err) != nil) {
		return stages.Findings{}, a.failed(ctx, "ask", err)
	}
	return findings(answer), nil
}

// hasStackPolicy reports whether the pack has an enabled policy for stacks.
func (a *Analyzer) hasStackPolicy() bool {
	return slices.ContainsFunc(a.info.Policies, func(p stages.PolicyInfo) bool {
		return p.Type == stages.StackPolicy && p.Level != stages.Disabled
	})
}

// Cancel makes the pack abort its work. A pack without this method counts as one that acknowledged.
func (a *Analyzer) Cancel(ctx context.Context) error {
	_, err := a.rpc.Cancel(ctx, &emptypb.Empty{})
	return a.failed(ctx, "cancel", optional(err))
}

// Close ends the pack's process.
func (a *Analyzer) Close() error {
	var err error
	a.closing.Do(func() {
		if a.rpc != nil {
			ctx, cancel := context.WithTimeout(context.Background(), cancelPatience)
			_, _ = a.rpc.Cancel(ctx, &emptypb.Empty{}) // the process is stopped in any case
			cancel()
			err = a.conn.Close()
		}
		a.served.Stop()
	})
	return err
}

// optional returns nil for the error of a method that the pack does not have.
func optional(err error) error {
	if status.Code(err) == codes.Unimplemented {
		return nil
	}
	return err
}

// failed explains the failure of a call. For a pack that has died it returns a *stages.AnalyzerLostError.
func (a *Analyzer) failed(ctx context.Context, doing string, err error) error {
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	st := status.Convert(err)
	if st.Code() == codes.Unavailable {
		var exit *plugin.ExitError
		if errors.As(plugin.ExitedSoon(a.served), &exit) {
			err = ending(a.name(), exit)
		} else {
			err = fmt.Errorf("policy pack %s does not answer any more: %s", a.name(), st.Message())
		}
		return &stages.AnalyzerLostError{Analyzer: cmp.Or(a.info.Name, a.directory), Err: err}
	}
	message := strings.TrimSpace(terminal.Plain(st.Message()))
	// A message of gRPC, or an empty one, needs the place of the pack.
	switch nonsense := strings.HasPrefix(message, "grpc: "); {
	case message == "":
		message = fmt.Sprintf("it gives no reason (gRPC code %s)", st.Code())
	case nonsense:
		message = "its answer cannot be decoded: " + message
	case a.info.Name != "":
		return errors.New(message)
	}
	return fmt.Errorf("%s the policy pack in %s: %s%s", doing, a.directory, message, a.lastOutput())
}

// lastOutput returns the last output of the pack, to be appended to an error; "" if there is none.
func (a *Analyzer) lastOutput() string {
	if text := a.served.LastOutput(); text != "" {
		return "\n" + terminal.Plain(text)
	}
	return ""
}
