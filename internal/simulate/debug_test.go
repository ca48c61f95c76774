package simulate

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"testing/synctest"
)

func TestDebug(t *testing.T) {
	file := os.Getenv("CASE")
	if file == "" {
		t.Skip()
	}
	text, _ := os.ReadFile(file)
	var c Case
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		for i, op := range c.Operations {
			for _, e := range op.Before {
				w.apply(e)
			}
			for n, s := range c.Schedules {
				a := try(t.Context(), w, op, s, i, false)
				fmt.Printf("== %s %d timing %d: err %v\n%s", op.Do, i, n, a.err, a.plan())
				for _, e := range a.events {
					fmt.Printf("   %T %.300v\n", e, e)
				}
				for _, c := range a.calls {
					fmt.Printf("   call %+v\n", *c)
				}
				for _, r := range a.after.resources() {
					fmt.Printf("   state %s id=%s del=%v pend=%v prov=%s ext=%v\n", r.URN, r.ID, r.Delete, r.PendingReplacement, r.Provider, r.External)
				}
				fmt.Println("   faults", a.verify(t.Context()))
				if n == len(c.Schedules)-1 {
					w = a.after
				}
			}
		}
	})
}
