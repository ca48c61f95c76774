package plugin

import (
	"slices"
	"strings"

	"google.golang.org/grpc/status"
)

// unsent are the beginnings of gRPC's messages in a plugin when the provider has done its work and the plugin cannot send
// the answer. The codes do not show that: providers use them for their own errors, too.
var unsent = []string{
	"grpc: error while marshaling: ", "grpc: error while compressing: ", // Go
	"grpc: trying to send message larger than max (", "grpc: message too large (",
	"Error serializing response: ", "Sent message larger than max (", // Node.js
	"Failed to serialize response!", "SERVER: Sent message larger than max (", // Python
}

// unread are the beginnings of gRPC's messages in the engine when an answer has arrived and cannot be read.
var unread = []string{
	"grpc: failed to unmarshal the received message: ", "grpc: failed to decompress the received message: ",
	"grpc: failed to decompress the message: ", "grpc: failed to read decompressed data: ",
	"grpc: no decompressor available for compressed payload", "cardinality violation: ",
}

// oversized are the beginnings of gRPC's messages about a message that is too large. If an answer has begun, the error is
// from the engine; otherwise from the plugin, which has then not read the request.
var oversized = []string{
	"grpc: received message larger than max ", "grpc: message after decompression larger than max ",
	"grpc: received message after decompression larger than max ",
}

// missing describes how the answer to a call was lost that the provider has carried out: the plugin could not encode it,
// or the engine cannot decode it. It returns "" for every other error.
func missing(err error, w *watch) string {
	if !w.sent.Load() && !w.answered.Load() {
		return "" // the request could not be encoded
	}
	switch {
	case says(err, unsent):
		return "could not encode its answer"
	case says(err, unread), says(err, oversized) && w.begun.Load():
		return "gave an answer that cannot be decoded"
	case w.detailed.Load() && len(status.Convert(err).Details()) == 0:
		return "gave an error with details that cannot be decoded"
	}
	return ""
}

// says reports whether the message of an error begins in one of these ways.
func says(err error, beginnings []string) bool {
	message := status.Convert(err).Message()
	return slices.ContainsFunc(beginnings, func(b string) bool { return strings.HasPrefix(message, b) })
}
