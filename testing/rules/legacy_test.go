package rules

import (
	"context"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
)

func TestLegacyDiffAsksNobodyAboutUnchangedInputs(t *testing.T) {
	k := newKit(t)
	k.up(program(one(in{"size": 1})))
	k.options.Legacy.Diff = true
	require.Equal(t, []string{"check a"}, k.up(program(one(in{"size": 1}))).did())
	require.Equal(t, []string{"check a", "diff a", "update a"}, k.up(program(one(in{"size": 2}))).did())
}

func TestLegacyRefreshTellsAChangeByTheOutputsAlone(t *testing.T) {
	for _, legacy := range []bool{false, true} {
		k := newKit(t)
		k.up(program(one(in{"size": 1})))
		k.options.Legacy.RefreshDiff = legacy
		k.fake = func(f *providertest.Fake) {
			f.OnRead = func(ctx context.Context, q providers.ReadRequest) (providers.ReadResponse, error) {
				res, err := f.Base.Read(ctx, q)
				res.Properties = res.Properties.With("seen", property.Bool(true))
				return res, err
			}
		}
		r := k.try(sluice.Refresh, nil)
		require.NoError(t, r.err)
		if legacy {
			require.Equal(t, []string{"read a"}, r.did())
			r.requireCounts(map[stages.Op]int{stages.OpUpdate: 1})
		} else {
			require.Equal(t, []string{"read a", "diff a"}, r.did())
			r.requireCounts(map[stages.Op]int{stages.OpSame: 1})
		}
		require.True(t, k.recorded("a").Outputs.At("seen").AsBool())
	}
}

// featureProgram requests the features of the monitor, as SDKs do.
type featureProgram struct {
	source.Program
	can map[string]bool
}

func (p featureProgram) Run(ctx context.Context, h source.Host) error {
	address, err := h.MonitorService.Address()
	if err != nil {
		return err
	}
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, id := range []string{"resourceReferences", "outputValues", "secrets"} {
		reply, err := pulumirpc.NewResourceMonitorClient(conn).SupportsFeature(ctx, &pulumirpc.SupportsFeatureRequest{Id: id})
		if err != nil {
			return err
		}
		p.can[id] = reply.GetHasSupport()
	}
	return nil
}

func TestFeaturesOfTheMonitorCanBeSwitchedOff(t *testing.T) {
	for name, c := range map[string]struct {
		legacy             sluice.Legacy
		references, values bool
	}{
		"none":       {references: true, values: true},
		"references": {legacy: sluice.Legacy{NoResourceReferences: true}, values: true},
		"values":     {legacy: sluice.Legacy{NoOutputValues: true}, references: true},
		"both":       {legacy: sluice.Legacy{NoResourceReferences: true, NoOutputValues: true}},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			p := featureProgram{Program: source.Func(nil), can: map[string]bool{}}
			k.options.Legacy, k.options.Program, k.options.Service = c.legacy, p, serving(t)
			_, err := sluice.Update(context.Background(), k.options)
			require.NoError(t, err)
			require.Equal(t, map[string]bool{"resourceReferences": c.references, "outputValues": c.values, "secrets": true}, p.can)
		})
	}
}
