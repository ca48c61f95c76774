package monitor_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/sluice-iac/sluice/source/internal/monitortest"
	"github.com/sluice-iac/sluice/source/monitor"
	"github.com/sluice-iac/sluice/stages"
)

func typicalRegistration() *pulumirpc.RegisterResourceRequest {
	return &pulumirpc.RegisterResourceRequest{
		Type: "aws:s3/bucket:Bucket", Name: "n", Parent: urnA, Custom: true, Object: typical(),
		AcceptSecrets: true, AcceptResources: true, SupportsPartialValues: true, Dependencies: []string{urnA},
	}
}

// BenchmarkRegister measures one registration and its reply over one connection, as many at a time as a program has in
// flight. The client's work, about as much as the server's, is in the figure.
func BenchmarkRegister(b *testing.B) {
	for _, inFlight := range []int{1, 64, 4096} {
		b.Run(fmt.Sprintf("in-flight-%d", inFlight), func(b *testing.B) {
			m := &monitortest.Monitor{Run: run()}
			reply := &stages.RegisterReply{URN: urnB, ID: "id", Outputs: everything()}
			client := start(b, &quiet{m, reply})
			req := typicalRegistration()
			b.ReportAllocs()
			b.SetParallelism(inFlight)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, err := client.RegisterResource(context.Background(), req); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}

// quiet answers without recording.
type quiet struct {
	*monitortest.Monitor
	reply *stages.RegisterReply
}

func (q *quiet) Register(context.Context, *stages.RegisterRequest) (*stages.RegisterReply, error) {
	return q.reply, nil
}

// BenchmarkHandler measures the server's own work on one registration: from the bytes of the request to the bytes of
// the reply, without a connection.
func BenchmarkHandler(b *testing.B) {
	request, err := proto.Marshal(typicalRegistration())
	require.NoError(b, err)
	m := &quiet{&monitortest.Monitor{Run: run()}, &stages.RegisterReply{URN: urnB, ID: "id", Outputs: everything()}}
	b.ReportAllocs()
	for b.Loop() {
		var req pulumirpc.RegisterResourceRequest
		if err := proto.Unmarshal(request, &req); err != nil {
			b.Fatal(err)
		}
		reply, err := monitor.RegisterDirectly(m, &req)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := proto.Marshal(reply); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkParked reports the memory of a registration that waits, client and server together.
func BenchmarkParked(b *testing.B) {
	const n = 10000
	for b.Loop() {
		var parked, done sync.WaitGroup
		parked.Add(n)
		release := make(chan struct{})
		m := &parking{&monitortest.Monitor{Run: run()}, &parked, release}
		client := start(b, m)
		before := memory()
		for i := range n {
			done.Go(func() {
				req := typicalRegistration()
				req.Name = fmt.Sprint(i)
				if _, err := client.RegisterResource(context.Background(), req); err != nil {
					b.Error(err)
				}
			})
		}
		parked.Wait()
		b.ReportMetric(float64(memory()-before)/n, "B/parked")
		close(release)
		done.Wait()
	}
}

// parking lets registrations wait without keeping them.
type parking struct {
	*monitortest.Monitor
	parked  *sync.WaitGroup
	release chan struct{}
}

func (p *parking) Register(context.Context, *stages.RegisterRequest) (*stages.RegisterReply, error) {
	p.parked.Done()
	<-p.release
	return &stages.RegisterReply{URN: urnB}, nil
}

func memory() uint64 {
	runtime.GC()
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc + s.StackInuse
}
