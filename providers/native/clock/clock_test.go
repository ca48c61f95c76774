package clock_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/native"
	"github.com/sluice-iac/sluice/providers/native/clock"
	"github.com/sluice-iac/sluice/providers/native/nativetest"
	"github.com/sluice-iac/sluice/testing/nodesdk"
	"github.com/sluice-iac/sluice/testing/tier"
	"github.com/sluice-iac/sluice/urn"
)

func props(pairs ...any) property.Map { return nativetest.Props(pairs...) }

func stack(t *testing.T, typ urn.Type) (*nativetest.Stack, *time.Time) {
	now := time.Date(2030, 1, 31, 3, 4, 5, 0, time.UTC)
	return nativetest.New(t, clock.At(func() time.Time { return now }), typ, native.Options{}), &now
}

func TestThePublicPackageIsMatched(t *testing.T) {
	tier.Slow(t, "npm packages")
	modules := "../../../source/nodejs/testdata/program"
	require.NoError(t, nodesdk.Install(modules))
	nativetest.RequireDeclared(t, clock.Package(native.Options{}), modules, "@pulumiverse/time")
}

func TestStaticKeepsItsMoment(t *testing.T) {
	s, now := stack(t, "time:index/static:Static")
	out := s.Create(props())
	require.Equal(t, "2030-01-31T03:04:05Z", out.At("rfc3339").AsString())
	require.Equal(t, s.ID, out.At("rfc3339").AsString())
	require.Equal(t, 31.0, out.At("day").AsNumber())
	require.Equal(t, float64(now.Unix()), out.At("unix").AsNumber())
	*now = now.Add(time.Hour)
	s.RequireSame(props())
	s.RequireUnchanged()
	s.RequireReplace(props("triggers", props("a", "b")), "triggers")
	s.RequireSame(props("triggers", props())) // a missing object and an empty one are equal
	s.RequireReplace(props("rfc3339", "2031-01-01T00:00:00Z"), "rfc3339")
	s.Import("2020-02-03T04:05:06+01:00")
	require.Equal(t, 4.0, s.Outputs.At("hour").AsNumber())
	s.RequireSame(props("rfc3339", "2020-02-03T04:05:06+01:00"))
	s.RequireSame(props())
	require.NotEmpty(t, s.Refused(props("rfc3339", "today")))
}

func TestOffsetMovesWithItsUnitsAndKeepsItsBase(t *testing.T) {
	s, now := stack(t, "time:index/offset:Offset")
	out := s.Create(props("offsetDays", 1, "offsetYears", 1))
	require.Equal(t, "2031-02-01T03:04:05Z", out.At("rfc3339").AsString())
	*now = now.Add(time.Hour)
	require.True(t, s.PreviewUpdate(props("offsetHours", 2)).At("rfc3339").IsUnknown())
	out = s.Update(props("offsetHours", 2))
	require.Equal(t, "2030-01-31T05:04:05Z", out.At("rfc3339").AsString())
	require.Equal(t, "2030-01-31T03:04:05Z", out.At("baseRfc3339").AsString())
	s.RequireReplace(props("offsetHours", 2, "baseRfc3339", "2031-01-01T00:00:00Z"), "baseRfc3339")
	require.NotEmpty(t, s.Refused(props()))
	out = s.Import("2020-02-12T06:36:13Z,,,7,,,")
	require.Equal(t, "2020-02-19T06:36:13Z", out.At("rfc3339").AsString())
	s.RequireSame(props("offsetDays", 7))
	require.Error(t, s.TryImport("2020-02-12T06:36:13Z,,,,,,"))
	require.Error(t, s.TryImport("x,,,1,,,"))
}

func TestRotationIsDueAtItsTime(t *testing.T) {
	s, now := stack(t, "time:index/rotating:Rotating")
	out := s.Create(props("rotationDays", 2))
	require.Equal(t, "2030-02-02T03:04:05Z", out.At("rotationRfc3339").AsString())
	require.Equal(t, 2.0, out.At("day").AsNumber()) // of the rotation
	require.Equal(t, "2030-01-31T03:04:05Z", s.ID)
	s.RequireSame(props("rotationDays", 2))
	*now = now.AddDate(0, 0, 2)
	s.RequireUnchanged()
	*now = now.Add(time.Second)
	require.False(t, s.Refresh())
	s.RequireSame(props("rotationDays", 2)) // only a read notices it
	s.RequireReplace(props("rotationDays", 3), "rotationRfc3339")
	*now = now.Add(-2 * time.Second)
	out = s.Update(props("rotationDays", 3))
	require.Equal(t, "2030-02-03T03:04:05Z", out.At("rotationRfc3339").AsString())
	require.True(t, s.Refresh())
	s.Import("2030-02-01T00:00:00Z,2031-01-01T00:00:00Z")
	s.RequireSame(props("rotationRfc3339", "2031-01-01T00:00:00Z"))
	require.Equal(t, "2030-03-01T00:00:00Z", s.Import("2030-02-01T00:00:00Z,,1,,,").At("rotationRfc3339").AsString())
}

func TestOneUnitOfARotationCounts(t *testing.T) {
	for want, in := range map[string]property.Map{
		"2030-01-31T05:04:05Z": props("rotationDays", 3, "rotationHours", 2),
		"2030-01-31T03:05:05Z": props("rotationMinutes", 1, "rotationHours", 2),
		"2030-03-03T03:04:05Z": props("rotationMonths", 1, "rotationMinutes", 2), // the 31st of February
		"2031-01-01T00:00:00Z": props("rotationYears", 1, "rotationRfc3339", "2031-01-01T00:00:00Z"),
		"2032-01-31T03:04:05Z": props("rotationYears", 2, "rotationMonths", 1),
	} {
		s, _ := stack(t, "time:index/rotating:Rotating")
		require.Equal(t, want, s.Create(in).At("rotationRfc3339").AsString())
		s.RequireSame(in)
	}
	s, _ := stack(t, "time:index/rotating:Rotating")
	require.Equal(t, "rotationDays", s.Refused(props("rotationDays", 0))[0].Property)
	require.Error(t, s.TryImport("2030-02-01T00:00:00Z,soon"))
}

func TestSleepTakesItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := nativetest.New(t, clock.Package(native.Options{}), "time:index/sleep:Sleep", native.Options{})
		start := time.Now()
		s.Create(props("createDuration", "30s", "destroyDuration", "1m"))
		require.Equal(t, 30*time.Second, time.Since(start))
		require.NoError(t, s.Delete())
		require.Equal(t, 90*time.Second, time.Since(start))
		s.Update(props("createDuration", "1h"))
		require.Equal(t, 90*time.Second, time.Since(start))
		s.Create(props("createDuration", "30s"))
		require.NoError(t, s.Delete())
		require.Equal(t, 2*time.Minute, time.Since(start), "without a duration there is no pause")
		s.Create(props("destroyDuration", "1m"))
		require.Equal(t, 2*time.Minute, time.Since(start))
		require.NoError(t, s.Delete())
		require.Equal(t, 3*time.Minute, time.Since(start))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := s.P.Create(ctx, providers.CreateRequest{URN: s.URN(), Type: s.Type, Properties: props("createDuration", "1h")})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorAs(t, err, new(*providers.UncertainError), "a pause leaves nothing")
		require.NotEmpty(t, s.Refused(props("createDuration", "long")))
		require.NotEmpty(t, s.Refused(props("createDuration", "1h30m")))
		require.NotEmpty(t, s.Refused(props("triggers", props("a", "b"))))
		s.Import("30s,")
		s.RequireSame(props("createDuration", "30s"))
	})
}
