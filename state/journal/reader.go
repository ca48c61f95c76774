package journal

import (
	"encoding/json"
	"fmt"
)

// Journal is what a journal contains. The content of its records is known to be what was written.
type Journal struct {
	Header Header
	// Torn is how many bytes at the end are not whole records: what was being written when the run was interrupted.
	Torn int

	size    int64 // of the whole records
	entries []*entry
}

// Records is how many records follow the header.
func (j *Journal) Records() int { return len(j.entries) }

// FormatError says that a journal was written by a version of sluice that knows more than this one.
type FormatError struct {
	Name   string // where the journal is
	Format int
	Tool   string // that wrote it
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("%s was written by %s in format %d, and this version of sluice reads format %d; use that version "+
		"to recover it", e.Name, e.Tool, e.Format, format)
}

// DamagedError says that there are records after a place that cannot be read, although they were written only after what
// is there was durable: it has been damaged since.
type DamagedError struct {
	Name   string // where the journal is
	Offset int64  // of the first byte that cannot be understood
	Whole  int    // records before it
	Err    error  // what is wrong there, nil for what is not a frame
}

func (e *DamagedError) Error() string {
	text := fmt.Sprintf("%s is damaged at byte %d, after %d records", e.Name, e.Offset, e.Whole)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *DamagedError) Unwrap() error { return e.Err }

// Read reads a journal, whose name is for messages. A torn tail is left out. It returns nil for a journal of
// which not even the header was written; nothing has been done under it. Errors are a [*FormatError] or a [*DamagedError].
func Read(data []byte, name string) (*Journal, error) {
	payload, rest, ok := cutFrame(data)
	if !ok {
		if nextFrame(data) >= 0 {
			return nil, &DamagedError{Name: name}
		}
		return nil, nil
	}
	j := &Journal{}
	if err := json.Unmarshal(payload, &j.Header); err != nil {
		return nil, &DamagedError{Name: name, Err: err}
	}
	if j.Header.Format != format {
		return nil, &FormatError{name, j.Header.Format, j.Header.Tool}
	}
	group := 0
	for {
		j.size = int64(len(data) - len(rest))
		payload, after, ok := cutFrame(rest)
		if !ok {
			break
		}
		e, err := readEntry(payload, len(j.entries)+1, group)
		if err != nil {
			return nil, &DamagedError{name, j.size, len(j.entries), err}
		}
		j.entries, group, rest = append(j.entries, e), e.Group, after
	}
	if damagedAfter(rest, group) {
		return nil, &DamagedError{Name: name, Offset: j.size, Whole: len(j.entries)}
	}
	j.Torn = len(rest)
	return j, nil
}

func readEntry(payload []byte, number, group int) (*entry, error) {
	e := &entry{}
	if err := json.Unmarshal(payload, e); err != nil {
		return nil, err
	}
	if e.Number != number || e.Group < group || e.Group > group+1 {
		return nil, fmt.Errorf("record %d of group %d follows record %d of group %d", e.Number, e.Group, number-1, group)
	}
	return e, nil
}

// damagedAfter distinguishes damage from a torn tail. What follows the last whole record is torn if it was never durable: the
// group of that record, or the one after it, which may have reached the disk in any order. A record of a later group was
// written only after those were durable.
func damagedAfter(rest []byte, group int) bool {
	for {
		at := nextFrame(rest)
		if at < 0 {
			return false
		}
		payload, after, _ := cutFrame(rest[at:])
		var e entry
		if json.Unmarshal(payload, &e) == nil && e.Group > group+1 {
			return true
		}
		rest = after
	}
}
