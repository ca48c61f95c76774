// Package sample is what the tests of shape measure.
package sample

// Top and middle need each other by a field; neither is needed by base.
type Top struct {
	m  middle
	on bool
	at struct {
		yes, no bool
		file    string
	}
}

func (t Top) Count() int { return t.m.count() + len(t.at.file) }

const unseen = 1
