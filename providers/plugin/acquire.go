package plugin

import (
	"context"

	"github.com/sluice-iac/sluice/providers"
)

// Wanted is a plugin that is missing and needed.
type Wanted struct {
	Kind        Kind
	Name        string
	Version     string // "" for any
	DownloadURL string
	Checksums   map[string][]byte // "<os>-<arch>" -> SHA-256 of its archive
	Recorded    bool              // only the recorded state names DownloadURL
}

// Acquire installs a plugin where a [Finder] finds it. It may be called from many goroutines. An error that wraps
// [ErrNotAcquired] means that it did not try.
type Acquire func(ctx context.Context, w Wanted) error

// FindOrAcquire is [Finder.Find], but installs a missing plugin unless acquire is nil.
func (f Finder) FindOrAcquire(ctx context.Context, w Wanted, acquire Acquire) (Location, error) {
	l, err := f.Find(w.Kind, w.Name, w.Version)
	missing, is := err.(*MissingError) //nolint:errorlint // made by Find itself
	if !is {
		return l, err
	}
	missing.DownloadURL = w.DownloadURL
	if acquire == nil || f.Home == "" {
		return l, missing
	}
	if err := acquire(ctx, w); err != nil {
		if ctx.Err() != nil {
			return l, context.Cause(ctx)
		}
		missing.Acquiring = err
		return l, missing
	}
	return f.Find(w.Kind, w.Name, w.Version)
}

// Prepare installs the plugin that serves spec if it is missing. The errors are those of [Host.Load].
func (h *Host) Prepare(ctx context.Context, spec providers.Spec) error {
	if err := h.finder.checkMade(spec); err != nil {
		return err
	}
	_, _, err := h.locate(ctx, h.finder.Complete(spec))
	return err
}

// locate returns the port at which the plugin that serves spec is attached, or else finds or installs it.
func (h *Host) locate(ctx context.Context, spec providers.Spec) (port int, at Location, err error) {
	name, version := PluginOf(spec)
	if port, attached, err := h.attachedPort(name); attached || err != nil {
		return port, at, err
	}
	acquire := h.options.Acquire
	if IsDynamic(name) {
		acquire = nil // it is part of the program's SDK
	}
	at, err = h.finder.FindOrAcquire(ctx, Wanted{
		Kind: Resource, Name: name, Version: version, DownloadURL: spec.DownloadURL, Checksums: spec.Checksums,
		Recorded: spec.Recorded && spec.DownloadURL != "",
	}, acquire)
	if missing, is := err.(*MissingError); is && h.options.Meant != nil { //nolint:errorlint // made for this call
		missing.Meant = h.options.Meant(name)
	}
	return 0, at, err
}
