package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/spf13/pflag"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	sdk "go.temporal.io/sdk/worker"

	"github.com/sluice-iac/sluice/fleet/run"
	"github.com/sluice-iac/sluice/fleet/seal"
	"github.com/sluice-iac/sluice/fleet/server"
	"github.com/sluice-iac/sluice/fleet/spec"
	"github.com/sluice-iac/sluice/fleet/watch"
	"github.com/sluice-iac/sluice/fleet/worker"
	"github.com/sluice-iac/sluice/pipeline/await"
)

// global are the flags of all commands.
type global struct {
	directory, file, sluice string
	variables               []string
	address                 server.Address
	metrics                 *metrics // nil unless they are enabled
}

func (g *global) add(f *pflag.FlagSet) {
	f.StringVarP(&g.directory, "cwd", "C", "", "run as if started in this directory")
	f.StringVarP(&g.file, "file", "f", spec.FileName, "the `file` that describes the fleet")
	f.StringArrayVar(&g.variables, "var", nil, "set a variable of fleet.yaml, as `name=value`; may be repeated")
	f.StringVar(&g.sluice, "sluice", "", "the sluice `program` to run; the one beside sluice-fleet or on PATH if not given")
	f.StringVar(&g.address.Host, "address", os.Getenv("SLUICE_FLEET_ADDRESS"), "the Temporal server, as `host:port` (SLUICE_FLEET_ADDRESS); one of its own if not given")
	f.StringVar(&g.address.Namespace, "namespace", or(os.Getenv("SLUICE_FLEET_NAMESPACE"), "default"), "the namespace on that server (SLUICE_FLEET_NAMESPACE)")
	tls, _ := strconv.ParseBool(os.Getenv("SLUICE_FLEET_TLS")) // an invalid value is false
	f.BoolVar(&g.address.TLS, "tls", tls, "use TLS for that server (SLUICE_FLEET_TLS); the default with an API key or a certificate")
	f.StringVar(&g.address.CA, "tls-ca", os.Getenv("SLUICE_FLEET_TLS_CA"), "a `file` with the authorities for the certificate of that server (SLUICE_FLEET_TLS_CA)")
	f.StringVar(&g.address.Cert, "tls-cert", os.Getenv("SLUICE_FLEET_TLS_CERT"), "a `file` with a certificate for this client (SLUICE_FLEET_TLS_CERT)")
	f.StringVar(&g.address.Key, "tls-key", os.Getenv("SLUICE_FLEET_TLS_KEY"), "a `file` with the key of that certificate (SLUICE_FLEET_TLS_KEY)")
	f.StringVar(&g.address.ServerName, "tls-server-name", os.Getenv("SLUICE_FLEET_TLS_SERVER_NAME"), "the `name` in the certificate of that server (SLUICE_FLEET_TLS_SERVER_NAME)")
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// read reads fleet.yaml.
func (g *global) read() (*spec.Fleet, error) {
	if g.directory != "" {
		if err := os.Chdir(g.directory); err != nil {
			return nil, usagef("%v", err)
		}
		g.directory = ""
	}
	values := map[string]string{}
	for _, v := range g.variables {
		name, value, whole := strings.Cut(v, "=")
		if !whole {
			return nil, usagef("--var %s: write name=value", v)
		}
		values[name] = value
	}
	f, err := spec.Read(g.file, values)
	if errors.Is(err, os.ErrNotExist) {
		return nil, usagef("%v", err)
	}
	return f, err
}

// session is a fleet with the connection to its server.
type session struct {
	*global
	fleet  *spec.Fleet
	home   server.Home
	client *watch.Client
	works  client.Client  // for workers: on the fleet's own server, it has fewer rights
	joined *server.Joined // nil with --address
}

// connect reads fleet.yaml and connects with the server. It starts the fleet's own server unless that runs.
func (g *global) connect(ctx context.Context) (*session, error) {
	f, err := g.read()
	if err != nil {
		return nil, err
	}
	s := &session{global: g, fleet: f}
	if s.home, err = server.HomeOf(f.Root); err != nil {
		return nil, err
	}
	key, err := s.key(ctx)
	if err != nil {
		return nil, err
	}
	data, failures, err := seal.Converters(key)
	if err != nil {
		return nil, err
	}
	options, err := s.serverOptions(ctx)
	if err != nil {
		return nil, err
	}
	logger, err := openLog(s.home.Path("worker.log"))
	if err != nil {
		return nil, err
	}
	connect := func(o client.Options) (client.Client, error) {
		if s.metrics != nil {
			o.MetricsHandler = s.metrics.handler
		}
		return server.Connect(ctx, o, data, failures, logger)
	}
	c, err := connect(options)
	if err != nil {
		s.close()
		return nil, err
	}
	s.client = &watch.Client{Client: c, Namespace: options.Namespace, Data: data, Failures: failures}
	if s.works = c; s.joined != nil {
		if s.works, err = connect(s.joined.Options(server.Worker)); err != nil {
			s.close()
			return nil, err
		}
	}
	return s, nil
}

// key returns the key that encrypts the data on the server.
func (s *session) key(ctx context.Context) (seal.Key, error) {
	var wrapped *seal.Wrapped
	if k := s.fleet.Key; k != nil {
		w := seal.Wrapped(*k)
		wrapped = &w
	}
	key, err := seal.ReadKey(ctx, os.LookupEnv, wrapped, s.home.Path("key"), s.address.Host == "")
	if err != nil {
		return nil, usagef("%v", err)
	}
	return key, nil
}

func (s *session) serverOptions(ctx context.Context) (client.Options, error) {
	if s.address.Host != "" {
		s.address.APIKey = os.Getenv("SLUICE_FLEET_API_KEY")
		o, err := s.address.Options()
		if err != nil {
			return o, usagef("%v", err)
		}
		return o, nil
	}
	var err error
	s.joined, err = server.Join(ctx, s.home, "server", "--data", s.fleet.Root)
	if err != nil {
		return client.Options{}, err
	}
	return s.joined.Options(server.Client), nil
}

func (s *session) close() {
	if s.works != nil && s.joined != nil {
		s.works.Close()
	}
	if s.client != nil {
		s.client.Close()
	}
	if s.joined != nil {
		_ = s.joined.Close() // the system releases the lock too
	}
}

// follow shows a run until it is over. Interrupts cancel it.
func (s *session) follow(ctx context.Context, id string, show *show) (watch.State, error) {
	following, leave := context.WithCancel(ctx)
	defer leave()
	signals, stop := newSignals()
	defer stop()
	var wg conc.WaitGroup
	defer wg.Wait()
	defer leave()
	wg.Go(func() {
		for count := 1; signals(following); count++ {
			switch count {
			case 1:
				show.note("stopping: running operations finish, and no others begin; press ^C again to abort them")
				_, _ = s.client.Cancel(following, id) // on an error, the run is over
			case 2:
				show.note("aborting; press ^C again to leave the run to itself")
				if err := s.client.Abort(following, id); err != nil && following.Err() == nil {
					show.note(fmt.Sprintf("it is not aborted: %v; `sluice fleet cancel --abort` tries again", err))
				}
			default:
				leave()
			}
		}
	})
	end, err := s.client.Follow(following, id, show.every(), show.look, show.note)
	if err != nil && ctx.Err() == nil && following.Err() != nil {
		return end, &statusError{status: statusCancelled, err: fmt.Errorf("the run %s was left to itself; the same command follows it again", id)}
	}
	return end, err
}

// pick returns the named run, or the newest one. If open is true, it returns the newest one that has not ended.
func (s *session) pick(ctx context.Context, args []string, open bool) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	var runs []watch.Run
	err := server.Persist(ctx, time.Minute, func(ctx context.Context) (err error) {
		runs, err = s.client.History(ctx, s.fleet.Name, 1000)
		return err
	})
	if err != nil {
		return "", err
	}
	for _, r := range runs {
		if !open || r.Ended.IsZero() {
			return r.ID, nil
		}
	}
	if open {
		return "", errors.New("no run of the fleet goes on; `sluice fleet history` lists those that have ended")
	}
	return "", errors.New("the fleet has had no run")
}

