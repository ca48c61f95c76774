package main

import (
	"context"
	"fmt"
	"os"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	grpcstatus "google.golang.org/grpc/status"
)

// callEngine is a command that calls both services of the engine at an address, and prints the results.
func callEngine() {
	conn, err := grpc.NewClient(os.Args[1], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err = pulumirpc.NewResourceMonitorClient(conn).SupportsFeature(ctx, &pulumirpc.SupportsFeatureRequest{Id: "secrets"})
	fmt.Print("monitor: ", grpcstatus.Code(err))
	_, err = pulumirpc.NewEngineClient(conn).Log(ctx, &pulumirpc.LogRequest{Severity: pulumirpc.LogSeverity_INFO, Message: "I am here\n"})
	fmt.Print(", engine: ", grpcstatus.Code(err))
}
