package vec

// This file defines the gamma function and its logarithm, and lists the special functions. The gamma
// function is not generated because its number of rounds depends on the argument. The other special
// functions are generated (gen/functions_special.go). A product that is added to a number is converted
// to float64 or is an operand of math.FMA. So no compiler fuses the two, and a result has the same bits
// on every processor. special_test.go tests the bounds of errors.
//
// The polynomials at the end of this file and of gen/functions_special.go are tables. Each table has
// pieces of equal width. A piece is the polynomial through the values at the Chebyshev nodes of its
// interval, computed in 50 decimal digits and written in powers of the distance from the middle of the
// interval; its distance from the function is below 2^-57 of the value. special_test.go compares what
// comes of them with values of high precision.

import "math"

// Special lists the error function, the gamma function and the normal distribution. Ulps is a bound of
// the error in units of the last place of the result. It was measured against values of high precision
// and rounded up. It holds for results above 2.2e-308. The unit is at least that of Near: lgamma has
// zeros between its poles, where its error is not relative.
var Special = []struct {
	Name       string
	F          func(float64) float64
	Ulps, Near float64
}{
	{"erf", Erf, 3.5, 0}, {"erfc", Erfc, 5.5, 0}, {"gamma", Gamma, 3, 0}, {"lgamma", Lgamma, 4, 1},
	{"normcdf", Normcdf, 6, 0}, {"normquantile", Normquantile, 4, 0},
}

// at is the polynomial at distance u from the middle of its interval, as the sum of two numbers:
// the first has at least half of the value.
func at(hi, lo float64, c []float64, u float64) (float64, float64) {
	p := c[len(c)-1]
	for i := len(c) - 2; i >= 0; i-- {
		p = c[i] + float64(p*u)
	}
	return hi, lo + float64(p*u)
}

// gammaNear is Gamma(1 + z) for z from 0 to 1, as the sum of two numbers.
func gammaNear(z float64) (float64, float64) {
	i := min(int(z*8), len(gammaOf)-1)
	p := &gammaOf[i]
	return at(p.hi, p.lo, p.c[:], z-(float64(i)+0.5)/8)
}

// times is (hi + lo) x, the product of a sum of two numbers.
func times(hi, lo, x float64) (float64, float64) {
	p := float64(hi * x)
	if math.IsInf(p, 0) {
		return p, 0
	}
	e := math.FMA(hi, x, -p) + float64(lo*x)
	s := p + e
	return s, e - (s - p)
}

// Gamma is the gamma function, by Gamma(x + 1) = x Gamma(x) from its values between 1 and 2: inf or
// -inf at a zero, NaN at the negative integers, whose sides have different signs.
func Gamma(x float64) float64 {
	switch {
	case x != x || math.IsInf(x, -1):
		return math.NaN()
	case x > 172:
		return math.Inf(1)
	case x == 0:
		return 1 / x
	}
	n := math.Floor(x)
	if x < 0 && n == x {
		return math.NaN()
	}
	if x >= 1 {
		hi, lo := 1.0, 0.0
		if f := x - n; f > 0 {
			a, b := gammaNear(f)
			hi = a + b
			lo = b - (hi - a)
		}
		for k := 1.0; k < n; k++ {
			if hi, lo = times(hi, lo, x-k); math.IsInf(hi, 0) {
				return hi
			}
		}
		return hi
	}
	if x < -190 { // below the least number
		if math.Mod(n, 2) == 0 {
			return 0
		}
		return math.Copysign(0, -1)
	}
	// Gamma(1 + f) / ((x + 0) (x + 1) .. (x - n)), f = x - n, with the product in two parts,
	// neither of which overflows.
	a, b := gammaNear(x - n)
	g := a + b
	hi, lo := 1.0, 0.0
	for k := 0.0; k <= -n; k++ {
		if hi, lo = times(hi, lo, x+k); math.Abs(hi) > 1e150 {
			g /= hi
			g, hi, lo = g-float64(g*(lo/hi)), 1, 0
		}
	}
	if g /= hi; math.IsInf(g, 0) {
		return g
	}
	return g - float64(g*(lo/hi))
}

// lgammaNear is log(Gamma(x)) for x from 1 to 2.5.
func lgammaNear(x float64) float64 {
	return float64((x-1)*(x-2)) * lgammaRest(x-1)
}

