package ast

// Bound returns the names that a statement binds for the statements after it. It leaves out
// imports, whose name may follow from their path.
func Bound(st Stmt) []Ident {
	switch st := st.(type) {
	case *Bind:
		return st.Names
	case *Chan:
		return []Ident{st.Name}
	case *Param:
		return []Ident{st.Name}
	case *FnDecl:
		return []Ident{st.Name}
	case *Stage:
		return []Ident{st.Name}
	case *TypeDef:
		return []Ident{st.Name}
	case *State:
		return []Ident{st.Name}
	case *Iterate:
		var out []Ident
		for _, k := range st.Carry {
			out = append(out, k.Name)
		}
		return out
	}
	return nil
}
