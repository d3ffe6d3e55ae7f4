package flow

import (
	"os"
	"path/filepath"

	"flow/ir"
	"flow/ir/op"
	"flow/lang/source"
)

// This file checks before a run the directories of the files that it will write.

// checkSinks refuses a run that would write a file into a missing directory, or one file by two
// names, at once instead of after hours of work. It checks the emits that every run reaches, not
// those in branches. Create decides in the end, since directories may change during the run.
func (p *Program) checkSinks(out *Output) error {
	var found source.Diagnostics
	first := map[string]*ir.Node{} // by the file that a path means
	for i := range p.made.Plan.Graph.Nodes {
		n := &p.made.Plan.Graph.Nodes[i]
		if n.Op.Laws.Has(op.Effectful) && n.Region != nil { // a loop that writes a file in parts
			n = &n.Region.Graph.Nodes[n.Region.Yields[0]]
		}
		if n.Op.Name != "emit" {
			continue
		}
		to := n.Attrs.Str("to")
		if to == "" {
			continue
		}
		target, there, loop := resolve(out.Path(to))
		if loop != nil {
			found = append(found, source.Errorf(codeWrite, n.Span, "emit: %s: cannot be written: %v", to, plainly(loop)).
				WithHelp("the links lead back to themselves: remove one, or write to another name"))
			continue
		}
		dir := filepath.Dir(out.Path(to))
		if _, err := os.Readlink(out.Path(to)); err == nil {
			dir = filepath.Dir(target)
		}
		info, err := os.Stat(dir)
		if err == nil && info.IsDir() || err != nil && !os.IsNotExist(err) {
			if there != nil && !there.Mode().IsRegular() {
				continue
			}
			if f := first[target]; f == nil {
				first[target] = n
			} else if name := f.Attrs.Str("to"); filepath.Clean(name) != filepath.Clean(to) {
				found = append(found, source.Errorf("E515", n.Span, "%s and %s are one file", name, to).
					WithNote(f.Span, "written here first").WithHelp("give each a name of its own"))
			}
			continue
		}
		d := source.Errorf(codeWrite, n.Span, "emit: %s: cannot be written: no such file or directory", to)
		d.Help = "make the directory " + dir + " first"
		if err == nil {
			d.Message = "emit: " + to + ": cannot be written: " + dir + " is no directory"
			d.Help = ""
		}
		found = append(found, d)
	}
	if len(found) == 0 {
		return nil
	}
	return &Refusal{Files: p.made.Files, Diagnostics: found, Ran: true}
}
