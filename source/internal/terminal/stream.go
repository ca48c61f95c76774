package terminal

import "hash/fnv"

// StreamID is a number for the messages of one stream, so that displays join them (protocol.md 9.3). It is never 0, and
// the same name always gives the same number, so that the logs of two runs can be compared.
func StreamID(name string) int32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // never fails
	return int32(h.Sum32()&0x7fffffff) | 1
}
