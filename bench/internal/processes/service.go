package processes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/sluice-iac/sluice/bench/internal/meter"
	"github.com/sluice-iac/sluice/bench/internal/results"
	"github.com/sluice-iac/sluice/bench/internal/runner"
	"github.com/sluice-iac/sluice/bench/shape"
	"github.com/sluice-iac/sluice/pipeline/await"
)

const (
	serviceDelay  = 50 * time.Millisecond // of each call of the service
	serviceCalls  = 10                    // calls in sequence, whose time is not counted
	targetService = 1.2                   // the factor by which an update with the state at the service may be slower than one in a folder
	files         = "files"               // the case that the update is compared with
)

// service is the tests' server for Pulumi's service, in a process.
type service struct {
	cmd *exec.Cmd
	log bytes.Buffer
	url string
}

// startService starts a service that accepts journals. The caller stops it.
func (b *workbench) startService(ctx context.Context) (*service, error) {
	url := filepath.Join(b.directory, "service-url")
	s := &service{cmd: exec.CommandContext(ctx, b.executable("serve"), "-journal", "-delay", serviceDelay.String(), "-url", url)}
	s.cmd.Stderr = &s.log
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	for range 100 {
		text, err := os.ReadFile(url)
		if err == nil && len(text) > 0 {
			s.url = string(text)
			return s, os.Remove(url)
		}
		if err := await.For(ctx, 100*time.Millisecond); err != nil {
			break
		}
	}
	return nil, errors.Join(errors.New("the service of the tests does not say where it is"), s.stop())
}

// stop ends the service. It returns an error if there was an unexpected call.
func (s *service) stop() error {
	_ = s.cmd.Process.Signal(os.Interrupt)
	if err := s.cmd.Wait(); err != nil {
		return fmt.Errorf("the service of the tests: %w\n%s", err, &s.log)
	}
	return nil
}

// updatesAtService measures an update that creates everything with the state at a service with slow calls, less the time of ten calls, beside the
// same with the state in a folder.
func (p *Processes) updatesAtService(ctx context.Context, r *runner.Runner, size int) (err error) {
	l := load{shape: shape.Wide, client: shape.ClientThin, size: size}
	k := results.Key{Case: "process update service thin", Shape: l.shape, Latency: serviceDelay.String(), Size: size}
	if !r.Wants(k) {
		return nil
	}
	b, err := p.bench(ctx)
	if err != nil {
		return err
	}
	s, err := b.startService(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	up, down := []string{"up", "--yes", "--skip-preview"}, []string{"destroy", "--yes", "--skip-preview"}
	at := func(who, executable string) (probe, error) {
		environment := append(b.environment(l), "PULUMI_HOME="+filepath.Join(b.directory, "home-service-"+who), "PULUMI_BACKEND_URL="+s.url, "PULUMI_ACCESS_TOKEN=pul-alice")
		in := func(args ...string) probe {
			return b.in(b.project(l.client), environment, executable, append(args, "--non-interactive", "--stack", fmt.Sprintf("acme/bench/%s-%d", who, size))...)
		}
		update := in(up...).then(in(down...))
		_, err := in("stack", "init")(ctx)
		return func(ctx context.Context) (meter.Reading, error) {
			reading, err := update(ctx)
			if err == nil {
				reading[results.Time] = max(0, reading[results.Time]-serviceCalls*serviceDelay.Seconds())
			}
			return reading, err
		}, err
	}
	ours, err := at(results.Sluice, b.executable("sluice"))
	if err != nil {
		return err
	}
	stack := fmt.Sprintf("files-%d", size)
	if err := b.stack(ctx, stack); err != nil {
		return err
	}
	contenders := []runner.Contender{
		{Subject: results.Sluice, Probe: ours, Targets: []results.Target{{Metric: results.Time, Versus: files, AtMost: targetService}}},
		{Subject: files, Probe: b.sluice(stack, l, up...).then(b.sluice(stack, l, down...))},
	}
	if pulumi, ok := p.peers[Pulumi]; ok {
		theirs, err := at(Pulumi, pulumi.path)
		if err != nil {
			return err
		}
		contenders = append(contenders, runner.Contender{Subject: Pulumi, Probe: theirs})
	}
	return r.Measure(ctx, k, contenders...)
}
