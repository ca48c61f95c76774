package plugins

import (
	"context"
	"errors"

	"github.com/Masterminds/semver/v3"
	"github.com/sourcegraph/conc/pool"

	"github.com/sluice-iac/sluice/providers/plugin/install"
)

// Parallel is the default number of plugins installed at once.
const Parallel = 4

// Install installs plugins, several at the same time, and shows the progress. It joins the errors of all that failed.
func (p *Places) Install(ctx context.Context, requests []install.Request) error {
	shown := newProgress(p.Terminal)
	defer shown.close()
	group := pool.NewWithResults[error]()
	if p.Parallel > 0 {
		group = group.WithMaxGoroutines(p.Parallel)
	}
	for number, r := range requests {
		r.Observe = func(n install.Progress) { shown.observe(number, n) }
		group.Go(func() error {
			got, err := p.Installer.Install(ctx, r)
			shown.ended(number, got, err)
			return err
		})
	}
	return errors.Join(group.Wait()...)
}

// Newer returns the lowest installed version of a plugin that is at least the requested one; "" if there is none, or if no
// version is requested.
func (p *Places) Newer(r install.Request) string {
	want, err := semver.NewVersion(r.Version)
	if err != nil {
		return ""
	}
	var best *semver.Version
	for _, l := range p.Cached() {
		v, err := semver.NewVersion(l.Version)
		if err != nil || l.Kind != r.Kind || l.Name != r.Name || v.LessThan(want) {
			continue
		}
		if best == nil || v.LessThan(best) {
			best = v
		}
	}
	if best == nil {
		return ""
	}
	return best.String()
}