// startWorkers starts workers for the fleet's workflows and for the queues of operations, with at most so many operations at once. stop
// interrupts running operations, which another worker then continues.
func (s *session) startWorkers(ctx context.Context, queues []string, most int) (stop func(), err error) {
	path, err := worker.FindSluice(s.sluice)
	if err != nil {
		return nil, usagef("%v", err)
	}
	w, err := worker.New(ctx, s.fleet, s.home, path, s.works)
	if err != nil {
		return nil, err
	}
	var started []sdk.Worker
	stop = func() {
		for _, w := range started {
			w.Stop()
		}
	}
	start := func(queue string, o sdk.Options, register func(sdk.Worker)) error {
		o.OnFatalError = func(err error) {
			fmt.Fprintf(errs(), "error: no work is taken from the queue %s any more: %v\n", queue, err)
		}
		one, err := startWorker(ctx, s.works, queue, o, register)
		if err == nil {
			started = append(started, one)
		}
		return err
	}
	err = start(run.WorkflowQueue(s.fleet.Name), sdk.Options{LocalActivityWorkerOnly: true}, func(one sdk.Worker) {
		run.Register(one)
		limits := worker.Limits{Client: s.works}
		one.RegisterActivityWithOptions(limits.Ask, activity.RegisterOptions{Name: run.AskActivity})
		one.RegisterActivityWithOptions(limits.Ended, activity.RegisterOptions{Name: run.EndedActivity})
	})
	for _, queue := range queues {
		if err != nil {
			break
		}
		err = start(run.ActivityQueue(s.fleet.Name, queue), sdk.Options{
			DisableWorkflowWorker: true, MaxConcurrentActivityExecutionSize: most, WorkerStopTimeout: time.Minute,
			MaxHeartbeatThrottleInterval: 2 * time.Second, DefaultHeartbeatThrottleInterval: 2 * time.Second,
		}, func(one sdk.Worker) {
			one.RegisterActivityWithOptions(w.Survey, activity.RegisterOptions{Name: run.SurveyActivity})
			one.RegisterActivityWithOptions(w.Perform, activity.RegisterOptions{Name: run.PerformActivity})
		})
	}
	if err != nil {
		stop()
		return nil, err
	}
	return stop, nil
}

