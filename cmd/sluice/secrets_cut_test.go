//go:build !windows

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The output and the log messages of a program are cut inside a secret, at each of its characters and in each of its forms: lines of
// more than 64 KiB of both streams, and texts that it logs in pieces.
func TestASecretIsNotShownByHalvesWhereALineIsCut(t *testing.T) {
	t.Parallel()
	program := t.TempDir() + "/program"
	build(t, program, "./testdata/hostileprogram")
	l := newLeaks(t, map[string]string{"Pulumi.yaml": fmt.Sprintf("name: demo\nruntime:\n  name: go\n  options:\n    binary: %q\n", program)})
	l.run(0, "", "config", "set", "attack", "cut secrets")
	shown := l.run(0, "", "up", "--yes", "--skip-preview", "--show-full-output", "--event-log", l.dir+"/events.json")
	events, err := os.ReadFile(l.dir + "/events.json")
	require.NoError(t, err)
	l.written.Write(events)
	l.conceal(hard)

	streams := map[string]string{"on the screen": shown}
	for line := range strings.Lines(string(events)) {
		var event struct {
			DiagnosticEvent struct {
				Message  string
				StreamID int
			}
		}
		require.NoError(t, json.Unmarshal([]byte(line), &event))
		if d := event.DiagnosticEvent; d.StreamID != 0 {
			streams[fmt.Sprintf("stream %d", d.StreamID)] += d.Message
		}
	}
	require.Len(t, streams, 4)
	printed := regexp.MustCompile(`<([^<>]*)>`)
	for name, text := range streams {
		lines := printed.FindAllStringSubmatch(text, -1)
		require.Greater(t, len(lines), 250, name)
		for _, line := range lines {
			// Of a secret in base64, up to four bits are left on each side, and the padding.
			left := strings.Trim(line[1], ".")
			require.Contains(t, left, "[secret]", "%s has %q", name, left)
			require.LessOrEqual(t, len(left), len("[secret]")+6, "%s has %q", name, left)
		}
	}
}
