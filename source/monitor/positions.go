package monitor

import (
	"net/url"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"github.com/sluice-iac/sluice/state"
)

// position returns a source position in the form that states hold: "project:///<path>#<line>[,<column>]" with the path
// relative to the project's root. Anything but an absolute file URI is dropped (protocol.md 4.13).
func (h *handler) position(p *pulumirpc.SourcePosition) string {
	if h.root == "" || p.GetUri() == "" {
		return ""
	}
	file := h.files.project(h.root, p.GetUri())
	if file == "" {
		return ""
	}
	at := file + "#" + strconv.Itoa(int(p.GetLine()))
	if p.GetColumn() != 0 {
		at += "," + strconv.Itoa(int(p.GetColumn()))
	}
	return at
}

// projectFiles remembers the last file that a position named: a program declares most of its resources in a few files,
// and the work on paths and URIs costs as much as the rest of a small registration. The zero value is ready for use.
type projectFiles struct{ last atomic.Pointer[projectFile] }

type projectFile struct{ uri, project string }

// project returns "project:///<path>" for the URI of a file, "" where positions are not recorded.
func (f *projectFiles) project(root, uri string) string {
	if known := f.last.Load(); known != nil && known.uri == uri {
		return known.project
	}
	p := projectURI(root, uri)
	f.last.Store(&projectFile{uri: uri, project: p})
	return p
}

func projectURI(root, text string) string {
	uri, err := url.Parse(text)
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
	relative, err := filepath.Rel(root, path)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: "project", Path: "/" + filepath.ToSlash(relative)}).String()
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
