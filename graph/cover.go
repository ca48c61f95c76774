package graph

// cover represents runs of places by few nodes. It is a tree of blocks over the places, each block four times as wide as
// those below it. The representative of a block is the single node in it, or a join node of the representatives of its
// blocks. Nodes arrive one at a time. A representative that has been handed out must keep its meaning, so a block that has
// grown gets a new one the next time one is needed. One arrival outdates one block per level.
type cover struct {
	b      *Builder
	levels [][]block // levels[0] are the places
}

type block struct {
	rep    ID // valid if filled and not stale
	filled bool
	stale  bool
}

const fanOut = 4

func newCover(b *Builder, places int) *cover {
	c := &cover{b: b}
	for n := places; ; n = (n + fanOut - 1) / fanOut {
		c.levels = append(c.levels, make([]block, n))
		if n <= 1 {
			return c
		}
	}
}

// insert puts a node at a place. A stale block's wider blocks are stale too, so marking stops at the first one.
func (c *cover) insert(place int32, id ID) {
	c.levels[0][place] = block{rep: id, filled: true}
	for _, level := range c.levels[1:] {
		place /= fanOut
		if level[place].stale {
			return
		}
		level[place].filled, level[place].stale = true, true
	}
}

// parts returns nodes that together represent all nodes that have arrived at the places from lo up to, not including, hi.
func (c *cover) parts(lo, hi int32) []ID {
	var out []ID
	take := func(level int, at int32) {
		if rep, filled := c.represent(level, at); filled {
			out = append(out, rep)
		}
	}
	for level := 0; lo < hi; level++ {
		for ; lo < hi && lo%fanOut != 0; lo++ {
			take(level, lo)
		}
		for ; lo < hi && hi%fanOut != 0; hi-- {
			take(level, hi-1)
		}
		lo, hi = lo/fanOut, hi/fanOut
	}
	return out
}

func (c *cover) represent(level int, at int32) (ID, bool) {
	blk := &c.levels[level][at]
	if !blk.stale {
		return blk.rep, blk.filled
	}
	narrow := c.levels[level-1]
	var reps []ID
	for n := at * fanOut; n < min((at+1)*fanOut, int32(len(narrow))); n++ {
		if rep, filled := c.represent(level-1, n); filled {
			reps = append(reps, rep)
		}
	}
	blk.stale = false
	blk.rep = reps[0]
	if len(reps) > 1 {
		blk.rep = c.b.addJoin(reps)
	}
	return blk.rep, true
}
