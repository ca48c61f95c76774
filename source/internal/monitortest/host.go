package monitortest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/engine"
	"github.com/sluice-iac/sluice/source/monitor"
	"github.com/sluice-iac/sluice/stages"
)

// Host serves m and an Engine service whose messages go to m, both until the end of the test.
func Host(t testing.TB, m *Monitor) source.Host {
	t.Helper()
	monitors := monitor.NewServer(context.Background(), m)
	t.Cleanup(func() { require.NoError(t, monitors.Close()) })
	engines := engine.NewServer(context.Background(), func(l stages.LogMessage) { m.Log(context.Background(), l) })
	t.Cleanup(func() { require.NoError(t, engines.Close()) })
	return source.Host{Monitor: m, MonitorService: monitors, Engine: engines}
}

// At is a service at this address.
type At string

// Address returns the address.
func (a At) Address() (string, error) { return string(a), nil }

// SocketAddress returns the address.
func (a At) SocketAddress() (string, error) { return string(a), nil }

// Messages returns the text of the logged messages of one severity, in the order of arrival.
func (m *Monitor) Messages(s stages.Severity) []string {
	var texts []string
	for _, l := range m.Record().Logs {
		if l.Severity == s {
			texts = append(texts, l.Message)
		}
	}
	return texts
}
