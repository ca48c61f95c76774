package operation

import (
	"log/slog"

	"github.com/sourcegraph/conc/pool"

	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
)

// packs are the loaded policy packs of an operation.
type packs struct {
	loaded []source.PolicyAnalyzer
	// analyzers are all analyzers: those of the caller, then the packs.
	analyzers []stages.Analyzer
	// releases detach the analyzers from the end of the caller's context.
	releases []func() bool
}

// close ends the processes of the packs.
func (p *packs) close(log *slog.Logger) {
	for _, release := range p.releases {
		release()
	}
	closing := pool.New()
	for _, a := range p.loaded {
		closing.Go(func() {
			if err := a.Close(); err != nil {
				log.Warn("closing a policy pack", "pack", a.Info().Name, "error", err)
			}
		})
	}
	closing.Wait()
}
