package vec

// This file lists the functions of two numbers.

// A Function2 is a function of two numbers; for the rest it is like a Function. Ulps is 0 where the
// exact value is rounded once.
type Function2 struct {
	Name string
	F    func(x, y float64) float64
	Ulps float64
	Tiny float64
	F32  func(x, y float64) float64 // as that of a Function
}

// Functions2 are all of them.
var Functions2 = []Function2{
	{"pow", Pow, 0.7, 1, Pow32},
	{"atan2", Atan2, 0.75, 0, Atan232},
	{"idiv", FloorDiv, 0, 0, FloorDiv},
	{"mod", Mod, 0, 0, Mod},
}

// Function2Named is that one.
func Function2Named(name string) (Function2, bool) {
	for _, f := range Functions2 {
		if f.Name == name {
			return f, true
		}
	}
	return Function2{}, false
}
