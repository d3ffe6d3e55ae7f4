package schedule

import (
	"strings"
	"sync"

	"flow/lang/source"
)

// This file defines the table of techniques, one row each, and looks names up. The file of a row's
// name has its formula, and technique.go what the columns are.

// In Doc, R is what is left, j = i div P the batch (stage) of step i, R_j what was left when it
// began, w the weight of the asking worker.
func techniques() []Technique {
	return []Technique{
		{"STATIC", nil, "static", "N, P", "q+1 for the first r workers, q for the others; q, r = divmod(N, P)", "folklore", newStatic},
		{"MSTATIC", nil, "fixed", "N, P", "ceil(N/(4P))", "DAPHNE", newMStatic},
		{"SS", []string{"DYNAMIC"}, "fixed", "N", "1", "Tang, Yew, ICPP 1986", newSS},
		{"FSC", nil, "fixed", "N, P, h, sigma", "ceil((sqrt(2) N h / (sigma P sqrt(ln P)))^(2/3)); ceil(N/P) if P = 1 or sigma = 0", "Kruskal, Weiss, IEEE TSE 11(10), 1985", newFSC},
		{"MFSC", nil, "fixed", "N, P", "floor(0.55 + T ln 2/ln T), T = ceil(N/P); 1 if T <= 1", "Carino, Banicescu, DLB tool, 2007", newMFSC},
		{"AUTO_CHUNK", nil, "fixed", "N, P", "N div (2^(m+1) P), m = int(0.618 log2(N div P)); 1 if N < P", "Mohammed et al., Auto4OMP, IEEE TPDS 2022", newAutoChunk},
		{"GSS", []string{"GUIDED"}, "decreasing", "N, P", "ceil(R/P)", "Polychronopoulos, Kuck, IEEE TC 36(12), 1987", newGSS},
		{"TAP", nil, "decreasing", "N, P, mu, sigma, alpha", "ceil(T + v^2/2 - v sqrt(2T + v^2/4)), T = R/P, v = alpha sigma/mu", "Lucco, PLDI 1992", newTAP},
		{"TSS", nil, "decreasing", "N, P, first, last", "max(f - i d, l), f = ceil(N/2P), l = 1, d = floor((f-l)/(S-1)), S = ceil(2N/(f+l))", "Tzen, Ni, IEEE TPDS 4(1), 1993", newTSS},
		{"FAC", nil, "decreasing", "N, P, mu, sigma", "ceil(R_j/(x P)), x = 2 + b^2 + b sqrt(b^2+4), first batch 1 + b^2 + b sqrt(b^2+2), b = P sigma/(2 mu sqrt(R_j))", "Flynn Hummel, Schonberg, Flynn, CACM 35(8), 1992", newFAC},
		{"FAC2", []string{"FSS", "FACTORING"}, "decreasing", "N, P", "ceil(N/(P 2^(j+1)))", "Flynn Hummel, Schonberg, Flynn, CACM 35(8), 1992", newFAC2},
		{"WF2", []string{"WF"}, "weighted", "N, P, weights", "ceil(w N/(P 2^(j+1)))", "Flynn Hummel, Schmidt, Uma, Wein, SPAA 1996", newWF2},
		{"TFSS", nil, "decreasing", "N, P, first, last", "floor of the mean of the next P sizes of TSS", "Chronopoulos, Andonie, Benche, Grosu, CLUSTER 2001", newTFSS},
		{"FISS", nil, "increasing", "N, P, stages", "C + j d, C = floor(N/(X P)), d = floor(4N/(X P B(B-1))), X = B+2, B = 3 stages; last stage ceil(R_j/P)", "Philip, Das, PDCS 1997", newFISS},
		{"VISS", nil, "increasing", "N, P, divisor", "floor(C (2 - 2^-j)), C = floor(N/(4P))", "Philip, Das, PDCS 1997", newVISS},
		{"PLS", nil, "decreasing", "N, P, swr", "ceil(SWR N/P) for P steps, then ceil(R/P); SWR = 0.5", "Shih, Yang, Tseng, J. Supercomputing 41(3), 2007", newPLS},
		{"PSS", nil, "decreasing", "N, P, idle", "ceil(R/(1.5 E)), E = P workers that ask", "Girkar, Kejariwal et al., Euro-Par 2006", newPSS},
		{"PSS_SEEDED", nil, "decreasing", "N, P, seed", "ceil(R/(1.5 E)), E the mean of 1 + Binomial(P-1, 1/2), drawn", "Girkar, Kejariwal et al., Euro-Par 2006", newPSSSeeded},
		{"PSS_MEASURED", nil, "adaptive", "N, P", "ceil(R/(1.5 E)), E the mean number of idle workers at a request, counted", "Girkar, Kejariwal et al., Euro-Par 2006", newPSSMeasured},
		{"RAND", []string{"RND"}, "random", "N, P, seed", "uniform from N div 100P to N div 2P", "Ciorba, Iwainsky, Buder, IWOMP 2018", newRAND},
		{"BOLD", nil, "adaptive", "N, P, mu, sigma, h", "minimises expected idle time and overhead, from what is left and what is under way", "Hagerup, JPDC 47(2), 1997", newBOLD},
		{"StaticSteal", []string{"STEAL"}, "stealing", "N, P, min chunk", "one unit of an own STATIC block; then a quarter of another's rest", "LLVM libomp", newStaticSteal},
		{"AWF", nil, "adaptive", "N, P, weights", "ceil(w ceil(R_j/2P)), w from the executions before", "Banicescu, Velusamy, Devaprasad, Cluster Computing 6(3), 2003", newAWF},
		{"AWF-B", nil, "adaptive", "N, P, weights", "ceil(w ceil(R_j/2P)), w anew for each batch", "Carino, Banicescu, J. Supercomputing 44(1), 2008", newAWFB},
		{"AWF-C", nil, "adaptive", "N, P, weights", "ceil(w ceil(R/2P)), w anew for each chunk", "Carino, Banicescu, J. Supercomputing 44(1), 2008", newAWFC},
		{"AWF-D", nil, "adaptive", "N, P, weights", "as AWF-B, with the time of claiming", "Carino, Banicescu, J. Supercomputing 44(1), 2008", newAWFD},
		{"AWF-E", nil, "adaptive", "N, P, weights", "as AWF-C, with the time of claiming", "Carino, Banicescu, J. Supercomputing 44(1), 2008", newAWFE},
		{"AF", nil, "adaptive", "N, P", "ceil((D + 2TR - sqrt(D^2 + 4DTR))/(2 mu)), D = sum sigma^2/mu, T = 1/sum(1/mu), measured", "Banicescu, Liu, HPC 2000", newAF},
		{"AF_CAP", nil, "adaptive", "N, P", "AF, at most w R/2P", "this project", newAFCap},
		{"COST", nil, "cost", "N, P, weights, profile", "w C_j/2P of the cost left, as the execution before measured it; in pieces that can be stolen", "this project", newCost},
	}
}

