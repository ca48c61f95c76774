package yaml

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/internal/text/syntax"
	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
	"github.com/sluice-iac/sluice/source/yaml/internal/bind"
)

// program returns the resources of a text, each after its needs. names are in the order of the text.
func program(names []string, needs map[string][]string) []*bind.Node {
	of := map[string]*bind.Node{}
	for i, name := range names {
		of[name] = &bind.Node{Name: name, At: syntax.Range{Line: i + 1}, Resource: &ast.Resource{}}
	}
	var nodes []*bind.Node
	var add func(name string)
	add = func(name string) {
		if slices.Contains(nodes, of[name]) {
			return
		}
		for _, need := range needs[name] {
			add(need)
			of[name].Needs = append(of[name].Needs, of[need])
		}
		nodes = append(nodes, of[name])
	}
	for _, name := range names {
		add(name)
	}
	return nodes
}

// registered runs a queue with one goroutine for each node, and returns the order of registration. answers has the time that the answer to
// each takes.
func registered(t *testing.T, nodes []*bind.Node, preview bool, answers map[string]time.Duration) []string {
	var order []string
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(nodes, preview)
		var mu sync.Mutex
		err := inOrder(t.Context(), nodes, func(n *bind.Node) {
			defer q.finish(n)
			o := q.wait(t.Context(), n)
			mu.Lock()
			order = append(order, n.Name)
			mu.Unlock()
			o.Submitted()
			time.Sleep(answers[n.Name])
		})
		require.NoError(t, err)
	})
	return order
}

func TestThePreviewsOfAProgramRegisterInOneOrder(t *testing.T) {
	nodes := program([]string{"z", "c", "y", "b", "a"}, map[string][]string{"c": {"a"}, "b": {"y"}, "z": {"c"}})
	want := []string{"y", "a", "c", "b", "z"}
	for _, slow := range want {
		require.Equal(t, want, registered(t, nodes, true, map[string]time.Duration{slow: time.Second}), slow)
	}
}

func TestAnUpdateDoesNotWaitForASlowAnswer(t *testing.T) {
	nodes := program([]string{"z", "c", "y", "b", "a"}, map[string][]string{"c": {"a"}, "b": {"y"}, "z": {"c"}})
	order := registered(t, nodes, false, map[string]time.Duration{"a": time.Hour, "y": time.Second})
	require.Equal(t, []string{"y", "a", "b", "c", "z"}, order)
	order = registered(t, nodes, false, map[string]time.Duration{"y": time.Hour, "a": time.Second})
	require.Equal(t, []string{"y", "a", "c", "z", "b"}, order)
}

func TestReadyResourcesRegisterInTheOrderOfTheText(t *testing.T) {
	names := []string{"e", "a", "d", "b", "c"}
	for _, preview := range []bool{true, false} {
		require.Equal(t, names, registered(t, program(names, nil), preview, nil))
	}
}

// A resource that fails before its turn ends it all the same.
func TestAResourceThatDoesNotRegisterHoldsUpNothing(t *testing.T) {
	nodes := program([]string{"a", "b", "c"}, nil)
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(nodes, true)
		q.finish(nodes[1])
		var order []string
		for _, n := range slices.Concat(nodes[:1], nodes[2:]) {
			o := q.wait(t.Context(), n)
			order = append(order, n.Name)
			o.Submitted()
		}
		require.Equal(t, []string{"a", "c"}, order)
	})
}
