// Command serve runs the server of package servicetest until it is interrupted, and then writes the calls that it has received: to compare tools that
// use it in turn. It serves on the loopback interface, for the user alice with the access token pul-alice, and with -anyone for each NAME with the
// token pul-NAME. With -data it can be killed: the next server with the same file has the same data. The status is 1 if there was a call that the
// service would not expect.
//
//	go run ./testing/servicetest/cmd/serve -journal -calls calls.json -url url.txt
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/sluice-iac/sluice/testing/servicetest"
)

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func serve() error {
	journal := flag.Bool("journal", false, "take journals")
	delta := flag.Bool("delta", false, "take differences of checkpoints")
	batch := flag.Bool("batch", true, "take secrets in batches")
	anyone := flag.Bool("anyone", false, "each token pul-NAME is one of the user NAME")
	delay := flag.Duration("delay", 0, "how long each call takes at least")
	calls := flag.String("calls", "", "the file for what was asked")
	url := flag.String("url", "", "the file for the address")
	data := flag.String("data", "", "the file for what the server has")
	address := flag.String("listen", "127.0.0.1:0", "where it listens, with -data")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o := servicetest.Options{
		Users: map[string]string{"pul-alice": "alice"}, Members: map[string][]string{"acme": {"alice"}},
		Journal: *journal, Delta: *delta, Batch: *batch, Delay: *delay, Anyone: *anyone,
	}
	server, err := started(o, *address, *data)
	if err != nil {
		return err
	}
	defer server.Close()
	fmt.Println(server.URL())
	if *url != "" {
		if err := os.WriteFile(*url, []byte(server.URL()), 0o600); err != nil {
			return err
		}
	}
	<-ctx.Done()
	if *calls != "" {
		b, err := json.MarshalIndent(server.Calls(), "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(*calls, b, 0o600); err != nil {
			return err
		}
	}
	violations := server.Violations()
	for _, v := range violations {
		fmt.Fprintln(os.Stderr, "violation:", v)
	}
	if len(violations) > 0 {
		return fmt.Errorf("%d calls were refused that the service would not expect", len(violations))
	}
	return nil
}

func started(o servicetest.Options, address, data string) (*servicetest.Server, error) {
	if data == "" {
		return servicetest.New(o), nil
	}
	return servicetest.Restart(o, address, data)
}
