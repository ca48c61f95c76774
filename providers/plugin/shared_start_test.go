package plugin

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/assert"

	"github.com/sluice-iac/sluice/providers"
)

func TestAnotherCallerStartsThePluginIfTheFirstOneHasLeft(t *testing.T) {
	for name, c := range map[string]struct {
		first  error // of the first start
		starts int
	}{
		"the first caller has left":    {context.Canceled, 2},
		"the plugin cannot be started": {errors.New("no such file"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var s starts
				spec, came, started := providers.Spec{Package: "a"}, make(chan struct{}), 0
				load := func() (*client, error) {
					started++
					if started == 1 {
						<-came
						return nil, c.first
					}
					return &client{remote: &remote{}}, nil
				}
				var all conc.WaitGroup
				for range 3 {
					all.Go(func() {
						if got, err := s.borrow(t.Context(), spec, load); err != nil {
							assert.Equal(t, c.first, err)
						} else {
							assert.NotNil(t, got)
						}
					})
				}
				synctest.Wait()
				close(came)
				all.Wait()
				assert.Equal(t, c.starts, started)
			})
		})
	}
}
