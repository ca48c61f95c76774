package timing

import (
	"cmp"
	"slices"
	"time"
)

// durations are the durations of calls of one method.
type durations struct {
	all   []time.Duration
	total time.Duration
}

func (d *durations) add(one time.Duration) {
	d.all = append(d.all, one)
	d.total += one
}

// quantile returns the smallest duration that is not exceeded by the given part of all.
func (d *durations) quantile(part float64) time.Duration {
	slices.Sort(d.all)
	n := int(float64(len(d.all))*part+0.999999) - 1
	return d.all[min(max(n, 0), len(d.all)-1)]
}

// union is the time that intervals cover together.
type union struct {
	count     int
	intervals []interval // in their order, with gaps between them
}

type interval struct{ from, to time.Time }

// add adds an interval. Most intervals end after all earlier ones, and few are disjoint, so little has to be moved.
func (u *union) add(from, to time.Time) {
	u.count++
	own := interval{from, to}
	i := len(u.intervals)
	for i > 0 && u.intervals[i-1].from.After(to) {
		i--
	}
	last := i
	for i > 0 && !u.intervals[i-1].to.Before(from) {
		i--
		if u.intervals[i].from.Before(own.from) {
			own.from = u.intervals[i].from
		}
		if u.intervals[i].to.After(own.to) {
			own.to = u.intervals[i].to
		}
	}
	u.intervals = slices.Replace(u.intervals, i, last, own)
}

func (u *union) total() (d time.Duration) {
	for _, i := range u.intervals {
		d += i.to.Sub(i.from)
	}
	return d
}

// longest has the entries of a list that took longest, in descending order. Entries of the same duration are in order of arrival.
type longest[T any] struct {
	most    int
	entries []timed[T]
}

type timed[T any] struct {
	took time.Duration
	what T
}

func (l *longest[T]) add(took time.Duration, what func() T) {
	if len(l.entries) == l.most && took <= l.entries[l.most-1].took {
		return
	}
	l.entries = append(l.entries, timed[T]{took, what()})
	slices.SortStableFunc(l.entries, func(a, b timed[T]) int { return cmp.Compare(b.took, a.took) })
	l.entries = l.entries[:min(len(l.entries), l.most)]
}
