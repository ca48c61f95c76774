package monitor

import (
	"context"
	"errors"
	"fmt"

	"github.com/Masterminds/semver/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/sluice-iac/sluice/stages"
)

// The texts that programs get when the run has stopped or their resource failed. SDKs look at the code; people search
// for the text (protocol.md 4.14, steps.md 1.3).
const (
	textShutDown           = "resource monitor shut down while waiting on step's done channel"
	textRegistrationFailed = "resource registration failed"
)

func invalid(format string, args ...any) error {
	return &stages.InvalidRequestError{Err: fmt.Errorf(format, args...)}
}

// statusOf gives an error its code on the wire (protocol.md 4.14).
func statusOf(err error) error {
	var malformed *stages.InvalidRequestError
	switch {
	case errors.Is(err, stages.ErrShutDown):
		return status.Error(codes.Unavailable, textShutDown)
	case errors.Is(err, stages.ErrRegistrationFailed):
		return status.Error(codes.Internal, textRegistrationFailed)
	case errors.As(err, &malformed):
		return status.Error(codes.InvalidArgument, err.Error())
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return status.FromContextError(err).Err()
	}
	return status.Error(codes.Unknown, err.Error())
}

func checkVersion(v string) error {
	if v == "" {
		return nil
	}
	if _, err := semver.NewVersion(v); err != nil {
		return invalid("invalid version %q: it must look like 1.2.3", v)
	}
	return nil
}