// Lgamma is the natural logarithm of the absolute value of the gamma function: inf at zero and at
// the negative integers.
func Lgamma(x float64) float64 {
	switch {
	case x != x:
		return x
	case math.IsInf(x, 0):
		return math.Inf(1)
	case x <= 0 && math.Floor(x) == x:
		return math.Inf(1)
	case x < -30: // Gamma(x) Gamma(-x) = -pi / (x sin(pi x))
		s := math.Abs(Sin(math.Pi * (x - math.RoundToEven(x))))
		return Log(math.Pi/s) - Log(-x) - Lgamma(-x)
	case x < 0:
		return Log(math.Abs(Gamma(x)))
	case x == 1 || x == 2:
		return 0 // not -0
	case x < 1: // Gamma(x) = Gamma(1 + x) / x
		return float64(float64(x*(x-1))*lgammaRest(x)) - Log(x)
	case x < 2.5:
		return lgammaNear(x)
	case x < 12:
		hi, lo := 1.0, 0.0
		y := x
		for y >= 2.5 {
			y--
			hi, lo = times(hi, lo, y)
		}
		return Log(hi) + lgammaNear(y)
	case x > 1e17:
		return x * (Log(x) - 1)
	}
	// Stirling's series.
	const half = 0.5 * 0.83787706640934548356 // (log(2 pi) - 1) / 2
	z := 1 / x
	w := float64(z * z)
	s := float64(w*(-1.0/1680)) + 1.0/1260
	s = float64(w*s) - 1.0/360
	s = float64(w*s) + 1.0/12
	s = float64(z*(float64(w*float64(w*float64(w*float64(w/1188)))))) + float64(z*s)
	return float64((x-0.5)*(Log(x)-1)) + (half + s)
}

// lgammaRest is log(Gamma(1 + x)) / (x (x - 1)) for x from 0 to 1.5.
func lgammaRest(x float64) float64 {
	i := min(int(x*8), len(lgammaOver)-1)
	p := &lgammaOver[i]
	a, b := at(p.hi, p.lo, p.c[:], x-(float64(i)+0.5)/8)
	return a + b
}

// piece is one polynomial: its constant as the sum of two numbers, and the coefficients from the
// first power on.
type piece[C any] struct {
	hi, lo float64
	c      C
}

// gammaOf is Gamma(1 + z) by z, from 0 to 1.
var gammaOf = [...]piece[[11]float64]{
	{0.9675800675995249, 2.1653521081104032e-17, [...]float64{-0.4633290922826242, 0.8397243799216599, -0.6960400841112839, 0.7254936350609461, -0.6793268214531366, 0.6488899918541202, -0.6125239966272037, 0.5780356509491145, -0.5446537118731116, 0.5183300416793656, -0.48799651375274083}},
	{0.9215837763401681, -5.2926278231683604e-17, [...]float64{-0.2810818076824248, 0.6354936288568646, -0.41848617841182495, 0.41925713773599466, -0.34393595790463205, 0.2972744770045532, -0.25080160275876123, 0.21214359163597685, -0.1789266819107635, 0.15210046622488899, -0.1281525163839598}},
	{0.895653669980321, -1.7891929159995804e-17, [...]float64{-0.1389208785667555, 0.5120970368120941, -0.25281563988938655, 0.2598673700376694, -0.18460427733243637, 0.14753912085265977, -0.11208665481913774, 0.08605623841998779, -0.0656803342836209, 0.050470581682991, -0.03848407689681605}},
	{0.8858546203723767, -3.681650090393919e-17, [...]float64{-0.020918167060459583, 0.43852484187409135, -0.14679233847363135, 0.17266005529827114, -0.10300862019374159, 0.07845595102847006, -0.05372320020044612, 0.03790340662721161, -0.026393715468804677, 0.018516265791148387, -0.012894217207998302}},
	{0.8898443818650695, -2.844230867150878e-17, [...]float64{0.08306837911359873, 0.39790923285999796, -0.07389452261411494, 0.12355454249165966, -0.058338826546731115, 0.044491046969675735, -0.027202635239389525, 0.01790041564078669, -0.01143073872514018, 0.007385916129967686, -0.004732153724051894}},
	{0.9063294778385306, -4.4592310181264457e-17, [...]float64{0.17998341987820143, 0.3807898265010525, -0.019699898177105782, 0.09592800083297606, -0.03224092733088662, 0.026964574661974702, -0.014326527712193496, 0.008992269809613844, -0.005267796802261615, 0.003163163884066603, -0.0018753497786521969}},
	{0.9347613025355528, -2.6737022617880038e-17, [...]float64{0.27497211117780174, 0.38185635274510044, 0.024171185271218424, 0.08125357165003015, -0.01587559209531241, 0.017637359057296076, -0.007686454510278567, 0.00479108659889601, -0.0025534231264117903, 0.0014410954179774403, -0.0007934223080281235}},
	{0.9751659479875943, -3.8304675672339306e-17, [...]float64{0.3721876790700286, 0.39828813479767644, 0.06294813378540055, 0.07501273984299099, -0.004714412874766188, 0.012652739085681722, -0.004049606191223084, 0.0027180905924926837, -0.0012850879861506749, 0.000694320629185249, -0.0003548921944681172}},
}

