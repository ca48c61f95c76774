package main

import (
	"context"
	"fmt"
	"os"
	"path"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	grpcstatus "google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// garbled is an answer that cannot be decoded.
type garbled struct{}

// faultyCodec is gRPC's codec, but it can also encode a message that cannot be decoded.
type faultyCodec struct{}

// faults are the options of servers that fail in the method in FAKE_FAULT: "<method> <fault>", where the fault is one of
//
//	dies      the process ends
//	garbled   the answer is not a message
//	silent    an error without a text
//	hangs     the answer comes after the caller has given up; in the meantime the file hanging is in the folder of the process
//	text      the answer to GetSchema is a web page
//	unreasoned  the answer to Check is a failure without a reason
func faults() []grpc.ServerOption {
	method, fault, _ := strings.Cut(os.Getenv("FAKE_FAULT"), " ")
	return []grpc.ServerOption{
		grpc.ForceServerCodec(faultyCodec{}),
		grpc.UnaryInterceptor(func(ctx context.Context, req any, call *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
			if path.Base(call.FullMethod) != method {
				return handle(ctx, req)
			}
			lastWords := func() { fmt.Fprintln(os.Stderr, "my last words in", method) } // they may come after an answer
			switch fault {
			case "dies":
				lastWords()
				os.Exit(4)
			case "garbled":
				return garbled{}, nil
			case "silent":
				return nil, grpcstatus.Error(codes.Unknown, "")
			case "hangs":
				lastWords()
				if err := os.WriteFile("hanging", nil, 0o600); err != nil {
					return nil, err
				}
				<-ctx.Done()
				return nil, ctx.Err()
			case "text":
				return &pulumirpc.GetSchemaResponse{Schema: "<html>"}, nil
			case "unreasoned":
				return &pulumirpc.CheckResponse{Failures: []*pulumirpc.CheckFailure{{}}}, nil
			}
			panic("unknown fault " + fault)
		}),
	}
}

func (faultyCodec) Name() string { return "proto" }

func (faultyCodec) Marshal(v any) ([]byte, error) {
	if _, is := v.(garbled); is {
		return []byte{0xff}, nil
	}
	return proto.Marshal(v.(proto.Message))
}

func (faultyCodec) Unmarshal(b []byte, v any) error { return proto.Unmarshal(b, v.(proto.Message)) }
