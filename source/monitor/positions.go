package monitor

import (
	"net/url"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"github.com/sluice-iac/sluice/state"
)

// position returns a source position in the form that states hold: "project:///<path>#<line>[,<column>]" with the path
// relative to the project's root. Anything but an absolute file URI is dropped (protocol.md 4.13).
func (h *handler) position(p *pulumirpc.SourcePosition) string {
	if h.root == "" || p.GetUri() == "" {
		return ""
	}
	uri, err := url.Parse(p.GetUri())
	if err != nil || uri.Scheme != "file" {
		return ""
	}
	path := uri.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/") // "/C:/x" is "C:/x"
	}
	path = filepath.FromSlash(path)
	if !filepath.IsAbs(path) {
		return ""
	}
	relative, err := filepath.Rel(h.root, path)
	if err != nil {
		return ""
	}
	at := strconv.Itoa(int(p.GetLine()))
	if p.GetColumn() != 0 {
		at += "," + strconv.Itoa(int(p.GetColumn()))
	}
	return (&url.URL{Scheme: "project", Path: "/" + filepath.ToSlash(relative), Fragment: at}).String()
}

// stack converts every frame: one whose position cannot be recorded stays as an empty frame (state.md 1.6).
func (h *handler) stack(t *pulumirpc.StackTrace) []state.StackFrame {
	if len(t.GetFrames()) == 0 {
		return nil
	}
	frames := make([]state.StackFrame, len(t.GetFrames()))
	for i, f := range t.GetFrames() {
		frames[i].SourcePosition = h.position(f.GetPc())
	}
	return frames
}
