package native_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/native/catalog"
)

func TestOnlyThePublicPackagesAreStoodInFor(t *testing.T) {
	all := catalog.All()
	for name, c := range map[string]struct {
		spec providers.Spec
		want bool
	}{
		"by name":            {providers.Spec{Package: "random"}, true},
		"any version":        {providers.Spec{Package: "random", Version: "4.1.0"}, true},
		"another package":    {providers.Spec{Package: "cloud"}, false},
		"of its repository":  {providers.Spec{Package: "time", DownloadURL: "github://host/pulumiverse/pulumi-time"}, true},
		"of another":         {providers.Spec{Package: "random", DownloadURL: "github://host/somebody/pulumi-random"}, false},
		"by another plugin":  {providers.Spec{Package: "random", Plugin: "fork"}, false},
		"with checksums":     {providers.Spec{Package: "random", Checksums: map[string][]byte{"linux-amd64": {1}}}, false},
		"made by parameters": {providers.Spec{Package: "random", Parameterization: &providers.Parameterization{Plugin: "bridge"}}, false},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, all.Serves(c.spec)) })
	}
}
