package processes

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"time"
)

const (
	serviceDelay  = 50 * time.Millisecond // of each call of the service
	serviceCalls  = 10                    // calls in sequence, whose time is not counted
	targetService = 1.2                   // the factor by which an update with the state at the service may be slower than one in a folder
)

// service is the tests' server for Pulumi's service, in a process.
type service struct {
	cmd *exec.Cmd
	log bytes.Buffer
	url string
}

// stop ends the service. It returns an error if there was an unexpected call.
func (s *service) stop() error {
	_ = s.cmd.Process.Signal(os.Interrupt)
	if err := s.cmd.Wait(); err != nil {
		return fmt.Errorf("the service of the tests: %w\n%s", err, &s.log)
	}
	return nil
}
