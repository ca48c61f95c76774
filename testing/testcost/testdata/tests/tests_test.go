// Tests of both tiers, which are the subject of a test.
package tests

import (
	"testing"

	"github.com/sluice-iac/sluice/testing/tier"
)

func TestFirst(t *testing.T) { t.Log("first runs") }

func TestSlow(t *testing.T) {
	tier.Slow(t, "clouds")
	t.Log("slow runs")
}

func TestMore(t *testing.T) {
	t.Log("more runs", tier.More(t, "seeds"))
}

func TestPart(t *testing.T) {
	t.Run("first", func(t *testing.T) { t.Log("the first part runs") })
	t.Run("slow (one)", func(t *testing.T) {
		tier.Slow(t, "clouds")
		t.Log("the slow part runs")
	})
}

func TestFails(t *testing.T) {
	tier.Slow(t, "clouds")
	t.Error("a failure")
}
