package install

import (
	"fmt"
	"sync"
	"time"
)

// AcquisitionVariable is the variable that, if it is true, forbids the automatic installation of plugins.
const AcquisitionVariable = "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"

// Messages receive texts for the user about automatic installations. Both may be called from many goroutines; nil
// discards.
type Messages struct {
	Note     func(text string) // once for each installation
	Progress func(text string) // from time to time; it replaces the one before
}

// progressMessages reports the progress of one installation.
type progressMessages struct {
	messages Messages

	mu    sync.Mutex // guards the fields below
	phase Phase
	last  time.Time
}

// pause is the time between two messages about the progress of an installation.
const pause = 500 * time.Millisecond

func (m *progressMessages) observe(p Progress) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p.Silent > 0 {
		message(m.messages.Note, "nothing has come from %s for %s; the plugin %s is still waited for", p.URL, p.Silent, p.Plugin)
		return
	}
	if begins := p.Phase != m.phase; begins {
		m.phase = p.Phase
		switch p.Phase {
		case Waiting:
			message(m.messages.Note, "waiting for another process that installs the plugin %s", p.Plugin)
		case Downloading:
			message(m.messages.Note, "installing the plugin %s from %s", p.Plugin, p.URL)
		case Completing:
			message(m.messages.Note, "installing what the plugin %s needs", p.Plugin)
		}
	}
	if p.Phase != Downloading || time.Since(m.last) < pause {
		return
	}
	m.last = time.Now()
	text := fmt.Sprintf("downloading %s: %s", p.Plugin, megabytes(p.Done))
	if p.Total > 0 {
		text += " of " + megabytes(p.Total)
	}
	message(m.messages.Progress, "%s", text)
}

func message(to func(string), format string, args ...any) {
	if to != nil {
		to(fmt.Sprintf(format, args...))
	}
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
