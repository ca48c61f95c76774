package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/common/testing/freeport"
	schema "go.temporal.io/server/schema/sqlite"
	"go.temporal.io/server/temporal"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/sluice-iac/sluice/internal/platform/private"
	"github.com/sluice-iac/sluice/pipeline/await"
)

// Namespace is the namespace of a fleet's own server.
const Namespace = "sluice-fleet"

// Kept is how long the data of ended runs is kept.
const Kept = 30 * 24 * time.Hour

// idle is how long a server goes on without users.
const idle = 10 * time.Second

// Run serves the fleet with this folder until the context ends, or the server has been idle for a moment. It returns at once if another server uses
// the folder.
func Run(ctx context.Context, h Home) error {
	mine := h.serverLock()
	held, err := mine.TryLock()
	if err != nil || !held {
		return err
	}
	defer func() { _ = mine.Unlock() }() // the system releases it when the process ends
	shown, err := newCertificate()
	if err != nil {
		return err
	}
	where := begin(shown.Certificate[0])
	s, err := start(h, where, shown)
	if err != nil {
		return fmt.Errorf("start the server of the fleet: %w", err)
	}
	defer func() { _ = s.Stop() }() // nothing waits for it any longer
	if err := h.publish(where); err != nil {
		return err
	}
	users := h.usersLock()
	defer func() { _ = users.Unlock() }()
	for alone := time.Duration(0); alone < idle; {
		if await.For(ctx, time.Second) != nil {
			return nil
		}
		switch free, err := users.TryLock(); {
		case err != nil:
			return err
		case !free:
			alone = 0
			continue
		}
		if alone += time.Second; alone < idle {
			_ = users.Unlock()
		}
	}
	return nil // while holding the lock of the users, so that a new one waits until the server has ended
}

// start starts a server at an address, with a certificate.
func start(h Home, where Place, shown tls.Certificate) (temporal.Server, error) {
	port, err := portOf(where.Address)
	if err != nil {
		return nil, err
	}
	http, err := portOf(where.HTTP)
	if err != nil {
		return nil, err
	}
	c, hosts := configuration(h.database(), port, http)
	sql := c.Persistence.DataStores[sqlite.PluginName].SQL
	if err := makeDatabase(h); err != nil {
		return nil, err
	}
	attributes := map[string]enumspb.IndexedValueType{}
	for _, name := range SearchAttributes {
		attributes[name] = enumspb.INDEXED_VALUE_TYPE_KEYWORD
	}
	ns, err := schema.NewNamespaceConfig(c.ClusterMetadata.CurrentClusterName, Namespace, false, attributes)
	if err != nil {
		return nil, err
	}
	ns.Detail.Config.Retention = durationpb.New(Kept)
	if err := schema.CreateNamespaces(sql, ns); err != nil {
		return nil, err
	}
	among, err := amongServices()
	if err != nil {
		return nil, err
	}
	among.FrontendServerConfig = &tls.Config{Certificates: []tls.Certificate{shown}, MinVersion: tls.VersionTLS13}
	s, err := temporal.NewServer(
		temporal.WithConfig(c),
		temporal.ForServices(append([]string{string(primitives.InternalFrontendService)}, temporal.DefaultServices...)),
		temporal.WithStaticHosts(hosts),
		temporal.WithLogger(log.NewZapLogger(log.BuildZapLogger(log.Config{Level: "error", OutputFile: h.path("server.log")}))),
		temporal.WithTLSConfigFactory(among),
		temporal.WithAuthorizer(authorizer{}),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper { return tokens(where.Tokens) }),
		temporal.WithDynamicConfigClient(dynamicconfig.StaticClient{
			// All queries and signals of a fleet come from one client, which follows the run.
			dynamicconfig.FrontendRPS.Key():                        10_000,
			dynamicconfig.FrontendMaxNamespaceRPSPerInstance.Key(): 10_000,
		}),
	)
	if err != nil {
		return nil, err
	}
	return s, s.Start()
}

// makeDatabase creates a missing database, accessible only to its owner. If it is killed, it leaves no partial database.
func makeDatabase(h Home) error {
	// SQLite gives additional files the permissions of the database.
	for _, end := range databaseFiles {
		if err := os.Chmod(h.database()+end, private.File); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if _, err := os.Stat(h.database()); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	next := h.database() + ".new"
	for _, end := range databaseFiles {
		if err := os.Remove(next + end); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if err := private.Write(next, nil); err != nil {
		return err
	}
	c, _ := configuration(next, 0, 0)
	sql := c.Persistence.DataStores[sqlite.PluginName].SQL
	sql.ConnectAttributes["journal_mode"] = "delete" // with a write-ahead log, it would consist of two files
	if err := schema.SetupSchema(sql); err != nil {
		return err
	}
	return os.Rename(next, h.database())
}

// databaseFiles are the suffixes of the files of a database.
var databaseFiles = []string{"", "-wal", "-shm", "-journal"}

// SearchAttributes are the attributes by which runs and stacks can be found.
var SearchAttributes = []string{"SluiceFleet", "SluiceOperation", "SluiceStack"}

// configuration returns the configuration of a server with its data in a file, and all its services on loopback.
func configuration(database string, port, http int) (*config.Config, map[primitives.ServiceName]static.Hosts) {
	const name = "active"
	c := &config.Config{
		Persistence: config.Persistence{
			DefaultStore: sqlite.PluginName, VisibilityStore: sqlite.PluginName, NumHistoryShards: 4,
			DataStores: map[string]config.DataStore{sqlite.PluginName: {SQL: &config.SQL{
				PluginName: sqlite.PluginName, DatabaseName: database,
				// A killed server loses nothing. A machine that loses power may lose the last moment; repeated operations then have nothing to do.
				ConnectAttributes: map[string]string{"mode": "rwc", "journal_mode": "wal", "synchronous": "normal"},
			}}},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10, MasterClusterName: name, CurrentClusterName: name,
			ClusterInformation: map[string]cluster.ClusterInformation{
				name: {Enabled: true, InitialFailoverVersion: 1, RPCAddress: loopback(port)},
			},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		Archival: config.Archival{
			History: config.HistoryArchival{State: "disabled"}, Visibility: config.VisibilityArchival{State: "disabled"},
		},
		NamespaceDefaults: config.NamespaceDefaults{Archival: config.ArchivalNamespaceDefaults{
			History: config.HistoryArchivalNamespaceDefaults{State: "disabled"}, Visibility: config.VisibilityArchivalNamespaceDefaults{State: "disabled"},
		}},
		Services: map[string]config.Service{},
	}
	hosts := map[primitives.ServiceName]static.Hosts{}
	for _, service := range []primitives.ServiceName{
		primitives.FrontendService, primitives.InternalFrontendService, primitives.HistoryService, primitives.MatchingService, primitives.WorkerService,
	} {
		at := port
		if service != primitives.FrontendService {
			at = freeport.MustGetFreePort()
		}
		c.Services[string(service)] = config.Service{RPC: config.RPC{GRPCPort: at, BindOnLocalHost: true}}
		if service == primitives.FrontendService {
			c.Services[string(service)] = config.Service{RPC: config.RPC{GRPCPort: at, HTTPPort: http, BindOnLocalHost: true}}
		}
		hosts[service] = static.SingleLocalHost(loopback(at))
	}
	return c, hosts
}

func portOf(address string) (int, error) {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(port)
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
