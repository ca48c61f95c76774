package plugin

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheFirstSlowCallIsFound(t *testing.T) {
	named := func(name string) subject { return subject{method: methodCheck, token: name} }
	for name, c := range map[string]struct {
		calls func(begin func(name string) (end func()))
		want  []string
	}{
		"none is slow": {calls: func(begin func(string) func()) {
			for range 1000 {
				end := begin("quick")
				time.Sleep(slowStart / 100)
				end()
			}
		}},
		"one never ends": {want: []string{"lost"}, calls: func(begin func(string) func()) {
			begin("lost")
			begin("other")()
		}},
		"one after a time without calls": {want: []string{"lost"}, calls: func(begin func(string) func()) {
			begin("quick")()
			time.Sleep(slowStart)
			begin("lost")
		}},
		"a later one is slow": {want: []string{"second"}, calls: func(begin func(string) func()) {
			first := begin("first")
			time.Sleep(slowStart / 2)
			begin("second")
			third := begin("third")
			time.Sleep(slowStart / 4)
			first()
			third()
		}},
		"one among many that overlap": {want: []string{"lost"}, calls: func(begin func(string) func()) {
			last := begin("quick")
			for i := range 1000 {
				next := begin("quick")
				if i == 500 {
					begin("lost")
				}
				time.Sleep(slowStart / 1000)
				last()
				last = next
			}
			last()
		}},
		"only the first of several": {want: []string{"first"}, calls: func(begin func(string) func()) {
			first, second := begin("first"), begin("second")
			time.Sleep(2 * slowStart)
			first()
			second()
			begin("third")
		}},
		"each ends just in time": {calls: func(begin func(string) func()) {
			a := begin("a")
			time.Sleep(slowStart - 1)
			b := begin("b")
			a()
			time.Sleep(slowStart - 1)
			b()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var watched slowCalls
				var found []string
				c.calls(func(name string) func() {
					number := watched.begin(named(name), func(s subject) { found = append(found, s.token) })
					return func() { watched.end(number) }
				})
				time.Sleep(3 * slowStart)
				synctest.Wait()
				require.Equal(t, c.want, found)
			})
		})
	}
}

func BenchmarkSlowCalls(b *testing.B) {
	var watched slowCalls
	found := func(subject) {}
	b.ReportAllocs()
	for b.Loop() {
		watched.end(watched.begin(subject{method: methodCheck}, found))
	}
}
