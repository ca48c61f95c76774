// Command floor is the baseline for the engine: a monitor without an engine. It starts a provider plugin and a program,
// passes each registration to the plugin's Check and Create, and answers. It has no state, order, aliases or events. A
// server of the same program with the same plugin can do little less.
//
//	floor [-up] [-delay 10ms] [-profiling PREFIX] <plugin executable> <program executable> [<argument of the program> ...]
//	floor -bare <program executable> [<argument of the program> ...]
//
// With -bare there is no plugin: each registration is answered at once with its inputs, so that only the program takes time.
// // In the arguments "{monitor}" stands for the address of the monitor.
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
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/sourcegraph/conc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/structpb"
)

const project, stack = "bench", "dev"

func main() {
	up := flag.Bool("up", false, "create the resources instead of previewing")
	delay := flag.Duration("delay", 0, "how long each call of the plugin takes")
	bare := flag.Bool("bare", false, "answer without a plugin")
	profiling := flag.String("profiling", "", "write profiles to PREFIX.PID.cpu and PREFIX.PID.mem")
	flag.Parse()
	program := flag.Args()
	var plugin string
	if !*bare && len(program) > 0 {
		plugin, program = program[0], program[1:]
	}
	if len(program) == 0 {
		flag.Usage()
		os.Exit(2)
	}
	err := profiled(*profiling, func() error { return run(context.Background(), plugin, *delay, program, !*up) })
	if err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}

// profiled profiles f; the prefix "" only calls it.
func profiled(prefix string, f func() error) error {
	if prefix == "" {
		return f()
	}
	stem := fmt.Sprintf("%s.%d", prefix, os.Getpid())
	cpu, err := os.Create(stem + ".cpu")
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(cpu); err != nil {
		return errors.Join(err, cpu.Close())
	}
	err = f()
	pprof.StopCPUProfile()
	err = errors.Join(err, cpu.Close())
	memory, memoryErr := os.Create(stem + ".mem")
	if memoryErr != nil {
		return errors.Join(err, memoryErr)
	}
	runtime.GC() // a profile has what was allocated before the last collection
	return errors.Join(err, pprof.WriteHeapProfile(memory), memory.Close())
}

// environment is that of the child processes. Their collectors do not report in the output of this one, if it is asked to report its own.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GODEBUG=") })
}

// run runs the program with a monitor in front of a plugin; with no plugin if its name is "".
func run(ctx context.Context, plugin string, delay time.Duration, program []string, preview bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := &monitor{preview: preview}
	if plugin != "" {
		provider, stop, err := startPlugin(ctx, plugin, delay)
		if err != nil {
			return err
		}
		defer stop()
		m.provider = provider
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := grpc.NewServer(grpc.MaxConcurrentStreams(math.MaxUint32))
	pulumirpc.RegisterResourceMonitorServer(server, m)
	pulumirpc.RegisterEngineServer(server, &engine{})
	var serving conc.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) })
	defer serving.Wait()
	defer server.Stop()
	return runProgram(ctx, program, listener.Addr().String(), preview)
}

// startPlugin starts the plugin and reads its port, which the plugin prints.
func startPlugin(ctx context.Context, executable string, delay time.Duration) (pulumirpc.ResourceProviderClient, func(), error) {
	cmd := exec.CommandContext(ctx, executable)
	cmd.Stderr, cmd.Env = os.Stderr, environment()
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
	config := &structpb.Struct{Fields: map[string]*structpb.Value{"delayMs": structpb.NewNumberValue(float64(delay.Milliseconds()))}}
	if _, err := client.Configure(ctx, &pulumirpc.ConfigureRequest{Args: config, AcceptSecrets: true}, grpc.WaitForReady(true)); err != nil {
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
	cmd.Env = append(environment(), "PULUMI_MONITOR="+address, "PULUMI_ENGINE="+address, "PULUMI_PROJECT="+project, "PULUMI_STACK="+stack,
		"PULUMI_ORGANIZATION=organization", "PULUMI_CONFIG={}", "PULUMI_DRY_RUN="+strconv.FormatBool(preview), "PULUMI_PARALLEL=0")
	output, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return fmt.Errorf("%s ended with %w:\n%s", executable, err, output)
	}
	return err
}
