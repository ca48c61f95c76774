package monitor

import (
	"net/url"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"github.com/sluice-iac/sluice/state"
)

// position returns a source position in the form that states hold: "project:///<path>#<line>[,<column>]" with the path
// relative to the project's root. Anything but an absolute file URI is dropped (protocol.md 4.13).
func (h *handler) position(p *pulumirpc.SourcePosition) string {
	if h.root == "" || p.GetUri() == "" {
		return ""
	}
	key := positionKey{p.GetUri(), p.GetLine(), p.GetColumn()}
	text, known := h.positions.lookup(key)
	if !known {
		text = positionText(h.root, key)
		h.positions.keep(key, text)
	}
	return text
}

// positions remembers what positions look like in states. Programs declare many resources at few places, each with a
// stack of positions: together with the work this saves most of a small registration's memory. There are as many as the
// program has places that declare resources. The zero value is ready for use.
type positions struct {
	mu    sync.RWMutex // guards texts
	texts map[positionKey]string
}

type positionKey struct {
	uri          string
	line, column int32
}

func (p *positions) lookup(k positionKey) (text string, ok bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	text, ok = p.texts[k]
	return text, ok
}

func (p *positions) keep(k positionKey, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.texts == nil {
		p.texts = map[positionKey]string{}
	}
	p.texts[k] = text
}

func positionText(root string, k positionKey) string {
	uri, err := url.Parse(k.uri)
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
	at := strconv.Itoa(int(k.line))
	if k.column != 0 {
		at += "," + strconv.Itoa(int(k.column))
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
