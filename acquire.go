package sluice

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/providers/plugin/install"
	"github.com/sluice-iac/sluice/stages"
)

// AcquisitionVariable is the variable of the environment that, if it is true, forbids the automatic installation of plugins.
const AcquisitionVariable = "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"

// acquire returns what installs missing plugins; nil if they are not to be installed.
func (o PluginOptions) acquire() plugin.Acquire {
	lookup := o.LookupEnv
	if lookup == nil {
		lookup = os.LookupEnv
	}
	if o.Installer == nil {
		return nil
	}
	return func(ctx context.Context, w plugin.Wanted) error {
		text, _ := lookup(AcquisitionVariable)
		if forbidden, _ := strconv.ParseBool(text); forbidden {
			return fmt.Errorf("%w, as %s is set", plugin.ErrNotAcquired, AcquisitionVariable)
		}
		follow := &acquisition{options: o}
		_, err := o.Installer.Once(ctx, install.Request{
			Kind: w.Kind, Name: w.Name, Version: w.Version, Source: w.DownloadURL, Checksums: w.Checksums, Observe: follow.observe,
		})
		return err
	}
}

// acquisition tells the user how an installation goes on: a note when it begins, and from time to time how far it is, where
// the engine shows messages that are gone with the next one.
type acquisition struct {
	options PluginOptions
	noted   install.Phase
	last    time.Time
}

// acquisitionPause is the time between two messages about one installation.
const acquisitionPause = 500 * time.Millisecond

func (a *acquisition) observe(p install.Progress) {
	if begins := a.noted != p.Phase; begins {
		a.noted = p.Phase
		switch p.Phase {
		case install.Waiting:
			a.note("waiting for another process that installs the plugin %s", p.Plugin)
		case install.Downloading:
			a.note("installing the plugin %s from %s", p.Plugin, p.URL)
		}
	}
	if p.Phase != install.Downloading || time.Since(a.last) < acquisitionPause || a.options.Engine == nil {
		return
	}
	a.last = time.Now()
	text := fmt.Sprintf("downloading %s: %s", p.Plugin, megabytes(p.Done))
	if p.Total > 0 {
		text += " of " + megabytes(p.Total)
	}
	a.options.Engine.log(stages.LogMessage{Severity: stages.Info, Message: text, Ephemeral: true})
}

func (a *acquisition) note(format string, args ...any) {
	if a.options.Note != nil {
		a.options.Note(fmt.Sprintf(format, args...))
	}
}

func megabytes(n int64) string {
	return strings.TrimSuffix(strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64), ".0") + " MB"
}
