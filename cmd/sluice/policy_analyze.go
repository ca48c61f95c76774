package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/policycheck"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/property/redact"
	"github.com/sluice-iac/sluice/providers/plugin/install"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend/workspace"
	"github.com/sluice-iac/sluice/state/secrets"
	"github.com/sluice-iac/sluice/urn"
)

func newPolicyAnalyzeCommand(open *session.Opener) *cobra.Command {
	var f analyzeFlags
	cmd := &cobra.Command{
		Use:   "analyze",
		Short: "Check the recorded state of a stack against policy packs",
		Long: "Check the recorded resources of a stack, or those of an export in a file, against policy packs. No program runs, no\n" +
			"provider is called, and nothing changes: the changes that remediations would make are shown. Each resource is judged by its\n" +
			"recorded inputs, and all together by their outputs. Secrets of a file that cannot be decrypted here are the text \"[secret]\"\n" +
			"for policies.\n\n" +
			"The exit status is 1 if there are mandatory violations.",
		Example: "  sluice policy analyze --policy-pack ../rules\n  sluice policy analyze --file export.json --policy-pack ../rules --json",
		Args:    exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return analyze(cmd.Context(), open, f)
		},
	}
	p := cmd.Flags()
	flags.AddStack(p, &f.stack)
	p.StringVar(&f.file, "file", "", "check this `export`, which `sluice stack export` has written, instead of a stack")
	p.BoolVar(&f.diff, "diff", false, "show the properties that remediations would change")
	p.BoolVarP(&f.json, "json", "j", false, "write the results as events in JSON, one on each line")
	f.policies.Add(p)
	excludes(cmd, "json", "diff")
	excludes(cmd, "file", "stack")
	return cmd
}

type analyzeFlags struct {
	stack, file string
	diff, json  bool
	policies    flags.Policies
}

// subject is what policies judge.
type subject struct {
	name     string // for messages
	info     stages.RunInfo
	snapshot *state.Snapshot
}

// root returns the URN of the stack.
func (s *subject) root() urn.URN { return urn.RootStack(s.info.Stack, s.info.Project) }

func analyze(ctx context.Context, open *session.Opener, f analyzeFlags) error {
	if err := f.policies.Check(); err != nil {
		return err
	}
	if !f.policies.Given() {
		return exit.Usagef("name a policy pack with --policy-pack FOLDER")
	}
	if _, err := f.policies.Open(host.PluginOptions{}); err != nil {
		return err // before anything is asked
	}
	s, err := analyzed(ctx, open, f)
	if err != nil {
		return err
	}
	if s.snapshot == nil || len(s.snapshot.Resources) == 0 {
		_, err := fmt.Fprintf(open.Terminal.Err, "%s has no resources; nothing to analyze.\n", s.name)
		return err
	}
	var known redact.Set
	for _, r := range s.snapshot.Resources {
		known.Learn(r.Inputs)
		known.Learn(r.Outputs)
	}
	return known.Error(s.analyze(ctx, open.Terminal, f, &known))
}

// analyzed returns the state that the flags name.
func analyzed(ctx context.Context, open *session.Opener, f analyzeFlags) (*subject, error) {
	if f.file != "" {
		return analyzedFile(ctx, open, f.file)
	}
	s, err := open.AnyStack(ctx, f.stack, "")
	if err != nil {
		return nil, err
	}
	snapshot, err := s.State.Load(ctx)
	if err != nil {
		return nil, err
	}
	info := stages.RunInfo{Organization: s.Ref.Organization(), Project: s.Ref.Project, Stack: s.Ref.Name}
	return &subject{"Stack " + s.Name(), info, snapshot}, nil
}

// analyzedFile returns the state in an export.
func analyzedFile(ctx context.Context, open *session.Opener, path string) (*subject, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, exit.AsUsage(err)
	}
	s := &subject{name: "File " + format.Printable(path)}
	s.snapshot, err = state.DecodeExport(ctx, text, state.DecodeOptions{
		Name: path, Decrypter: func(ctx context.Context, p *state.SecretsProvider) (property.Decrypter, error) {
			m, err := secrets.FromState(ctx, p, open.Keys())
			if err != nil || m == nil {
				return nil, err
			}
			return m.Decrypter(), nil
		},
	})
	if err != nil {
		var again error
		s.snapshot, again = state.DecodeExport(ctx, text, state.DecodeOptions{
			Name: path, Decrypter: func(context.Context, *state.SecretsProvider) (property.Decrypter, error) { return noSecrets{}, nil },
		})
		if again != nil {
			return nil, exit.AsUsage(err)
		}
		open.Terminal.Warn("the secrets in %s cannot be decrypted, so that policies get \"[secret]\" instead: %v", format.Printable(path), err)
	}
	for i, r := range s.snapshot.Resources {
		if !r.URN.IsValid() {
			return nil, exit.Usagef("%s: resources[%d] has the URN %q, which is not valid", format.Printable(path), i, r.URN)
		}
		if i == 0 {
			s.info.Project, s.info.Stack = r.URN.Project(), r.URN.Stack()
		} else if s.info.Project != r.URN.Project() || s.info.Stack != r.URN.Stack() { // an export of several stacks
			s.info.Project, s.info.Stack = "multiple", "multiple"
		}
	}
	return s, nil
}

