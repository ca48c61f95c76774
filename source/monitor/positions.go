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

// positions caches positions in the form of states. Programs declare many resources at few places, each with a stack of positions: together
// with the work this saves most of a small registration's memory. The cache has one entry for each place of a declaration in the program.
// The zero value has no root and drops all.
type positions struct {
	root string // of the project, absolute; "" when unknown

	mu    sync.RWMutex // guards texts
	texts map[positionKey]string
}

type positionKey struct {
	uri          string
	line, column int32
}

// text returns a source position in the form of states: "project:///<path>#<line>[,<column>]" with the path relative to the project's root.
// Anything but an absolute file URI is dropped (protocol.md 4.13).
func (p *positions) text(at *pulumirpc.SourcePosition) string {
	if p.root == "" || at.GetUri() == "" {
		return ""
	}
	key := positionKey{at.GetUri(), at.GetLine(), at.GetColumn()}
	text, known := p.lookup(key)
	if !known {
		text = positionText(p.root, key)
		p.keep(key, text)
	}
	return text
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

// stack converts every frame. One whose position cannot be recorded becomes an empty frame (state.md 1.6).
func (p *positions) stack(t *pulumirpc.StackTrace) []state.StackFrame {
	if len(t.GetFrames()) == 0 {
		return nil
	}
	frames := make([]state.StackFrame, len(t.GetFrames()))
	for i, f := range t.GetFrames() {
		frames[i].SourcePosition = p.text(f.GetPc())
	}
	return frames
}