// lgammaOver is log(Gamma(x)) / ((x - 1) (x - 2)) by x - 1, from 0 to 1.5.
var lgammaOver = [...]piece[[10]float64]{
	{0.5624678450103948, -3.894176959302165e-17, [...]float64{-0.22708692179611437, 0.13583155412117442, -0.0948099969415641, 0.0715358115709065, -0.056478830677010476, 0.04591306478610794, -0.038089210683568527, 0.032076581385190796, -0.027548148198733025, 0.023690625928281167}},
	{0.5360350719541803, -2.3924849571110788e-17, [...]float64{-0.19707582313985467, 0.10602792613810978, -0.06635167328277283, 0.04485279040296171, -0.031724023612083437, 0.023104164001849736, -0.01717168307990453, 0.012954897909053537, -0.009950551311379953, 0.007664456819367763}},
	{0.5129377501958122, -4.3507834137947716e-17, [...]float64{-0.17336357289234458, 0.0848062252339821, -0.048107026847692066, 0.02945512470484729, -0.018867964779833275, 0.012445350277191805, -0.008377707680566131, 0.0057244965242587206, -0.003977586216274212, 0.002774557275036314}},
	{0.4925051009992032, -7.965354220483113e-18, [...]float64{-0.15420787248600382, 0.06919975055091834, -0.035904368861334246, 0.020091384250882503, -0.011760247136259222, 0.007088427874666933, -0.0043605227744761225, 0.002722873156247615, -0.0017274358885011542, 0.0011010999211787948}},
	{0.4742448086605885, -1.4219767786689185e-17, [...]float64{-0.13844715293951282, 0.05741291522045755, -0.027452425453379847, 0.014145195457102184, -0.007622480382504306, 0.004229715720666115, -0.00239552131750918, 0.0013772135859080614, -0.0008038939830463109, 0.0004717674207977361}},
	{0.45778560919156, 2.206861408609489e-17, [...]float64{-0.12527883665074532, 0.04830958014903983, -0.02142396523507419, 0.01022952173443242, -0.005107051111359667, 0.00262545018810486, -0.0013776134016839406, 0.0007338008021028443, -0.00039664612380902863, 0.0002156683367549071}},
	{0.4428410991043222, 1.0662084128417307e-18, [...]float64{-0.11413155948862734, 0.04114366769285378, -0.017015257490073824, 0.007569957245795218, -0.003520429537932395, 0.0016857702031481039, -0.0008239536762732392, 0.00040883655156500655, -0.00020577734923512607, 0.00010422920981111023}},
	{0.42918603781101006, 8.19830819503229e-18, [...]float64{-0.10458810174011886, 0.0354095570680482, -0.01372089781342121, 0.005714739627534153, -0.002487343147527428, 0.00111467527046525, -0.0005098817013994213, 0.0002367811533851813, -0.00011150343070083087, 5.2860147020206616e-05}},
	{0.4166403241089058, -1.4012910312778066e-17, [...]float64{-0.09633707812725548, 0.030755175115295696, -0.011212618470412975, 0.004390204366862344, -0.0017958003866326575, 0.0007562574859468532, -0.00032508066939611617, 0.00014186698424766472, -6.276592120695336e-05, 2.7963813986525362e-05}},
	{0.4050578590703812, -3.861420812048866e-18, [...]float64{-0.08914163920294128, 0.02692952593307508, -0.009271122720890694, 0.003425058821111088, -0.0013214899851801156, 0.0005248749504558406, -0.0002127913153291165, 8.758508327908474e-05, -3.6539924285129204e-05, 1.5354887914486398e-05}},
	{0.3943186181242154, 5.667231052498931e-18, [...]float64{-0.08281860573117705, 0.02374993837153369, -0.007746252667411322, 0.00270896676060056, -0.0009890908817945018, 0.00037172055411030275, -0.0001425917364491966, 5.553373523138827e-05, -2.1918183427086416e-05, 8.715444998199451e-06}},
	{0.3843228883324753, 1.3529254600562917e-18, [...]float64{-0.07722420585841787, 0.021081016550400237, -0.006532924478935919, 0.002169030860277621, -0.0007516262498291494, 0.00026806033734230885, -9.757697429986917e-05, 3.606205060499653e-05, -1.3504358897805107e-05, 5.095861320460364e-06}},
}

