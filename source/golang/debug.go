package golang

import (
	"context"
	"errors"
	"net/rpc"
	"net/rpc/jsonrpc"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/source/internal/direct"
	"github.com/sluice-iac/sluice/stages"
)

// usualPort is the port to which editors connect by default for Delve.
const usualPort = 2345

// delve runs a program in Delve and watches it: Delve does not end when the program does, and never reports the exit status.
type delve struct {
	executable string
	debugger   *direct.Debugger
	port       *await.Promise[int]
}

// newDelve finds Delve. name is the name of the program in editors.
func newDelve(name string, log func(stages.LogMessage)) (*delve, error) {
	path, err := exec.LookPath("dlv")
	if err != nil {
		return nil, errors.New("the debugger dlv was not found on your $PATH; install it with " +
			"`go install github.com/go-delve/delve/cmd/dlv@latest`, and put the folder that `go env GOPATH` names, with /bin behind it, on your $PATH")
	}
	d := delve{executable: path, port: await.NewPromise[int]()}
	d.debugger = &direct.Debugger{
		Tool:    "Go, in Delve,",
		Listens: regexp.MustCompile(`^API server listening at: 127\.0\.0\.1:(\d+)$`),
		Noise:   regexp.MustCompile(`^(\S+ )?(warning|info|debug) layer=`),
		Config: func(_ string, port, _ int) map[string]any {
			return map[string]any{"name": name, "type": "go", "request": "attach", "mode": "remote", "host": "127.0.0.1", "port": port}
		},
		Found: func(port int) { d.port.Resolve(port) },
		Log:   log,
	}
	return &d, nil
}

// arguments returns the arguments of Delve for a program that waits at an address. Several clients can be connected: the user's, and this
// process.
func (d *delve) arguments(address, binary string, args []string) []string {
	return append([]string{
		"exec", "--headless", "--api-version=2", "--accept-multiclient", "--check-go-version=false", "--listen=" + address, binary, "--",
	}, args...)
}

// watchInterval is the interval at which Delve is polled for the end of the program.
const watchInterval = 100 * time.Millisecond

// exited matches the message of Delve that the program has ended.
var exited = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^Process \d+ has exited with status (-?\d+)$`) })

// watch ends Delve when the program has ended, and returns the exit status of the program. known is false if the user has ended the
// session. ctx ends when Delve has ended.
func (d *delve) watch(ctx context.Context) (status int, known bool) {
	port, err := d.port.Wait(ctx)
	if err != nil {
		return 0, false
	}
	client, err := jsonrpc.Dial("tcp", "127.0.0.1:"+strconv.Itoa(port))
	if err != nil {
		return 0, false
	}
	defer func() { _ = client.Close() }()
	release := context.AfterFunc(ctx, func() { _ = client.Close() })
	defer release()
	t := time.NewTicker(watchInterval)
	defer t.Stop()
	for program := 0; ; <-t.C {
		var reply struct{ State struct{ Pid int } }
		err := client.Call("RPCServer.State", map[string]any{"NonBlocking": true}, &reply)
		var failed rpc.ServerError
		if err != nil && !errors.As(err, &failed) { // Delve has gone
			end(program)
			return 0, false
		}
		if reply.State.Pid != 0 {
			program = reply.State.Pid
		}
		if m := exited().FindStringSubmatch(string(failed)); m != nil {
			status, err := strconv.Atoi(m[1])
			_ = client.Call("RPCServer.Detach", map[string]any{"Kill": true}, new(any)) // it ends in any case
			return status, err == nil
		}
	}
}

// end ends a program that may have outlived Delve: it has a process group of its own.
func end(program int) {
	if p, err := os.FindProcess(program); err == nil && program > 0 {
		_ = p.Kill()
	}
}
