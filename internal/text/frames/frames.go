package frames

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
)

// Files reads the files of a program. It is safe for concurrent use.
type Files struct {
	root string // of the project, absolute

	mu    sync.Mutex // guards texts
	texts map[string]string
}

// Open returns the files below the root of a project, "" for none. They are read when they are needed.
func Open(root string) *Files { return &Files{root: root, texts: map[string]string{}} }

// maxFile is the size of the largest file that is read.
const maxFile = 4 << 20

// Change is a change of a property.
type Change struct {
	Path     property.Path
	Old, New property.Value
}

// Line returns the place of the statement's line that gives the new value of a property: "index.ts:14". The frames are those of the
// registration, the innermost first. Line reports false if no statement names the property.
func (f *Files) Line(frames []state.StackFrame, c Change) (position string, found bool) {
	var best match
	for _, frame := range frames {
		file, line, ok := f.place(frame)
		if !ok {
			continue
		}
		tokens := statement(f.text(file), line, filepath.Ext(file))
		in := strongest(search(tokens, c))
		if in.rank == nowhere && best.rank == computed {
			in = argument(tokens, c)
		}
		in.file = file
		// A value that is computed from an argument comes from the caller.
		if in.rank > best.rank || in.rank == computed && best.rank == computed {
			best = in
		}
		if best.rank == equal {
			break
		}
	}
	return best.position(), best.rank != nowhere
}

// Declaration returns the place of the statement that makes a resource: "index.ts:14". Calls that only pass the registration on are no such
// statements: those of a base class in a constructor, and those of a registration in Go. Declaration reports false if no frame is in the program.
func (f *Files) Declaration(frames []state.StackFrame) (position string, found bool) {
	for _, frame := range frames {
		file, line, ok := f.place(frame)
		if !ok {
			continue
		}
		position, found = match{file: file, line: line}.position(), true
		if !slices.ContainsFunc(statement(f.text(file), line, filepath.Ext(file)), isRegistration) {
			break
		}
	}
	return position, found
}

// isRegistration reports whether a token calls the constructor of a base class, or registers a resource in Go.
func isRegistration(t token) bool {
	if t.kind != name {
		return false
	}
	switch t.text {
	case "super", "RegisterResource", "RegisterComponentResource", "RegisterComponentResourceV2", "RegisterRemoteComponentResource", "ReadResource":
		return true
	}
	return false
}

// argument returns the place at which a statement gives the new value without a name, if there is one such place.
func argument(tokens []token, c Change) match {
	is := c.New.ScalarText()
	var out match
	for _, t := range tokens {
		switch {
		case is == "" || t.text != is || t.kind != quoted && t.kind != number:
		case out.rank != nowhere:
			return match{}
		default:
			out = match{rank: part, line: t.line}
		}
	}
	return out
}

// strongest returns the first match of the highest rank.
func strongest(matches []match) match {
	var best match
	for _, m := range matches {
		if m.rank > best.rank {
			best = m
		}
	}
	return best
}

// place returns the file and the line of a frame in the program itself, and not in a package that it uses.
func (f *Files) place(frame state.StackFrame) (file string, line int, ok bool) {
	u, err := url.Parse(frame.SourcePosition)
	if f.root == "" || err != nil || u.Scheme != "project" {
		return "", 0, false
	}
	file = strings.TrimPrefix(u.Path, "/")
	if !filepath.IsLocal(filepath.FromSlash(file)) || slices.ContainsFunc(strings.Split(file, "/"), isForeign) {
		return "", 0, false
	}
	text, _, _ := strings.Cut(u.Fragment, ",")
	line, err = strconv.Atoi(text)
	return file, line, err == nil && line > 0
}

// isForeign reports whether a folder contains packages of others.
func isForeign(folder string) bool {
	switch folder {
	case "node_modules", "site-packages", "dist-packages", "vendor":
		return true
	}
	return false
}

// text returns the content of a file, "" if it cannot be read.
func (f *Files) text(file string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if text, known := f.texts[file]; known {
		return text
	}
	path := filepath.Join(f.root, filepath.FromSlash(file))
	text := ""
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() <= maxFile {
		if content, err := os.ReadFile(path); err == nil {
			text = string(content)
		}
	}
	f.texts[file] = text
	return text
}

// rank orders the places that name a property by how certain it is that they give the new value.
type rank int

const (
	nowhere  rank = iota
	other         // another value is written there
	computed      // the value is computed there
	part          // a part of the new value is written there, which the old one lacks
	equal         // the new value is written there
)

// match is a place that names a property.
type match struct {
	rank rank
	file string
	line int
}

func (m match) position() string { return m.file + ":" + strconv.Itoa(m.line) }

// search returns the places in a statement that name the property of a change, in their order.
func search(tokens []token, c Change) []match {
	key, ok := keyOf(c.Path)
	if !ok {
		return nil
	}
	old, is := c.Old.ScalarText(), c.New.ScalarText()
	var out []match
	for i, t := range tokens {
		if !t.names(key) {
			continue
		}
		var next, before token
		if i+1 < len(tokens) {
			next = tokens[i+1]
		}
		if i > 0 {
			before = tokens[i-1]
		}
		switch {
		case next.text == ":" || next.text == "=":
			out = append(out, judge(t, valueAt(tokens, i+2), old, is))
		case t.kind == name && (next.text == "," || next.text == "}") && (before.text == "{" || before.text == ","):
			out = append(out, match{rank: computed, line: t.line}) // the short form of name: name
		}
	}
	return out
}

// judge ranks the value that follows the name of a property.
func judge(named token, value []token, old, is string) match {
	m := match{rank: computed, line: named.line}
	literals := 0
	for _, t := range value {
		if t.kind == name || t.kind == sign {
			continue
		}
		literals++
		switch {
		case is != "" && t.text == is:
			return match{rank: equal, line: t.line}
		case is != "" && t.text != "" && strings.Contains(is, t.text) && !strings.Contains(old, t.text):
			m = match{rank: part, line: t.line}
		}
	}
	if literals == len(value) && literals == 1 && m.rank == computed && is != "" {
		m.rank = other
	}
	return m
}

// keyOf returns the last name in a path.
func keyOf(path property.Path) (string, bool) {
	for _, e := range slices.Backward(path) {
		if !e.IsIndex {
			return e.Key, true
		}
	}
	return "", false
}
