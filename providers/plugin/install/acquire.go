package install

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/providers/plugin"
)

// AcquisitionVariable is the variable that, if it is true, forbids the automatic installation of plugins.
const AcquisitionVariable = "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"

// Messages receive texts for the user about automatic installations. Both may be called from many goroutines; nil
// discards.
type Messages struct {
	Note     func(text string) // once for each installation
	Progress func(text string) // from time to time; it replaces the one before
}

// Acquire returns the function that installs plugins on demand, unless the environment forbids it.
func (i *Installer) Acquire(m Messages) plugin.Acquire {
	return func(ctx context.Context, w plugin.Wanted) error {
		if err := i.Forbidden(); err != nil {
			return err
		}
		if w.Recorded {
			if err := i.mayObtain(w); err != nil {
				return err
			}
		}
		_, err := i.Once(ctx, Request{
			Kind: w.Kind, Name: w.Name, Version: w.Version, Source: w.DownloadURL, Checksums: w.Checksums,
			Observe: (&telling{messages: m}).observe,
		})
		return err
	}
}

// mayObtain refuses a download that only the recorded state requires, unless the user has configured the sources of such
// plugins.
func (i *Installer) mayObtain(w plugin.Wanted) error {
	if i.env(mirrorVariable) != "" {
		return nil
	}
	from, err := Request{Kind: w.Kind, Name: w.Name, Source: w.DownloadURL}.from()
	if err != nil {
		return err
	}
	if overridden, err := override(from, i.env(overridesVariable)); err != nil || overridden != from {
		return err
	}
	return fmt.Errorf("%w, as only the recorded state says that it comes from %s", plugin.ErrNotAcquired, w.DownloadURL)
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

// Forbidden returns the error of an automatic installation if the environment forbids them, otherwise nil.
func (i *Installer) Forbidden() error {
	if forbidden, _ := strconv.ParseBool(i.env(AcquisitionVariable)); forbidden {
		return fmt.Errorf("%w, as %s is set", plugin.ErrNotAcquired, AcquisitionVariable)
	}
	return nil
}
