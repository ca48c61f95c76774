package direct

import (
	"fmt"
	"net"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/stages"
)

func TestADebuggerIsRecognizedInTheOutput(t *testing.T) {
	var got []stages.LogMessage
	var found []int
	d := &Debugger{
		Tool: "Tool", Listens: regexp.MustCompile(`^listening at (\d+)/`), Noise: regexp.MustCompile(`^debugging:`),
		Config: func(line string, port, pid int) map[string]any {
			return map[string]any{"line": line, "port": port, "pid": pid}
		},
		Found: func(port int) { found = append(found, port) },
		Log:   func(m stages.LogMessage) { got = append(got, m) },
	}
	takes := d.Interceptor()
	for line, taken := range map[string]bool{
		"debugging: on": true, "hello": false, "listening at /": false, "listening at 99999999999999999999/": false,
	} {
		require.Equal(t, taken, takes(7, line), line)
	}
	require.Empty(t, got)
	require.True(t, takes(7, "listening at 4711/x"))
	require.Equal(t, []int{4711}, found)
	require.Equal(t, []stages.LogMessage{{
		Severity: stages.Info, Message: "Waiting for debugger to attach (Tool at 127.0.0.1:4711, process id 7)...", Ephemeral: true,
		Debugger: map[string]any{"line": "listening at 4711/x", "port": 4711, "pid": 7},
	}}, got)
	require.True(t, takes(7, "\x1b[mlistening at 4711/x"), "it listens again when the debugger has left")
	require.Len(t, found, 1)
	require.Len(t, got, 1)
	d.Noise, d.Found = nil, nil
	require.False(t, takes(7, "debugging: on"))
	require.True(t, takes(7, "listening at 4712/x"))
	require.Nil(t, (*Debugger)(nil).Interceptor())
}

func TestAUsualPortThatIsTakenIsNotAskedFor(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	taken := l.Addr().(*net.TCPAddr).Port
	require.Equal(t, AnyDebugAddress, DebugAddress(taken))
	require.NoError(t, l.Close())
	free := func() bool { return DebugAddress(taken) == fmt.Sprintf("127.0.0.1:%d", taken) }
	require.Eventually(t, free, time.Minute, 10*time.Millisecond) // another process may have it for a moment
}