// Techniques returns a new table of all techniques.
func Techniques() []Technique { return techniques() }

// UnknownError is an unknown name.
type UnknownError struct {
	What    string // "technique", "queue layout" or "victim selection"
	Name    string
	Suggest string   // the nearest name, or ""
	Known   []string // all names, if they are few
}

func (e *UnknownError) Error() string {
	if e.Name == "" {
		return "the name of a " + e.What + " is missing"
	}
	return "no " + e.What + " " + e.Name
}

// Help says what to write instead.
func (e *UnknownError) Help() string {
	switch {
	case e.Suggest != "":
		return "did you mean " + e.Suggest + "?"
	case len(e.Known) > 0:
		return "there are " + strings.Join(e.Known, ", ")
	}
	return "flowrun chunks lists the techniques"
}

// Default is the technique of loops that name none.
var Default = sync.OnceValue(func() *Technique {
	return mustLookup("AUTO_CHUNK")
})

func mustLookup(name string) *Technique {
	t, err := Lookup(name)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return t
}

// Lookup returns the technique of a name, or makes one of an expression that begins with "expr:".
// The error is an *UnknownError or says what is wrong with the expression.
func Lookup(name string) (*Technique, error) {
	if name = strings.TrimSpace(name); len(name) >= len(exprPrefix) && strings.EqualFold(name[:len(exprPrefix)], exprPrefix) {
		return exprTechnique(name)
	}
	if t := byName()[plain(name)]; t != nil {
		return t, nil
	}
	var known []string
	row := map[string]string{}
	for _, t := range techniques() {
		for _, n := range append([]string{t.Name}, t.Aliases...) {
			known = append(known, strings.ToUpper(n))
			row[strings.ToUpper(n)] = n
		}
	}
	e := &UnknownError{What: "technique", Name: name}
	near, _ := source.Suggest(strings.ToUpper(name), known)
	e.Suggest = row[near]
	return nil, e
}

// byName is the techniques by the plain forms of their names. Every execution of a loop that names its
// technique looks it up.
var byName = sync.OnceValue(func() map[string]*Technique {
	of := map[string]*Technique{plain(Auto.Name): Auto}
	for _, t := range techniques() {
		for _, n := range append([]string{t.Name}, t.Aliases...) {
			of[plain(n)] = &t
		}
	}
	return of
})

// plain returns a name in the form that is compared.
func plain(name string) string { return strings.ToUpper(separators.Replace(name)) }

var separators = strings.NewReplacer("-", "", "_", "", " ", "")
