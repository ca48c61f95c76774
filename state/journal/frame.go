package journal

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// A frame is the length of its payload and the CRC-32C of it, 4 bytes each in little-endian order, and the payload, one
// JSON object (state.md 9.5).
const frameHeader = 8

// payloadStart is the beginning of every payload; see [nextFrame] and [isCut].
const payloadStart = `{"n":`

func checksum(payload []byte) uint32 {
	return crc32.Checksum(payload, crc32.MakeTable(crc32.Castagnoli))
}

// sealFrame completes the frame that begins at start in b, with 8 free bytes before the payload.
func sealFrame(b []byte, start int) {
	payload := b[start+frameHeader:]
	binary.LittleEndian.PutUint32(b[start:], uint32(len(payload))) //nolint:gosec // a record of 4 GB is refused before
	binary.LittleEndian.PutUint32(b[start+4:], checksum(payload))
}

// cutFrame returns the payload of the first frame in data, and the rest. ok is false if there is no whole frame with a
// correct checksum.
func cutFrame(data []byte) (payload, rest []byte, ok bool) {
	if len(data) < frameHeader {
		return nil, data, false
	}
	n := uint64(binary.LittleEndian.Uint32(data))
	if n < uint64(len(payloadStart)) || n > uint64(len(data)-frameHeader) {
		return nil, data, false
	}
	payload = data[frameHeader : frameHeader+n]
	if checksum(payload) != binary.LittleEndian.Uint32(data[4:]) {
		return nil, data, false
	}
	return payload, data[frameHeader+n:], true
}

// nextFrame finds the first whole frame in data after its very start, and returns its offset; -1 if there is none.
func nextFrame(data []byte) int {
	for from := 1 + frameHeader; from < len(data); {
		at := bytes.Index(data[from:], []byte(payloadStart))
		if at < 0 {
			return -1
		}
		start := from + at - frameHeader
		if _, _, ok := cutFrame(data[start:]); ok {
			return start
		}
		from += at + 1
	}
	return -1
}
