package loop

// TabulateFrom is Tabulate of values from so many statements on.
var TabulateFrom = tabulate
