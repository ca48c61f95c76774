package state

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/urn"
)

func TestProvidersInStatesNamePackages(t *testing.T) {
	of := func(typ, own urn.Type) *Resource {
		return &Resource{URN: urn.New("dev", "p", "", typ, "x"), Type: own, Custom: true, ID: "1"}
	}
	for name, r := range map[string]*Resource{
		"path":        of("pulumi:providers:../x", "pulumi:providers:../x"),
		"in the URN":  of("pulumi:providers:../x", "pulumi:providers:x"),
		"in the type": of("pulumi:providers:x", "pulumi:providers:../x"),
	} {
		for place, s := range map[string]*Snapshot{
			"resource": {Resources: []*Resource{r}}, "pending operation": {Pending: []Pending{{Resource: r}}},
		} {
			err := VerifyNames(s)
			var broken *IntegrityError
			require.ErrorAs(t, err, &broken, name)
			require.Equal(t, RuleProviderResource, broken.Rule)
			require.Equal(t, r.URN, broken.URN)
			require.ErrorContains(t, err, place+" at index 0")
			require.ErrorContains(t, err, `"../x" cannot be the name of a package`)
		}
	}
	for name, r := range map[string]*Resource{
		"dots":      of("pulumi:providers:my.package", "pulumi:providers:my.package"),
		"hyphens":   of("pulumi:providers:azure-native", "pulumi:providers:azure-native"),
		"component": {URN: urn.New("dev", "p", "", "my/own thing:x:Y", "x"), Type: "my/own thing:x:Y"},
	} {
		require.NoError(t, VerifyNames(&Snapshot{Resources: []*Resource{r}}), name)
	}
}
