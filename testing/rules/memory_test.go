package rules

import (
	"context"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/stages"
)

// A host that uses much memory itself can deploy, with any limit of the collector: only what the operation adds counts.
func TestAHostWithMuchInUseCanDeploy(t *testing.T) {
	own := make([]byte, 64<<20)
	runtime.GC()
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(96 << 20))
	k := newKit(t)
	k.up(program(one(in{"size": 1})))
	k.options.MemoryLimit = 64 << 20
	k.up(program(one(in{"size": 2})))
	runtime.KeepAlive(own)
}

func TestAnOperationThatAddsTooMuchIsStopped(t *testing.T) {
	k := newKit(t)
	k.options.MemoryLimit = 1
	runtime.GC() // garbage counts as in use
	var added []byte
	out := k.fails(func(ctx context.Context, m stages.Monitor) error {
		added = make([]byte, 64<<20)
		runtime.GC()
		_, err := thing(ctx, m, "a", nil)
		return err
	}, "there is too little memory for more resources")
	require.Empty(t, out.changed())
	runtime.KeepAlive(added)
}
