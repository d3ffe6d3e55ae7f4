// Flow's functions in C, for programs that give Flow's bytes: exp, log, sigmoid, pow and normcdf
// operation by operation as ir/loop/functions.txt and kernels/vec/special.go define them. They take
// numbers, no nan. A simple loop over them becomes vectors.
#ifndef EXACT_MATH_H
#define EXACT_MATH_H
#include "exact.h"

#define INLINE static inline __attribute__((always_inline))
#define ROUNDER 6.755399441055744e+15 // 1.5 * 2^52: adding it rounds to an integer, in the low bits
#define LN2_HIGH 0.6931471805598903   // so few bits that integers times it are exact
#define LN2_LOW 5.497923018708371e-14

INLINE double number(uint64_t w) {
	double x;
	memcpy(&x, &w, sizeof x);
	return x;
}

// either returns x where c holds, y elsewhere. The compiler computes both, and can put table
// look-ups into vectors.
INLINE double either(int c, double x, double y) {
	uint64_t mask = -(uint64_t)c;
	return number((word(x) & mask) | (word(y) & ~mask));
}

// scaled returns x * 2^n, rounded once, for x near 1 and an integer n of at most 2000. The first
// factor leaves x normal.
INLINE double scaled(double x, double n) {
	uint64_t whole = word(n + ROUNDER), half = word(n * 0.5 + ROUNDER), bias = 1023 - word(ROUNDER);
	return x * number((half + bias) << 52) * number((whole - half + 1023) << 52);
}

// exponent is exp(x) = 2^n (one + low).
typedef struct {
	double n, one, low;
} exponent;

// exponentOf takes x + rest as the multiple n of log(2), the rounded remainder r and its error.
INLINE exponent exponentOf(double x, double rest, int hasRest) {
	double n = fma(x, 1.4426950408889634, ROUNDER) - ROUNDER, far = fma(-n, LN2_HIGH, x), r, low;
	if (hasRest) {
		double t = fma(-n, LN2_LOW, rest), v;
		r = far + t, v = r - far, low = (far - (r - v)) + (t - v);
	} else
		r = fma(-n, LN2_LOW, far), low = fma(-n, LN2_LOW, far - r);
	double one = 1 + r, z = r * r;
	double odd = fma(fma(fma(fma(2.510524515390137e-08, z, 2.755725533255441e-06), z, 0.00019841269874873975), z,
			     0.00833333333332612), z, 0.1666666666666667);
	double even = fma(fma(fma(fma(2.0914707069612355e-09, z, 2.7557273594799413e-07), z, 2.480158732558584e-05), z,
			      0.0013888888888883737), z, 0.04166666666666667);
	double p = fma(odd, r, fma(even, z, 0.5));
	return (exponent){n, one, ((1 - one) + r) + fma(low, one, z * p)};
}

// exponential returns exp(x) of numbers below 709.
INLINE double exponential(double x) {
	exponent e = exponentOf(x > -1000 ? x : -1000, 0, 0);
	return scaled(e.one + e.low, e.n);
}

// sigmoid returns 1 / (1 + exp(-x)).
INLINE double sigmoid(double x) {
	double y = -fabs(x);
	exponent e = exponentOf(y > -1000 ? y : -1000, 0, 0);
	double m = e.one + e.low, g = scaled(m, e.n), gl = scaled((e.one - m) + e.low, e.n);
	double d = 1 + g, dl = ((1 - d) + g) + gl, top = x < 0 ? g : 1, topl = x < 0 ? gl : 0, inverse = 1 / d, q = top * inverse;
	return fma(fma(-q, d, top) + fma(-q, dl, topl), inverse, q);
}

