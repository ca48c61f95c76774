package plugins

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/providers/plugin/install"
)

// progress shows installations: a line when a download begins, and on a terminal a last line with the progress of all.
type progress struct {
	terminal *terminal.Terminal

	mu   sync.Mutex // guards the rest
	line *display.Line
	now  map[int]install.Progress // running installations, by the number of their request
	last time.Time
}

func newProgress(t *terminal.Terminal) *progress {
	p := &progress{terminal: t, now: map[int]install.Progress{}}
	if t.Live() {
		p.line = display.NewLine(t.Styled(), t.Width, t.Colored())
	}
	return p
}

// redrawn is the time between two drawings of the last line.
const redrawn = 100 * time.Millisecond

func (p *progress) observe(request int, n install.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n.Silent > 0 {
		p.say("nothing has come from %s for %s; %s is still waited for", n.URL, n.Silent, n.Plugin)
		return
	}
	before, known := p.now[request]
	begins := !known || before.Phase != n.Phase || before.URL != n.URL
	if n.Phase != install.Downloading {
		n.Done, n.Total = before.Done, before.Total // the download is over, and counts
	}
	p.now[request] = n
	switch {
	case begins && n.Phase == install.Waiting:
		p.say("waiting for another process that installs %s", n.Plugin)
	case begins && n.Phase == install.Downloading && n.Done > 0:
		p.say("downloading %s from %s, going on after %s", n.Plugin, n.URL, format.Bytes(n.Done))
	case begins && n.Phase == install.Downloading:
		p.say("downloading %s from %s", n.Plugin, n.URL)
	case begins && n.Phase == install.Verified:
		p.say("the checksum of %s matches the one at %s", n.Plugin, n.URL)
	case begins && n.Phase == install.Completing:
		p.say("installing what %s needs", n.Plugin)
	case n.Phase == install.Complete:
		p.say("installed %s", n.Plugin)
	}
	if p.line != nil && (begins || time.Since(p.last) >= redrawn) {
		p.last = time.Now()
		p.line.Draw(p.text())
	}
}

func (p *progress) say(text string, args ...any) {
	if p.line != nil {
		p.line.Clear()
	}
	fmt.Fprintf(p.terminal.Err, text+"\n", args...)
}

// ended removes a request, and shows its result if nothing else does.
func (p *progress) ended(request int, got install.Installed, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.now, request)
	if err == nil && got.Present {
		p.say("%s %s %s is installed already", got.Kind, got.Name, got.Version)
	}
	if p.line != nil {
		p.line.Clear()
	}
}

// close removes the last line.
func (p *progress) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.line != nil {
		p.line.Clear()
	}
}

// barWidth is the number of cells of a bar.
const barWidth = 24

// text describes the running installations.
func (p *progress) text() string {
	var names []string
	var done, total int64
	known := true
	for _, request := range slices.Sorted(maps.Keys(p.now)) {
		n := p.now[request]
		names = append(names, n.Plugin)
		done, total, known = done+n.Done, total+n.Total, known && (n.Total > 0 || n.Phase != install.Downloading)
	}
	what := strings.Join(names, ", ")
	if len(names) > 1 {
		what = fmt.Sprintf("%d plugins", len(names))
	}
	if !known || total == 0 {
		return fmt.Sprintf("%s  %s", format.Bytes(done), what)
	}
	full := int(done * barWidth / total)
	return fmt.Sprintf("[%s%s] %3d%% of %s  %s", strings.Repeat("#", full), strings.Repeat(".", barWidth-full), done*100/total, format.Bytes(total), what)
}
