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
		"by name":             {providers.Spec{Package: "random"}, true},
		"a version of an SDK": {providers.Spec{Package: "random", Version: "4.1.0"}, true},
		"a newer minor one":   {providers.Spec{Package: "random", Version: "4.99.0"}, false},
		"a newer patch":       {providers.Spec{Package: "random", Version: "4.21.99"}, true},
		"an older major one":  {providers.Spec{Package: "random", Version: "3.9.0"}, false},
		"a minor one below 1": {providers.Spec{Package: "time", Version: "0.1.0"}, true},
		"another below 1":     {providers.Spec{Package: "time", Version: "0.2.0"}, false},
		"none that exists":    {providers.Spec{Package: "sim", Version: "1.0.0"}, false},
		"another package":     {providers.Spec{Package: "cloud"}, false},
		"of its repository":   {providers.Spec{Package: "time", DownloadURL: "github://host/pulumiverse/pulumi-time"}, true},
		"of another":          {providers.Spec{Package: "random", DownloadURL: "github://host/somebody/pulumi-random"}, false},
		"by another plugin":   {providers.Spec{Package: "random", Plugin: "fork"}, false},
		"with checksums":      {providers.Spec{Package: "random", Checksums: map[string][]byte{"linux-amd64": {1}}}, false},
		"made by parameters":  {providers.Spec{Package: "random", Parameterization: &providers.Parameterization{Plugin: "bridge"}}, false},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, all.Serves(c.spec)) })
	}
}
