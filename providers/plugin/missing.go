package plugin

import (
	"context"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
)

// unsent are the beginnings of what gRPC says in a plugin when the provider has done its work and the plugin cannot send the
// answer. The codes do not show that: providers use them for their own errors, too.
var unsent = []string{
	"grpc: error while marshaling: ", "grpc: error while compressing: ", // Go
	"grpc: trying to send message larger than max (", "grpc: message too large (",
	"Error serializing response: ", "Sent message larger than max (", // Node.js
	"Failed to serialize response!", "SERVER: Sent message larger than max (", // Python
}

// unread are the beginnings of what gRPC says here when an answer has arrived and cannot be read.
var unread = []string{
	"grpc: failed to unmarshal the received message: ", "grpc: failed to decompress the received message: ",
	"grpc: failed to decompress the message: ", "grpc: failed to read decompressed data: ",
	"grpc: no decompressor available for compressed payload", "cardinality violation: ",
}

// oversized are the beginnings of what gRPC says where a message arrives that is too large. That is here when an answer has
// begun; else it is in the plugin, which has then not read the request.
var oversized = []string{
	"grpc: received message larger than max ", "grpc: message after decompression larger than max ",
	"grpc: received message after decompression larger than max ",
}

// missing says how the answer to a call got lost that the provider has carried out: the plugin could not encode it, or it
// cannot be decoded here. It returns "" for every other error.
func missing(err error, w *watch) string {
	if !w.sent.Load() && !w.answered.Load() {
		return "" // it is the request that could not be encoded
	}
	st := status.Convert(err)
	says := func(beginnings []string) bool {
		return slices.ContainsFunc(beginnings, func(b string) bool { return strings.HasPrefix(st.Message(), b) })
	}
	switch {
	case says(unsent):
		return "could not encode its answer"
	case says(unread), says(oversized) && w.begun.Load():
		return "gave an answer that cannot be decoded"
	case w.detailed.Load() && len(st.Details()) == 0:
		return "gave an error with details that cannot be decoded"
	}
	return ""
}

// titlePatience is how long a plugin may take to say its version.
const titlePatience = time.Second

// title names the provider in messages about its faults: the plugin with its version. That is what the plugin says itself,
// as one that is found on the PATH need not have the version that was asked for.
func (c *client) title() string {
	ctx, cancel := context.WithTimeout(context.Background(), titlePatience)
	defer cancel()
	version := c.version
	if info, err := c.rpc.GetPluginInfo(ctx, &emptypb.Empty{}); err == nil && info.GetVersion() != "" {
		version = info.GetVersion()
	}
	if version == "" {
		return c.plugin
	}
	return c.plugin + " " + version
}
