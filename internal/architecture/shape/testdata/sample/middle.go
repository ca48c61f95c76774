package sample

type middle struct{ top *Top }

func (m middle) count() int {
	if m.top.on {
		return Least
	}
	return fromGenerator
}