// startWorker starts a worker for one queue. It waits for a server that restarts in the meantime.
func startWorker(ctx context.Context, c client.Client, queue string, o sdk.Options, register func(sdk.Worker)) (sdk.Worker, error) {
	waiting, cancel := context.WithTimeout(ctx, server.Patience)
	defer cancel()
	for {
		one := sdk.New(c, queue, o)
		register(one)
		err := one.Start()
		if err == nil {
			return one, nil
		}
		if !server.IsPassing(err) || await.For(waiting, time.Second) != nil {
			return nil, fmt.Errorf("take from the queue %s: %w", queue, err)
		}
	}
}

// who returns the name of the user who gives a command, for approvals and histories.
func who() string {
	host, _ := os.Hostname()
	name := os.Getenv("USER")
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	return fmt.Sprintf("%s@%s", filepath.Base(or(name, "somebody")), host)
}

// mostLog is the size in bytes from which the log is overwritten.
const mostLog = 16 << 20

// openLog returns a logger that appends warnings of Temporal's client to a file. It truncates a long one.
func openLog(path string) (log.Logger, error) {
	how := os.O_CREATE | os.O_APPEND | os.O_WRONLY
	if info, err := os.Stat(path); err == nil && info.Size() > mostLog {
		how |= os.O_TRUNC
	}
	f, err := os.OpenFile(path, how, 0o600)
	if err != nil {
		return nil, err
	}
	// The file is open as long as the process runs.
	return log.NewStructuredLogger(slog.New(slog.NewTextHandler(f, &slog.HandlerOptions{Level: slog.LevelWarn}))), nil
}