// logarithm returns log(x) of normal numbers.
INLINE double logarithm(double x) {
	uint64_t w = word(x), top = (w + 2638147582215219) >> 52;
	double m = number(w - (top << 52) + 0x3FF0000000000000), e = number(top | 0x4330000000000000) - 4.503599627371519e+15;
	double f = m - 1, sum = 2 + f, low = f - (sum - 2), s = f / sum, rest = fma(-s, low, fma(-s, sum, f));
	double z = s * s, y = z * z, twice = s + s, cube = s * z, high = e * LN2_HIGH, both = high + twice;
	double p = fma(fma(fma(0.1308723619665962, y, 0.15386241881938595), y, 0.22222222392089008), y, 0.4000000000000088);
	double q = fma(fma(fma(0.13268714792348096, y, 0.18181795600060793), y, 0.28571428570801954), y, 0.6666666666666666);
	double tail = fma(cube, fma(p, z, q), rest * (1 - s));
	return both + (((high - both) + twice) + fma(e, LN2_LOW, tail));
}

// The bins of significands: 1/c, and log(c) as the sum of two numbers.
static const double binInverse[32] = {
	1.4222222222222223, 1.391304347826087, 1.3617021276595744, 1.3333333333333333, 1.3061224489795917,
	1.28, 1.2549019607843137, 1.2307692307692308, 1.2075471698113207, 1.1851851851851851,
	1.1636363636363636, 1.1428571428571428, 1.1228070175438596, 1.103448275862069, 1.0847457627118644,
	1.0666666666666667, 1.0491803278688525, 1.032258064516129, 1.0158730158730158, 1,
	0.9696969696969697, 0.9411764705882353, 0.9142857142857143, 0.8888888888888888, 0.8648648648648649,
	0.8421052631578947, 0.8205128205128205, 0.8, 0.7804878048780488, 0.7619047619047619,
	0.7441860465116279, 0.7272727272727273,
};
static const double binHigh[32] = {
	-0.35222059358943625, -0.33024168687052224, -0.30873548164959175, -0.28768207245184385,
	-0.2670627852489815, -0.2468600779316148, -0.22705745063535687, -0.20763936477828793,
	-0.18859116980752333, -0.16989903679541385, -0.151549898127314, -0.13353139262449076,
	-0.11583181552509814, -0.09844007281321865, -0.08134563945395712, -0.0645385211375924,
	-0.04800921918626955, -0.03174869831468641, -0.01574835696806076, 0, 0.03077165866670839,
	0.06062462181648698, 0.08961215868976069, 0.11778303565643, 0.14518200984457508,
	0.17185025692674571, 0.19782574332998593, 0.22314355131425145, 0.2478361639045943,
	0.2719337154835557, 0.2954642128938758, 0.31845373111855224,
};
static const double binLow[32] = {
	8.411101801842046e-14, -5.4584388914304586e-14, -2.1497841362979213e-14, 6.297908504131321e-14,
	-6.363967541826173e-14, 8.897769688389272e-14, 1.0801245286524724e-14, 4.3369911444011306e-14,
	-2.6655267661544328e-14, 1.643178756532876e-14, 1.1311962035603108e-13, -3.1804225197847076e-14,
	-2.3513311030807498e-14, -3.38573632414336e-14, 4.7168402252529375e-15, 2.1239485832617812e-14,
	-9.11125854955886e-14, 1.061342829278565e-13, -7.835152267383152e-14, 0, 4.527038700229366e-14,
	-5.2122328603557226e-14, -7.35264771717827e-14, -4.649178632475319e-14, -7.723552451951224e-14,
	-8.643688492088945e-14, -6.60107543013043e-14, -4.175347699650321e-14, -1.30644916428282e-14,
	8.609857887931859e-14, -3.9920286056070625e-14, -1.765318688778829e-14,
};

// product returns x to the power y, a whole number of size below 16 that is not 2, 3 or -1, where neither the result
// nor its inverse is beyond 2^480: by products that carry what roundings lose.
INLINE double product(double x, double y) {
	double n = fabs(y), h = n < 1 ? 1 : x, l = 0;
#pragma GCC unroll 3
	for (int k = 2; k >= 0; k--) {
		if (n < 2 << k) continue;
		double square = h * h;
		l = fma(h, l, fma(l, h, fma(h, h, -square))), h = square;
		if ((long)n >> k & 1) {
			double odd = h * x;
			l = fma(l, x, fma(h, x, -odd)), h = odd;
		}
	}
	if (y < 0) {
		double v = 1 / h;
		l = v * fma(-v, l, fma(-v, h, 1)), h = v;
	}
	return h + l;
}

