package source

import (
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
)

// ComponentServer is a [providers.Host] that can evaluate components of plugins itself, such as those in YAML.
type ComponentServer interface {
	// ServeComponents returns a host that serves the plugins for which next returns a *[plugin.LanguageHostedError], and starts all others
	// through next. Files in components are relative to the directory of p. Components register their resources with the monitor.
	ServeComponents(next providers.Host, p Project, monitor func() stages.Monitor) providers.Host
}
