package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/pipeline/await"
)

// The items of this example are named by what has happened to them, so that the stages' types read as documentation.
type (
	registered struct {
		name string
		size int
		done *await.Promise[string] // the program waits for it
	}
	checked struct{ registered }
	decided struct {
		checked
		action string
	}
)

// Reject lets a stage fail or stop at any point without the program waiting for ever.
func (r registered) Reject(err error) { r.done.Reject(err) }

func program(names ...string) (pipeline.Flow[registered], []registered) {
	var all []registered
	for _, n := range names {
		all = append(all, registered{name: n, size: len(n), done: await.NewPromise[string]()})
	}
	return pipeline.From("program", 4, func(_ context.Context, emit pipeline.Emit[registered]) error {
		for _, r := range all {
			if err := emit(r); err != nil {
				return err
			}
		}
		return nil
	}), all
}

// check looks at each item on its own, so it runs in parallel.
func check() pipeline.Stage[registered, checked] {
	return pipeline.Stage[registered, checked]{
		Name: "check", Workers: 8, Buffer: 4,
		Run: func(_ context.Context, r registered, emit pipeline.Emit[checked]) error {
			if strings.Contains(r.name, " ") {
				return fmt.Errorf("%q has a space in it", r.name)
			}
			return emit(checked{r})
		},
	}
}

// decide is a single writer: the map in its closure needs no lock. Slow work goes to its workers.
func decide() pipeline.Actor[checked, checked, decided, decided] {
	names := map[string]bool{}
	return pipeline.Actor[checked, checked, decided, decided]{
		Name: "decide", Workers: 8, Buffer: 4,
		Receive: func(_ context.Context, c checked, x pipeline.Exchange[checked, decided]) error {
			if names[c.name] {
				return errors.New(c.name + " is there twice")
			}
			names[c.name] = true
			if c.size > 3 {
				x.Ask(c)
				return nil
			}
			return x.Emit(decided{c, "create"})
		},
		Work: func(_ context.Context, c checked) (decided, error) { // a provider would be called here
			return decided{c, "replace"}, nil
		},
		Resume: func(_ context.Context, d decided, x pipeline.Exchange[checked, decided]) error { return x.Emit(d) },
	}
}

// A flow is composed from constructors. The types are the wiring plan: putting decide before check,
//
//	pipeline.ViaActor(source, decide())
//
// does not compile, since decide takes checked items and the source gives registered ones.
func Example() {
	source, all := program("a", "vpc", "bucket")
	flow := pipeline.ViaActor(pipeline.Via(source, check()), decide())

	err := pipeline.Run(context.Background(), flow, func(_ context.Context, d decided) error {
		d.done.Resolve(d.action)
		return nil
	})
	fmt.Println(err)

	for _, r := range all {
		action, err := r.done.Wait(context.Background())
		fmt.Println(r.name, "->", action, err)
	}
	// Output:
	// <nil>
	// a -> create <nil>
	// vpc -> create <nil>
	// bucket -> replace <nil>
}

// The error that a waiting caller gets says why its item went no further.
func ExampleRejecter() {
	source, all := program("b c")
	flow := pipeline.ViaActor(pipeline.Via(source, check()), decide())
	err := pipeline.Run(context.Background(), flow, nil)
	fmt.Println(err)

	_, err = all[0].done.Wait(context.Background())
	fmt.Println(all[0].name, "->", err)
	// Output:
	// check: "b c" has a space in it
	// b c -> check: "b c" has a space in it
}

// A caller's own stage takes and returns the type at its place in the flow.
func ExampleVia() {
	numbers := pipeline.From("numbers", 0, func(_ context.Context, emit pipeline.Emit[int]) error {
		for i := range 4 {
			if err := emit(i); err != nil {
				return err
			}
		}
		return nil
	})
	square := pipeline.Stage[int, string]{Name: "square", Workers: 4, Run: func(_ context.Context, v int, emit pipeline.Emit[string]) error {
		return emit(fmt.Sprintf("%d² = %d", v, v*v))
	}}
	err := pipeline.Run(context.Background(), pipeline.Via(numbers, square), func(_ context.Context, v string) error {
		fmt.Println(v)
		return nil
	})
	fmt.Println(err)
	// Unordered output:
	// 0² = 0
	// 1² = 1
	// 2² = 4
	// 3² = 9
	// <nil>
}

func ExampleFilter() {
	numbers := pipeline.From("numbers", 0, func(_ context.Context, emit pipeline.Emit[int]) error {
		for i := range 6 {
			if err := emit(i); err != nil {
				return err
			}
		}
		return nil
	})
	even := pipeline.Filter("even", func(v int) bool { return v%2 == 0 })
	err := pipeline.Run(context.Background(), pipeline.Via(numbers, even), func(_ context.Context, v int) error {
		fmt.Println(v)
		return nil
	})
	fmt.Println(err)
	// Output:
	// 0
	// 2
	// 4
	// <nil>
}

// A stage may gather items, and emits the rest at the end.
func ExampleStage_flush() {
	words := pipeline.From("words", 0, func(_ context.Context, emit pipeline.Emit[string]) error {
		for w := range strings.FieldsSeq("a vpc two nets and three") {
			if err := emit(w); err != nil {
				return err
			}
		}
		return nil
	})
	var kept []string // by the stage, which has one worker
	fours := pipeline.Stage[string, []string]{
		Name: "fours",
		Run: func(_ context.Context, w string, emit pipeline.Emit[[]string]) error {
			if kept = append(kept, w); len(kept) < 4 {
				return nil
			}
			full := kept
			kept = nil
			return emit(full)
		},
		Flush: func(_ context.Context, emit pipeline.Emit[[]string]) error { return emit(kept) },
	}
	err := pipeline.Run(context.Background(), pipeline.Via(words, fours), func(_ context.Context, list []string) error {
		fmt.Println(list)
		return nil
	})
	fmt.Println(err)
	// Output:
	// [a vpc two nets]
	// [and three]
	// <nil>
}