// power returns x to the power y of normal positive x, for y that are none of the exponents that
// pow computes by products and roots: multiples of 0.5 of size below 16.
INLINE double power(double x, double y) {
	uint64_t w = word(x), place = w + 2744381022928896, top = place >> 52, bin = place >> 47 & 31;
	double m = number(w - (top << 52) + 0x3FF0000000000000), e = number(top | 0x4330000000000000) - 4.503599627371519e+15;
	double h = m * binInverse[bin], dl = fma(m, binInverse[bin], -h), d = h - 1, half = d * -0.5, g = fma(half, d, d);
	double gl = fma(half, d, d - g), z = d * d;
	double odd = fma(fma(fma(-0.100041093604183, z, -0.12499999366870494), z, -0.1666666666669788), z, -0.25);
	double even = fma(fma(fma(0.11115594033050308, z, 0.1428571359503092), z, 0.20000000000034052), z, 0.3333333333333333);
	gl = fma(z * d, fma(odd, d, even), gl) + fma(-(d - z), dl, dl);
	double a = fma(e, LN2_HIGH, binHigh[bin]), b = a + g, c = ((a - b) + g) + (gl + fma(e, LN2_LOW, binLow[bin]));
	double l = b + c, ll = (b - l) + c, p = y * l, pl = fma(y, ll, fma(y, l, -p));
	pl = fabs(p) < 1000 ? pl : 0, p = p > -1000 ? p : -1000;
	exponent v = exponentOf(p < 1000 ? p : 1000, pl, 1);
	return x == 1 ? 1 : scaled(v.one + v.low, v.n);
}

