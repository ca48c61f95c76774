package simulate

import (
	"errors"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
)

// cutOffError is the error of a call whose answer is lost and whose effect is late.
type cutOffError struct{ after Landing }

func (*cutOffError) Error() string { return "the answer is lost" }

// cutOff returns an error for a call whose effect will be late.
func (a *attempt) cutOff(c providertest.Call) error {
	if c.Preview || !isChange(c.Method) {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if after := a.op.Late; after != 0 && a.journal.crashed() {
		return lost(after)
	}
	for _, f := range a.op.Failures {
		if f.isLate() && f.Method == string(c.Method) && (f.Name == "" || f.Name == c.URN.Name()) && (f.nth() == 0 || f.nth() == c.Nth) {
			return lost(f.Late)
		}
	}
	return nil
}

func lost(after Landing) error {
	return &providers.UncertainError{Err: &cutOffError{after}, Lost: true}
}

func isChange(m providers.Method) bool {
	return m == providers.MethodCreate || m == providers.MethodUpdate || m == providers.MethodDelete
}

// postpone keeps the effect of a call if its error is that of a call cut off.
func (a *attempt) postpone(err error, e effect) {
	var cut *cutOffError
	if !errors.As(err, &cut) {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	e.after = cut.after
	a.cut = append(a.cut, e)
}
