package advice

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAdviceIsCollectedFromTheWholeTree(t *testing.T) {
	plain := errors.New("plain")
	one := Errorf(On(Unprotect, "urn:a"), "one is protected")
	two := Errorf(Advice{Action: SetConfig, Key: "p:k"}, "two is not set: %w", one)
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"nothing":            {nil, "[]"},
		"no advice":          {plain, "[]"},
		"its own":            {one, "[unprotect urn:a]"},
		"wrapped":            {fmt.Errorf("outer: %w", one), "[unprotect urn:a]"},
		"the outer first":    {two, "[set configuration p:k unprotect urn:a]"},
		"joined":             {errors.Join(plain, two, nil), "[set configuration p:k unprotect urn:a]"},
		"nothing twice":      {errors.Join(one, two, fmt.Errorf("again: %w", one)), "[unprotect urn:a set configuration p:k]"},
		"several":            {With(plain, Advice{Action: Recover}, Advice{Action: Adopt, ID: "x"}), "[recover adopt x]"},
		"two %w":             {fmt.Errorf("%w and %w", plain, one), "[unprotect urn:a]"},
		"within joined":      {errors.Join(fmt.Errorf("deep: %w", errors.Join(one))), "[unprotect urn:a]"},
		"its own, and parts": {With(errors.Join(one), Advice{Action: RunProgram}), "[run program unprotect urn:a]"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, fmt.Sprint(Of(c.err)))
		})
	}
}

func TestAnErrorWithAdviceIsOtherwiseTheSame(t *testing.T) {
	cause := errors.New("cause")
	err := With(cause, Advice{Action: Recover})
	require.EqualError(t, err, "cause")
	require.ErrorIs(t, err, cause)
	require.NoError(t, With(nil, Advice{Action: Recover}))
}