// exp(x^2) erfc(x) / t by t = 4 / (4 + x), from 2/16 on by sixteenths: the constant as the sum of
// two numbers, then the coefficients of the powers.
static const double erfcOver[11][13] = {
	{
		0.16698870816517747, 0.18010155403037814, 0.1953140201698932, 0.21313198888339607,
		0.23422060040400827, 0.2594636386086134, 0.29004689161259706, 0.3275749134094485,
		0.37423363992810166, 0.4330147503602748, 0.5080212184546333, 0.6048766925557096,
		0.7312635480901148},
	{
		-7.544727642998725e-18, -1.1051989818255062e-18, -9.931903673367423e-18,
		6.1311464443311676e-18, 6.911811472308584e-18, -1.2287127392095876e-17,
		4.480634489518581e-19, -1.18187740757329e-17, -3.490331146604911e-18,
		-2.5489031591019413e-18, 5.00172513279706e-17, 2.832139464881892e-18, -4.139182002739973e-17},
	{
		0.19521212627548845, 0.22542825404553532, 0.26270857604977926, 0.30922455464533233,
		0.36794589705317465, 0.4429627623114905, 0.5399373845890536, 0.6667293885444775,
		0.8342470595047261, 1.0575815268509021, 1.3574793482368237, 1.7621985163479126,
		2.3097715261753744},
	{
		0.21805089938237132, 0.2675211616649635, 0.3318293672355981, 0.41634360950436106,
		0.5285920438991116, 0.679145075977515, 0.8828159818091408, 1.1602503234468389,
		1.5399584664690322, 2.060808107176134, 2.774932477993384, 3.750928423152899,
		5.077127725513572},
	{
		0.23164945901929074, 0.2994097766927346, 0.3912604368076406, 0.5168390106196731,
		0.6897677435068013, 0.9291580765522345, 1.261502795755525, 1.7229173204953214,
		2.361591852665954, 3.24019126012932, 4.437815684370366, 6.051049610999023, 8.193618356752287},
	{
		0.23268335488904476, 0.3138744148397964, 0.42728030956664015, 0.5863297775886256,
		0.8097145963536022, 1.122919233833088, 1.5597494856026204, 2.1635297742218884,
		2.9875077307198175, 4.093946270555828, 5.55145780298155, 7.4303701976280125,
		9.796280952157998},
	{
		0.21926792490725966, 0.3053684934533045, 0.42751909484639083, 0.6002834806532746,
		0.8428870225433553, 1.179584952000469, 1.6392093036852406, 2.2534280914025984,
		3.0533781094020496, 4.064670103827377, 5.30126011112648, 6.759181753850991,
		8.411445559095934},
	{
		0.19176593546429732, 0.27213806165804866, 0.3857686339859541, 0.5441668166790808,
		0.7605158912446334, 1.0480958633115551, 1.4174586285915192, 1.8724393205819025,
		2.405623139290884, 2.994425008767327, 3.5991948531850193, 4.164516190054581,
		4.6241214291901915},
	{
		0.15318644463177533, 0.21774865748280683, 0.3061100495136713, 0.4230765196688545,
		0.5711146055290386, 0.7477115806287266, 0.9424439707333515, 1.1348004263888545,
		1.2940864218236687, 1.3824276185456426, 1.3609332224381911, 1.197836936617821,
		0.8764947248583349},
	{
		0.10897481356741097, 0.15122079662168897, 0.20402138747313403, 0.2648250254206362,
		0.32652225012564645, 0.37618049964648625, 0.3953506179816778, 0.3628919656124554,
		0.2603649459050663, 0.07867535268156689, -0.1764007525076324, -0.4821873858578042,
		-0.801772576871068},
	{
		0.06560538879971248, 0.08472453024737973, 0.10232111781548768, 0.11183751509491892,
		0.103752141919878, 0.06734386371598687, -0.00551797897823527, -0.11547910340366713,
		-0.25188986844487576, -0.3924977560101685, -0.507740911685598, -0.5685187966229638,
		-0.5545650371811283},
};
// erf(x) / x by x^2 from 0 to 1/4.
static const double erfOver[10] = {
	1.0830752376761712, 1.040650742831479e-16, -0.3491364710935831, 0.10323658675594932,
	-0.024383165104740107, 0.004716969080911766, -0.0007691399920694917, 0.00010818748975606738,
	-1.3373262711652195e-05, 1.4725865480556744e-06,
};

// normcdf returns the probability that a standard normal number is at most x.
INLINE double normcdf(double x) {
	double y = fabs(x) * M_SQRT1_2, in = either((y > 0.5) & (y <= 28), y, 1);
	double square = x * x, low = fma(x, x, -square), q = exponential(-square * 0.5);
	q -= q * (low * 0.5);
	double t = 4 / (4 + in);
	int64_t i = (int32_t)(t * 16), k = i - 2;
	double u = t - (i + 0.5) * 0.0625, s = erfcOver[10][k];
	s = erfcOver[9][k] + s * u, s = erfcOver[8][k] + s * u, s = erfcOver[7][k] + s * u, s = erfcOver[6][k] + s * u;
	s = erfcOver[5][k] + s * u, s = erfcOver[4][k] + s * u, s = erfcOver[3][k] + s * u, s = erfcOver[2][k] + s * u;
	double p = 0.5 * q * (t * (erfcOver[0][k] + (erfcOver[1][k] + s * u)));
	p = either(y < 28, p, 0);
	double z = x * M_SQRT1_2, v = z * z - 0.125, r = erfOver[9];
	r = erfOver[8] + r * v, r = erfOver[7] + r * v, r = erfOver[6] + r * v, r = erfOver[5] + r * v;
	r = erfOver[4] + r * v, r = erfOver[3] + r * v, r = erfOver[2] + r * v;
	double near = 0.5 + 0.5 * (z * (erfOver[0] + (erfOver[1] + r * v))), far = either(x > 0, 1 - p, p);
	return either(y <= 0.5, near, far);
}
#endif
