package ir

// A Placement says where a program wants a channel array, or what a loop makes, on ranks. It is a
// hint: it changes no result, and nothing on one rank.
type Placement string

// The placements. A channel array without one is on a 2-D block-cyclic grid of ranks (cyclic2d); for
// a loop without one the compiler compares the costs.
const (
	AnyPlace   Placement = ""
	ByRows     Placement = "rows"       // each rank has a block of rows
	ByCols     Placement = "cols"       // each rank has a block of columns
	Replicated Placement = "replicated" // every rank makes all of it
	OneRank    Placement = "one"        // rank 0 makes it
)

// PlaceAttr is the attribute of a loop with a placement.
const PlaceAttr = "place"

// Placement returns the placement of a loop, or of the channel array that node id sends to.
func (g *Graph) Placement(id ID) Placement {
	if grid, _, _, sent := g.Dest(id); sent {
		return g.Grids[grid].Place
	}
	return Placement(g.Nodes[id].Attrs.Str(PlaceAttr))
}
