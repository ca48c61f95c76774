package eval

import (
	"sync"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source/yaml/internal/syntax"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// StackReferenceType is the type of the resources that read other stacks.
const StackReferenceType urn.Type = "pulumi:pulumi:StackReference"

// stacks are the outputs of other stacks. They are safe for many goroutines.
type stacks struct {
	monitor *Monitor

	mu    sync.Mutex                              // guards reads
	reads map[string]func() (property.Map, error) // each reads when it is called first
}

func newStacks(m *Monitor) *stacks {
	return &stacks{monitor: m, reads: map[string]func() (property.Map, error){}}
}

// read reads a stack once, however often it is referred to. at is the first place that refers to it.
func (s *stacks) read(name string, parent urn.URN, at syntax.Range) (property.Map, error) {
	s.mu.Lock()
	read, known := s.reads[name]
	if !known {
		read = sync.OnceValues(func() (property.Map, error) {
			reply, err := s.monitor.Read(at, &stages.ReadRequest{
				Type: StackReferenceType, Name: name, ID: property.String(name), Parent: parent, Package: stages.Package{Name: "pulumi"},
				Properties: property.NewMap(map[string]property.Value{"name": property.String(name)}),
			})
			if err != nil {
				return property.Map{}, err
			}
			if reply.Result != stages.Success {
				return property.Map{}, syntax.ErrReported // the engine has said why
			}
			return reply.Outputs, nil
		})
		s.reads[name] = read
	}
	s.mu.Unlock()
	return read()
}
