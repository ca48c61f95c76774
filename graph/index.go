package graph

// index numbers nodes. It starts as a hash map, so that a small answer in a huge graph costs only the size of the
// answer. It turns into an array once the array is no more than a constant factor larger than its contents.
type index struct {
	nodes  int
	sparse map[ID]int32
	dense  []int32 // number + 1, so that zeroed memory means absent
	len    int32
}

// denseShare is how many array entries one stored number pays for.
const denseShare = 16

func newIndex(nodes, expected int) *index {
	x := &index{nodes: nodes}
	if expected*denseShare >= nodes {
		x.dense = make([]int32, nodes)
	} else {
		x.sparse = make(map[ID]int32, expected)
	}
	return x
}

// add numbers id with the next free number and reports whether it was new.
func (x *index) add(id ID) bool {
	if _, found := x.at(id); found {
		return false
	}
	if x.dense == nil && int(x.len)*denseShare >= x.nodes {
		x.dense = make([]int32, x.nodes)
		for id, n := range x.sparse {
			x.dense[id] = n + 1
		}
		x.sparse = nil
	}
	if x.dense != nil {
		x.dense[id] = x.len + 1
	} else {
		x.sparse[id] = x.len
	}
	x.len++
	return true
}

// at returns the number of id. An id beyond the nodes that existed when the index was made is absent.
func (x *index) at(id ID) (int32, bool) {
	if x.dense == nil {
		n, found := x.sparse[id]
		return n, found
	}
	if id < 0 || int(id) >= len(x.dense) || x.dense[id] == 0 {
		return 0, false
	}
	return x.dense[id] - 1, true
}
