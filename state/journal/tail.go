package journal

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
)

// tail is the part of a journal after its last whole record.
//
// It is torn if it comes from an incomplete write: then it was never reported as durable. Such a write has left the
// beginning of a record, or, when the machine went down, zeros in place of the parts that did not reach the disk. Any other
// tail was complete and has been damaged since.
type tail struct {
	data          []byte
	offset        int64 // in the journal
	number, group int   // of the last whole record; -1 if not even the header is whole
}

// fault returns how a tail has been damaged, nil for a torn one.
func (t tail) fault() error {
	if t.isFollowed() {
		return errors.New("later records were written after it was durable")
	}
	if len(t.data) < frameHeader {
		return nil
	}
	n, payload := int64(binary.LittleEndian.Uint32(t.data)), t.data[frameHeader:]
	switch {
	case t.hasHole(frameHeader + n):
		return nil
	case n <= int64(len(payload)):
		return errors.New("a record is complete and does not fit its checksum")
	case !isCut(payload):
		return errors.New("a record does not fit its length")
	}
	return nil
}

// isFollowed reports whether a later record exists that was written when the whole tail, or a part of it, was durable. Until
// the group of the last whole record is durable, and until the one after it is, their parts may reach the disk in any order.
// The records of the one after it contain the number of its first record, except in journals of the first versions of sluice.
func (t tail) isFollowed() bool {
	for rest := t.data; ; {
		at := nextFrame(rest)
		if at < 0 {
			return false
		}
		payload, after, _ := cutFrame(rest[at:])
		var e entry
		if json.Unmarshal(payload, &e) == nil && (e.Group > t.group+1 || e.First > t.number+1) {
			return true
		}
		rest = after
	}
}

// Whole sectors may be missing from the disk. Runs of zeros shorter than shortestHole occur in lengths, or where a
// single word was changed. Both constants are in bytes.
const (
	sector       = 512
	shortestHole = 8
)

// hasHole reports whether zeros replace a part of the tail before limit: from the beginning of the tail, or of a sector, to
// the end of a sector or of the file; or from anywhere to the end of the file, as some file systems leave it.
func (t tail) hasHole(limit int64) bool {
	for at := 0; at < len(t.data); {
		begin := bytes.IndexByte(t.data[at:], 0)
		if begin < 0 {
			return false
		}
		begin += at
		end := begin + len(t.data[begin:]) - len(bytes.TrimLeft(t.data[begin:], "\x00"))
		at = end
		if end < len(t.data) {
			end -= int((t.offset + int64(end)) % sector)
			if over := int((t.offset + int64(begin)) % sector); begin > 0 && over > 0 {
				begin += sector - over
			}
		}
		if end-begin >= shortestHole && int64(begin) < limit {
			return true
		}
	}
	return false
}

// isCut reports whether a payload that is shorter than its length is cut off, rather than a whole one whose length was
// changed: a JSON object shows its own end.
func isCut(payload []byte) bool {
	payload = bytes.TrimRight(payload, "\x00")
	if !bytes.HasPrefix(payload, []byte(payloadStart)) {
		return bytes.HasPrefix([]byte(payloadStart), payload)
	}
	err := json.NewDecoder(bytes.NewReader(payload)).Decode(new(json.RawMessage))
	return errors.Is(err, io.ErrUnexpectedEOF)
}
