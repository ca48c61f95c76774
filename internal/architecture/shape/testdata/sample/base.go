package sample

// Least is declared where nothing else is needed.
const Least = 1

type Record struct {
	A bool `json:"a"`
	B bool `json:"b,omitempty"`
}

type Set interface {
	interface{ Has(string) bool }
	Add(string)
}

func Fresh() Set { type local struct{ yes bool }; return nil }