// analyze starts the packs, lets them judge and prints the results.
func (s *subject) analyze(ctx context.Context, t *terminal.Terminal, f analyzeFlags, known *redact.Set) (err error) {
	home, err := workspace.Home(t.Lookup)
	if err != nil {
		return err
	}
	results := &analyzeResults{t: t, known: known}
	if f.json {
		results.log = display.StreamEvents(t.Data(), !t.AsPulumi)
	}
	options := host.PluginOptions{
		Home: home, LookupEnv: t.Lookup, Warn: func(message string) { t.Warn("%s", known.Mask(message)) },
		Log: slog.New(known.Handler(t.Log.Handler())), Note: t.WarnWith, LogFlags: t.PluginFlags,
	}
	options.Installer = host.NewInstaller(install.Options{Home: home, LookupEnv: t.Lookup}, options)
	h := host.Open(ctx, options)
	defer func() { err = errors.Join(err, h.Close()) }()
	opened, err := f.policies.Open(h.Options())
	if err != nil {
		return err
	}
	var packs []source.PolicyAnalyzer
	var infos []stages.AnalyzerInfo
	for _, p := range opened {
		if names := p.Environments(); len(names) > 0 {
			return exit.Usagef("the configuration of a policy pack takes values from the environments %s of Pulumi's service, which only operations do; "+
				"write the values into the file", strings.Join(names, ", "))
		}
		pack, err := p.Load(ctx, s.info, results.message)
		if err != nil {
			return err
		}
		defer func() { _ = pack.Close() }() // an error of an ending pack changes nothing
		packs, infos = append(packs, pack), append(infos, pack.Info())
	}
	mandatory, err := policycheck.Check(ctx, s.snapshot, s.root(), packs, known, results.observe)
	if err == nil && mandatory > 0 {
		err = fmt.Errorf("the state has %s", format.Plural(mandatory, "mandatory policy violation", "mandatory policy violations"))
	}
	result := stages.Succeeded
	if err != nil {
		result = stages.Failed
	}
	return errors.Join(err, results.write(s, f, infos, result))
}

// analyzeResults prints the results of policies.
type analyzeResults struct {
	t     *terminal.Terminal
	known *redact.Set
	log   *display.EventLog // for JSON; nil for people
	found display.PolicyResults
}

func (r *analyzeResults) observe(e stages.Event) {
	if r.log != nil {
		r.log.Observe(e)
		return
	}
	r.found.Observe(e)
}

// message prints what a pack writes. Several packs may write at the same time.
func (r *analyzeResults) message(m stages.LogMessage) {
	m.Message = r.known.Mask(m.Message)
	switch text := strings.TrimRight(m.Message, "\n"); {
	case r.log != nil:
		r.log.Observe(stages.Diagnostic{LogMessage: m})
	case m.Severity >= stages.Warning:
		r.t.Warn("%s", text)
	case m.Severity != stages.Debug:
		_, _ = fmt.Fprintln(r.t.Err, text) // as with warnings, nobody can be told
	}
}

func (r *analyzeResults) write(s *subject, f analyzeFlags, packs []stages.AnalyzerInfo, result stages.RunResult) error {
	if r.log != nil {
		r.log.Observe(stages.Summary{Result: result, Policies: packs})
		return r.log.Close()
	}
	options := display.Options{Out: r.t.Styled(), Color: r.t.Colored(), Command: r.t.Command()}
	options.Diff, options.ShowRemediations = f.diff, true
	if err := r.found.Write(options, packs); err != nil {
		return err
	}
	live := slices.DeleteFunc(slices.Clone(s.snapshot.Resources), func(r *state.Resource) bool { return r.Delete })
	_, err := fmt.Fprintf(r.t.Out, "\n%s: %s analyzed\n", s.name, format.Resources(len(live)))
	return err
}
