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

// Host serves m and an Engine service that passes its messages to m, both until the end of the test.
func Host(t testing.TB, m *Monitor) source.Host {
	t.Helper()
	monitors := monitor.NewServer(context.Background(), source.ServedMonitor{Monitor: m})
	t.Cleanup(func() { require.NoError(t, monitors.Close()) })
	engines := engine.NewServer(context.Background(), func(l stages.LogMessage) { m.Log(context.Background(), l) })
	t.Cleanup(func() { require.NoError(t, engines.Close()) })
	return source.Host{Monitor: m, MonitorService: monitors, Engine: engines}
}

// Preview returns the monitor of a preview, with a setting and a secret one.
func Preview() *Monitor {
	return &Monitor{Run: stages.RunInfo{
		Organization: "organization", Project: "proj", Stack: "dev", DryRun: true, Parallel: 16,
		Config:           map[string]string{"proj:greeting": "hello", "proj:password": "hush"},
		ConfigSecretKeys: []string{"proj:password"},
	}}
}

// OnLog is a monitor that calls a function at each message.
type OnLog struct {
	*Monitor
	Do func()
}

// Log calls the function.
func (o *OnLog) Log(context.Context, stages.LogMessage) { o.Do() }

// At is a service at a fixed address.
type At string

// Address returns the address.
func (a At) Address() (string, error) { return string(a), nil }

// SocketAddress returns the address.
func (a At) SocketAddress() (string, error) { return string(a), nil }
