package eval

import (
	"github.com/sluice-iac/sluice/internal/text/syntax"
	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// StackReferenceType is the type of the resources that read other stacks.
const StackReferenceType urn.Type = "pulumi:pulumi:StackReference"

// stacks holds the outputs of other stacks. It is safe for many goroutines.
type stacks struct {
	monitor *Monitor
	reads   await.Flight[string, *property.Map] // outputs by name; nil after an error, which has been reported
}

// read reads a stack once, for all references to it. It reports an error once, at the first reference.
func (s *stacks) read(name string, parent urn.URN, at syntax.Range) (property.Map, error) {
	outputs, err := s.reads.Do(s.monitor.ctx, name, func() (*property.Map, error) {
		reply, err := s.monitor.Read(at, &stages.ReadRequest{
			Type: StackReferenceType, Name: name, ID: property.String(name), Parent: parent, Package: stages.Package{Name: "pulumi"},
			Properties: property.NewMap(map[string]property.Value{"name": property.String(name)}),
		})
		if err != nil || reply.Result != stages.Success { // the engine has reported the reason
			return nil, nil
		}
		return &reply.Outputs, nil
	})
	if err != nil || outputs == nil {
		return property.Map{}, syntax.ErrReported
	}
	return *outputs, nil
}