// What follows is shared by the generated functions (functions_gen.go), and lists them.

// scaled is p * 2^n rounded once, for p that is 0 or near 1 and an integral |n| < 2046. It multiplies
// by two factors, and the first one makes no subnormal number.
func scaled(p, n float64) float64 {
	bits := math.Float64bits(n+0x1.8p52) - (0x4338000000000000 - 2046)
	half := bits >> 1
	return float64(p * math.Float64frombits(half<<52) * math.Float64frombits((bits-half)<<52))
}

// Function is a function F of one number or two: its definition, and how far F may be from the exact
// value in units of the last place of the result: as measured against 160-bit arithmetic and rounded
// up. Ulps is 0 where the exact value is rounded once. Results below the normal range are rounded a
// second time (scaled), so they may be farther away: Tiny is the bound for them, 0 where normal
// arguments have none. Every way of computing a function gives the bits of F.
type Function[F any] struct {
	Name string
	F    F
	Ulps float64
	Tiny float64
	// F32 is the function of float32: its results are rounded once more, and are within Ulps32 of the
	// exact value then.
	F32 F
}

// One and Two are functions of so many numbers.
type (
	One = func(x float64) float64
	Two = func(x, y float64) float64
)

// Ulps32 is how far the functions of float32 may be from the exact value, in units of the last
// place of the result.
const Ulps32 = 0.501

// Functions are those of one number.
var Functions = []Function[One]{
	{"exp", Exp, 0.7, 1, Exp32},
	{"expm1", Expm1, 1.15, 0, Expm132},
	{"tanh", Tanh, 0.9, 0, Tanh32},
	{"sinh", Sinh, 0.85, 0, Sinh32},
	{"cosh", Cosh, 0.7, 0, Cosh32},
	{"sigmoid", Sigmoid, 0.75, 1, Sigmoid32},
	{"log", Log, 0.6, 0, Log32},
	{"log2", Log2, 0.6, 0, Log232},
	{"log10", Log10, 0.6, 0, Log1032},
	{"log1p", Log1p, 0.6, 0, Log1p32},
	{"sin", Sin, 0.8, 0, Sin32},
	{"cos", Cos, 0.8, 0, Cos32},
	{"tan", Tan, 0.95, 0, Tan32},
	{"asin", Asin, 0.7, 0, Asin32},
	{"acos", Acos, 0.7, 0, Acos32},
	{"atan", Atan, 0.75, 0, Atan32},
	{"cbrt", Cbrt, 0.51, 0, Cbrt32},
	{"rsqrt", Rsqrt, 0.6, 0, Rsqrt},
}

// Functions2 are those of two numbers.
var Functions2 = []Function[Two]{
	{"pow", Pow, 0.7, 1, Pow32},
	{"atan2", Atan2, 0.75, 0, Atan232},
	{"idiv", FloorDiv, 0, 0, FloorDiv},
	{"mod", Mod, 0, 0, Mod},
}

// FunctionNamed is the function of one number with that name, Function2Named that of two.
func FunctionNamed(name string) (Function[One], bool)  { return named(Functions, name) }
func Function2Named(name string) (Function[Two], bool) { return named(Functions2, name) }

func named[F any](list []Function[F], name string) (Function[F], bool) {
	for _, f := range list {
		if f.Name == name {
			return f, true
		}
	}
	return Function[F]{}, false
}

// Map1F64 is the loop of a function of one float64.
func Map1F64(f func(float64) float64) func(dst, a []float64) {
	return func(dst, a []float64) {
		a = a[:len(dst)]
		for i, v := range a {
			dst[i] = f(v)
		}
	}
}

// Map1F32 is the same in float32: f in float64, rounded once more.
func Map1F32(f func(float64) float64) func(dst, a []float32) {
	return func(dst, a []float32) {
		a = a[:len(dst)]
		for i, v := range a {
			dst[i] = float32(f(float64(v)))
		}
	}
}

// Map2F64 is the loop of a function of two float64.
func Map2F64(f func(a, b float64) float64) func(dst, a, b []float64) {
	return func(dst, a, b []float64) {
		a, b = a[:len(dst)], b[:len(dst)]
		for i, v := range a {
			dst[i] = f(v, b[i])
		}
	}
}

// Sign is -1, 0 or 1; zeros keep their sign, NaN stays.
func Sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return x
}
