package plugin_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/plugin"
)

func TestWhatTheProjectSaysOfAPackageIsFollowed(t *testing.T) {
	f := plugin.Finder{Packages: []plugin.ProjectPackage{
		{Name: "random", Plugin: "dice", Version: "4.0.0", DownloadURL: "https://plugins.example"},
		{Name: "made", Plugin: "maker", Version: "1.0.0", Parameters: []string{"x"}},
	}}
	tests := map[string]struct{ asked, want providers.Spec }{
		"nothing more": {
			providers.Spec{Package: "random"},
			providers.Spec{Package: "random", Plugin: "dice", Version: "4.0.0", DownloadURL: "https://plugins.example"},
		},
		"the program says it itself": {
			providers.Spec{Package: "random", Version: "4.1.0", DownloadURL: "https://other.example"},
			providers.Spec{Package: "random", Plugin: "dice", Version: "4.1.0", DownloadURL: "https://other.example"},
		},
		"the state alone names a place": {
			providers.Spec{Package: "random", Version: "4.1.0", DownloadURL: "https://evil.example", Recorded: true},
			providers.Spec{Package: "random", Plugin: "dice", Version: "4.1.0", DownloadURL: "https://plugins.example"},
		},
		"another package": {providers.Spec{Package: "other"}, providers.Spec{Package: "other"}},
		"an SDK says how it is made": {
			providers.Spec{Package: "made", Parameterization: &providers.Parameterization{Plugin: "maker"}},
			providers.Spec{Package: "made", Parameterization: &providers.Parameterization{Plugin: "maker"}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.want, f.Complete(test.asked)) })
	}
	require.True(t, f.IsQualified("random"))
	require.False(t, f.IsQualified("other"))
}

func TestAPackageOfParametersHasToBeMadeFirst(t *testing.T) {
	h := plugin.NewHost(plugin.Options{ProjectPackages: []plugin.ProjectPackage{{Name: "made", Plugin: "maker", Parameters: []string{"x"}}}})
	_, err := h.Load(t.Context(), providers.Spec{Package: "made"})
	require.ErrorContains(t, err, `the project has the plugin "maker" make the package "made" of parameters`)
	require.Equal(t, []advice.Advice{{Action: advice.InstallProject}}, advice.Of(err))
	require.Error(t, h.Prepare(t.Context(), providers.Spec{Package: "made"}))
}
