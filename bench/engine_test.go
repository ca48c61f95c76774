package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/bench/shape"
	"github.com/sluice-iac/sluice/providers/providertest"
)

// BenchmarkPreview is for profiles (-cpuprofile, -memprofile): one operation is the preview of one resource.
func BenchmarkPreview(b *testing.B) {
	const size = 3000
	for _, s := range shape.All {
		program := stackProgram(s, size, nil)
		existing, err := created(b.Context(), providertest.Options{}, program)
		require.NoError(b, err)
		for name, d := range map[string]*deployment{"new-" + s: newDeployment(providertest.Options{}), "same-" + s: existing} {
			b.Run(name, func(b *testing.B) {
				b.ReportAllocs()
				for done := 0; done < b.N; done += size {
					_, err := sluice.Preview(b.Context(), d.options(program))
					require.NoError(b, err)
				}
			})
		}
	}
}
