package redact

import (
	"context"
	"log/slog"
)

type handler struct {
	slog.Handler
	set *Set
}

func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	masked := slog.NewRecord(r.Time, r.Level, h.set.Mask(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		masked.AddAttrs(h.attr(a))
		return true
	})
	return h.Handler.Handle(ctx, masked)
}

func (h *handler) attr(a slog.Attr) slog.Attr {
	a.Value = a.Value.Resolve()
	if a.Value.Kind() == slog.KindGroup {
		group := make([]slog.Attr, len(a.Value.Group()))
		for i, inner := range a.Value.Group() {
			group[i] = h.attr(inner)
		}
		a.Value = slog.GroupValue(group...)
		return a
	}
	text := a.Value.String()
	if masked := h.set.Mask(text); masked != text {
		a.Value = slog.StringValue(masked)
	}
	return a
}

func (h *handler) WithAttrs(list []slog.Attr) slog.Handler {
	masked := make([]slog.Attr, len(list))
	for i, a := range list {
		masked[i] = h.attr(a)
	}
	return &handler{h.Handler.WithAttrs(masked), h.set}
}

func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{h.Handler.WithGroup(name), h.set}
}
