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

// telling reports the progress of one installation.
type telling struct {
	messages Messages

	mu    sync.Mutex // guards the fields below
	phase Phase
	last  time.Time
}

// pause is the time between two messages about the progress of an installation.
const pause = 500 * time.Millisecond

func (t *telling) observe(p Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.Silent > 0 {
		tell(t.messages.Note, "nothing has come from %s for %s; the plugin %s is still waited for", p.URL, p.Silent, p.Plugin)
		return
	}
	if begins := p.Phase != t.phase; begins {
		t.phase = p.Phase
		switch p.Phase {
		case Waiting:
			tell(t.messages.Note, "waiting for another process that installs the plugin %s", p.Plugin)
		case Downloading:
			tell(t.messages.Note, "installing the plugin %s from %s", p.Plugin, p.URL)
		case Completing:
			tell(t.messages.Note, "installing what the plugin %s needs", p.Plugin)
		}
	}
	if p.Phase != Downloading || time.Since(t.last) < pause {
		return
	}
	t.last = time.Now()
	text := fmt.Sprintf("downloading %s: %s", p.Plugin, megabytes(p.Done))
	if p.Total > 0 {
		text += " of " + megabytes(p.Total)
	}
	tell(t.messages.Progress, "%s", text)
}

func tell(to func(string), format string, args ...any) {
	if to != nil {
		to(fmt.Sprintf(format, args...))
	}
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
