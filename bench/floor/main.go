// Command floor is the baseline for the engine: a monitor without an engine. It starts a provider plugin and a program,
// passes each registration to the plugin's Check and Create, and answers. It has no state, order, aliases or events. A
// server of the same program with the same plugin can do little less.
//
//	floor [-up] <plugin executable> <program executable> [<argument of the program> ...]
//
// In the arguments "{monitor}" stands for the address of the monitor.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/sourcegraph/conc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/structpb"
)

const project, stack = "bench", "dev"

func main() {
	up := flag.Bool("up", false, "create the resources instead of previewing")
	flag.Parse()
	if flag.NArg() < 2 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(context.Background(), flag.Arg(0), flag.Args()[1:], !*up); err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, plugin string, program []string, preview bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	provider, stop, err := startPlugin(ctx, plugin)
	if err != nil {
		return err
	}
	defer stop()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := grpc.NewServer(grpc.MaxConcurrentStreams(math.MaxUint32))
	m := &monitor{provider: provider, preview: preview}
	pulumirpc.RegisterResourceMonitorServer(server, m)
	pulumirpc.RegisterEngineServer(server, &engine{})
	var serving conc.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) })
	defer serving.Wait()
	defer server.Stop()
	return runProgram(ctx, program, listener.Addr().String(), preview)
}

// startPlugin starts the plugin and reads its port, which the plugin prints.
func startPlugin(ctx context.Context, executable string) (pulumirpc.ResourceProviderClient, func(), error) {
	cmd := exec.CommandContext(ctx, executable)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	stop := func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // the error is that it was killed
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return nil, nil, fmt.Errorf("reading the port of %s: %w", executable, err)
	}
	conn, err := grpc.NewClient("passthrough:///127.0.0.1:"+strings.TrimSpace(line), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		stop()
		return nil, nil, err
	}
	client := pulumirpc.NewResourceProviderClient(conn)
	if _, err := client.Configure(ctx, &pulumirpc.ConfigureRequest{Args: &structpb.Struct{}, AcceptSecrets: true}, grpc.WaitForReady(true)); err != nil {
		stop()
		return nil, nil, err
	}
	return client, func() { _ = conn.Close(); stop() }, nil
}

func runProgram(ctx context.Context, program []string, address string, preview bool) error {
	executable, args := program[0], slices.Clone(program[1:])
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "{monitor}", address)
	}
	cmd := exec.CommandContext(ctx, executable, args...)
	cmd.Env = append(os.Environ(), "PULUMI_MONITOR="+address, "PULUMI_ENGINE="+address, "PULUMI_PROJECT="+project, "PULUMI_STACK="+stack,
		"PULUMI_ORGANIZATION=organization", "PULUMI_CONFIG={}", "PULUMI_DRY_RUN="+strconv.FormatBool(preview), "PULUMI_PARALLEL=0")
	output, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return fmt.Errorf("%s ended with %w:\n%s", executable, err, output)
	}
	return err
}
