package yaml

import (
	"sync"

	"github.com/sourcegraph/conc"

	"github.com/sluice-iac/sluice/source/yaml/internal/bind"
)

// schedule calls a function for every node as soon as it has returned for all that the node needs, for all that are
// independent at once.
type schedule struct {
	evaluate func(*bind.Node)
	wg       conc.WaitGroup

	mu      sync.Mutex         // guards waiting
	waiting map[*bind.Node]int // how many of its needs are not evaluated
}

// inOrder evaluates nodes. The error is a panic of the function.
func inOrder(nodes []*bind.Node, evaluate func(*bind.Node)) error {
	s := &schedule{evaluate: evaluate, waiting: make(map[*bind.Node]int, len(nodes))}
	for _, n := range nodes {
		s.waiting[n] = len(n.Needs)
	}
	for _, n := range nodes {
		if len(n.Needs) == 0 {
			s.start(n)
		}
	}
	if caught := s.wg.WaitAndRecover(); caught != nil {
		return caught.AsError()
	}
	return nil
}

func (s *schedule) start(n *bind.Node) {
	s.wg.Go(func() {
		s.evaluate(n)
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, d := range n.Dependents {
			if s.waiting[d]--; s.waiting[d] == 0 {
				s.start(d)
			}
		}
	})
}
