package estimate

import (
	"container/heap"
	"sort"
	"time"
)

// job is an operation of a schedule.
type job struct {
	takes time.Duration // the remaining duration
	needs []int         // the jobs that must end before it
	phase int           // all jobs of a phase come after those of the phases before
	runs  bool          // it has begun
}

// moment is the amount of work done at a time of a schedule.
type moment struct{ at, work time.Duration }

// schedule returns the progress of the jobs, moment by moment, if at most so many run at once, each as soon as possible and in the order of the list.
// Jobs in a cycle never begin, and do not count.
func schedule(jobs []job, workers int) []moment {
	s := scheduler{jobs: jobs, workers: max(workers, 1), users: make([][]int, len(jobs)), waits: make([]int, len(jobs)), history: []moment{{}}}
	phases := map[int][]int{}
	for i, j := range jobs {
		phases[j.phase] = append(phases[j.phase], i)
		for _, n := range j.needs {
			if jobs[n].phase == j.phase {
				s.users[n] = append(s.users[n], i)
				s.waits[i]++
			}
		}
	}
	order := make([]int, 0, len(phases))
	for p := range phases {
		order = append(order, p)
	}
	sort.Ints(order)
	for _, p := range order {
		s.run(phases[p])
	}
	return s.history
}

type scheduler struct {
	jobs    []job
	workers int
	users   [][]int
	waits   []int // the number of unfinished needs of each job
	ready   []int // jobs that may begin, the first one first
	running ends
	now     moment
	history []moment
}

// run schedules the jobs of a phase.
func (s *scheduler) run(jobs []int) {
	for _, runs := range []bool{true, false} { // jobs that have begun have their workers already
		for _, i := range jobs {
			if s.jobs[i].runs == runs && s.waits[i] == 0 {
				s.ready = append(s.ready, i)
			}
		}
	}
	for {
		for len(s.ready) > 0 && len(s.running) < s.workers {
			i := s.ready[0]
			s.ready = s.ready[1:]
			heap.Push(&s.running, end{s.now.at + s.jobs[i].takes, i})
		}
		if len(s.running) == 0 {
			return
		}
		s.now.work += time.Duration(len(s.running)) * (s.running[0].at - s.now.at)
		s.now.at = s.running[0].at
		s.history = append(s.history, s.now)
		for len(s.running) > 0 && s.running[0].at == s.now.at {
			for _, u := range s.users[heap.Pop(&s.running).(end).job] {
				if s.waits[u]--; s.waits[u] == 0 {
					s.ready = append(s.ready, u)
				}
			}
		}
	}
}

// reached returns when a schedule has done an amount of work.
func reached(history []moment, work time.Duration) time.Duration {
	i := sort.Search(len(history), func(i int) bool { return history[i].work >= work })
	if i == 0 {
		return 0
	}
	if i == len(history) {
		return history[len(history)-1].at
	}
	before, after := history[i-1], history[i]
	return before.at + time.Duration(float64(after.at-before.at)*float64(work-before.work)/float64(after.work-before.work))
}

// end is when a job ends.
type end struct {
	at  time.Duration
	job int
}

// ends is a heap.
type ends []end

func (e ends) Len() int { return len(e) }
func (e ends) Less(a, b int) bool {
	return e[a].at < e[b].at || e[a].at == e[b].at && e[a].job < e[b].job
}
func (e ends) Swap(a, b int) { e[a], e[b] = e[b], e[a] }
func (e *ends) Push(x any)   { *e = append(*e, x.(end)) }
func (e *ends) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}
