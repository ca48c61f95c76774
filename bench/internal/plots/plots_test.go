package plots

import (
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/bench/internal/results"
)

func TestCasesOfSeveralSizesHavePictures(t *testing.T) {
	r := &results.Report{Commit: "abc"}
	for _, shape := range []string{"wide", "chain"} {
		for _, n := range []int{10, 100, 1000} {
			r.Results = append(r.Results, results.Result{
				Key:  results.Key{Case: "engine update, new", Shape: shape, Size: n, Subject: results.Sluice},
				Runs: map[results.Metric]results.Sample{results.Time: {float64(n), float64(n) * 1.2, float64(n) * 2}, results.P99: {0, 0, 0}},
			})
		}
	}
	r.Results = append(r.Results, results.Result{
		Key: results.Key{Case: "start-up", Subject: results.Sluice}, Runs: map[results.Metric]results.Sample{results.Time: {1}},
	})
	directory := filepath.Join(t.TempDir(), "plots")
	n, err := Write(directory, r)
	require.NoError(t, err)
	require.Equal(t, 1, n, "nothing is drawn of zeros and of one size")
	svg, err := os.ReadFile(filepath.Join(directory, "engine-update--new_sec-op.svg"))
	require.NoError(t, err)
	require.Contains(t, string(svg), "wide sluice")
	require.Contains(t, string(svg), "chain sluice")
	decoder := xml.NewDecoder(strings.NewReader(string(svg)))
	for {
		if _, err := decoder.Token(); err == io.EOF {
			break
		} else {
			require.NoError(t, err)
		}
	}
	page, err := os.ReadFile(filepath.Join(directory, "index.html"))
	require.NoError(t, err)
	require.Contains(t, string(page), `src="engine-update--new_sec-op.svg"`)
	require.NotContains(t, string(page), "start-up")
}
