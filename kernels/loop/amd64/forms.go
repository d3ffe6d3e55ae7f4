package amd64

// This file defines the table of vector and mask instructions, a row an instruction form. The names
// are those of the Go assembler; a form that shares its name with another has a suffix: Store
// writes memory or the register on the other side, K gives a mask, I takes an immediate, G reads a
// general register. The table is one file although it is long: a form has one row, and tests go
// through all rows against the assembler.

// Op is an instruction form.
type Op uint16

// The instruction forms.
const (
	noOp Op = iota
	VADDPD
	VADDPS
	VADDSD
	VMULPD
	VMULPS
	VSUBPD
	VSUBPS
	VMINPD
	VMINPS
	VDIVPD
	VDIVPS
	VMAXPD
	VMAXPS
	VSQRTPD
	VSQRTPS
	VSQRTSD
	VSQRTSS
	VANDPD
	VANDPS
	VORPD
	VORPS
	VXORPD
	VXORPS
	VUNPCKLPD
	VUNPCKLPS
	VUNPCKHPD
	VUNPCKHPS
	VSHUFPD
	VSHUFPS
	VFMADD132PD
	VFMADD132PS
	VFMADD213PD
	VFMADD213PS
	VFMADD231PD
	VFMADD231PS
	VFMADD231SD
	VFMADD231SS
	VFMSUB132PD
	VFMSUB132PS
	VFMSUB213PD
	VFMSUB213PS
	VFMSUB231PD
	VFMSUB231PS
	VFNMADD132PD
	VFNMADD132PS
	VFNMADD213PD
	VFNMADD213PS
	VFNMADD231PD
	VFNMADD231PS
	VFNMSUB132PD
	VFNMSUB132PS
	VFNMSUB213PD
	VFNMSUB213PS
	VFNMSUB231PD
	VFNMSUB231PS
	VCMPPD
	VCMPPS
	VCMPPDK
	VCMPPSK
	VPCMPQ
	VPCMPUQ
	VPCMPD
	VPCMPEQQ
	VPCMPGTQ
	VPTEST
	VPTESTMQ
	VPTESTMB
	VROUNDPD
	VROUNDPS
	VRNDSCALEPD
	VRNDSCALEPS
	VRANGEPD
	VRANGEPS
	VSCALEFPD
	VRSQRT14PD
	VBLENDVPD
	VBLENDVPS
	VPBLENDD
	VBLENDMPD
	VBLENDMPS
	VMOVUPD
	VMOVUPDStore
	VMOVUPS
	VMOVUPSStore
	VMOVAPD
	VMOVDQU
	VMOVDQUStore
	VMOVDQU64
	VMOVDQU64Store
	VMOVDQU32
	VMOVDQU8
	VMOVNTPD
	VMOVNTDQ
	VMASKMOVPD
	VMASKMOVPS
	VMASKMOVPDStore
	VMASKMOVPSStore
	VMOVSD
	VMOVSDStore
	VMOVHPD
	VMOVHPDStore
	VMOVSS
	VMOVSSStore
	VMOVQ
	VMOVQStore
	VMOVD
	VMOVDStore
	VMOVMSKPD
	VMOVMSKPS
	VPMOVMSKB
	VBROADCASTSD
	VBROADCASTSS
	VPBROADCASTQ
	VPBROADCASTD
	VPBROADCASTQG
	VPBROADCASTDG
	VCVTQQ2PD
	VCVTTPD2QQ
	VCVTTPS2QQ
	VCVTPD2PS
	VCVTPS2PD
	VCVTQQ2PS
	VCVTTPD2DQ
	VCVTSI2SDQ
	VCVTSI2SSQ
	VCVTTSD2SIQ
	VPADDQ
	VPSUBQ
	VPMULUDQ
	VPMULLQ
	VPMINSD
	VPMAXSD
	VPMINSQ
	VPMAXSQ
	VPSLLVQ
	VPSRLVQ
	VPSRAVQ
	VPANDQ
	VPORQ
	VPXORQ
	VPAND
	VPANDN
	VPOR
	VPXOR
	VPABSQ
	VPTERNLOGQ
	VPSLLQ
	VPSRLQ
	VPSRAQ
	VPSLLD
	VPSRLD
	VPSRAD
	VPMOVZXBQ
	VPMOVSXDQ
	VPMOVZXDQ
	VPMOVQB
	VPMOVQD
	VPMOVDB
	VPMOVM2Q
	VPMOVQ2M
	VPMOVM2D
	VPERMQI
	VPERMILPS
	VPSHUFD
	VPERM2F128
	VSHUFF64X2
	VALIGNQ
	VEXTRACTF128
	VEXTRACTF64X4
	VINSERTF128
	VINSERTF64X2
	VGATHERQPD
	VPGATHERDD
	VGATHERQPS
	VSCATTERQPD
	VSCATTERQPS
	KANDW
	KANDNW
	KORW
	KXNORW
	KXORW
	KNOTB
	KORTESTB
	KTESTB
	KMOVB
	KMOVBFromG
	KMOVBToG
	KNOTW
	KORTESTW
	KTESTW
	KMOVW
	KMOVWStore
	KMOVWFromG
	KMOVWToG
	KSHIFTRW
	KSHIFTLW
	lastOp
)

// forms is the table.
var forms = [lastOp]form{
	VADDPD:          {name: "VADDPD", pat: rvm, pp: p66, mm: m0F, op: 0x58, vexW: 0, evexW: 1, tuple: tFull, elem: 8},
	VADDPS:          {name: "VADDPS", pat: rvm, pp: pNo, mm: m0F, op: 0x58, vexW: 0, evexW: 0, tuple: tFull, elem: 4},
	VADDSD:          {name: "VADDSD", pat: rvm, pp: pF2, mm: m0F, op: 0x58, vexW: 0, evexW: 1, tuple: tScalar, elem: 8, dst: wX, src: wX},
	VMULPD:          {name: "VMULPD", pat: rvm, pp: p66, mm: m0F, op: 0x59, vexW: 0, evexW: 1, tuple: tFull, elem: 8},
	VMULPS:          {name: "VMULPS", pat: rvm, pp: pNo, mm: m0F, op: 0x59, vexW: 0, evexW: 0, tuple: tFull, elem: 4},
	VSUBPD:          {name: "VSUBPD", pat: rvm, pp: p66, mm: m0F, op: 0x5c, vexW: 0, evexW: 1, tuple: tFull, elem: 8},
	VSUBPS:          {name: "VSUBPS", pat: rvm, pp: pNo, mm: m0F, op: 0x5c, vexW: 0, evexW: 0, tuple: tFull, elem: 4},
	VMINPD:          {name: "VMINPD", pat: rvm, pp: p66, mm: m0F, op: 0x5d, vexW: 0, evexW: 1, tuple: tFull, elem: 8},
	VMINPS:          {name: "VMINPS", pat: rvm, pp: pNo, mm: m0F, op: 0x5d, vexW: 0, evexW: 0, tuple: tFull, elem: 4},
	VDIVPD:          {name: "VDIVPD", pat: rvm, pp: p66, mm: m0F, op: 0x5e, vexW: 0, evexW: 1, tuple: tFull, elem: 8},
	VDIVPS:          {name: "VDIVPS", pat: rvm, pp: pNo, mm: m0F, op: 0x5e, vexW: 0, evexW: 0, tuple: tFull, elem: 4},
	VMAXPD:          {name: "VMAXPD", pat: rvm, pp: p66, mm: m0F, op: 0x5f, vexW: 0, evexW: 1, tuple: tFull, elem: 8},
	VMAXPS:          {name: "VMAXPS", pat: rvm, pp: pNo, mm: m0F, op: 0x5f, vexW: 0, evexW: 0, tuple: tFull, elem: 4},
	VSQRTPD:         {name: "VSQRTPD", pat: rm, pp: p66, mm: m0F, op: 0x51, vexW: 0, evexW: 1, tuple: tFull, elem: 8},
	VSQRTPS:         {name: "VSQRTPS", pat: rm, pp: pNo, mm: m0F, op: 0x51, vexW: 0, evexW: 0, tuple: tFull, elem: 4},
	VSQRTSD:         {name: "VSQRTSD", pat: rvm, pp: pF2, mm: m0F, op: 0x51, vexW: 0, evexW: 1, tuple: tScalar, elem: 8, dst: wX, src: wX},
	VSQRTSS:         {name: "VSQRTSS", pat: rvm, pp: pF3, mm: m0F, op: 0x51, vexW: 0, evexW: 0, tuple: tScalar, elem: 4, dst: wX, src: wX},
	VANDPD:          {name: "VANDPD", pat: rvm, pp: p66, mm: m0F, op: 0x54, vexW: 0, evexW: 1, tuple: tFull, elem: 8},
	VANDPS:          {name: "VANDPS", pat: rvm, pp: pNo, mm: m0F, op: 0x54, vexW: 0, evexW: 0, tuple: tFull, elem: 4},
	VORPD:           {name: "VORPD", pat: rvm, pp: p66, mm: m0F, op: 0x56, vexW: 0, evexW: 1, tuple: tFull, elem: 8},
	VORPS:           {name: "VORPS", pat: rvm, pp: pNo, mm: m0F, op: 0x56, vexW: 0, evexW: 0, tuple: tFull, elem: 4},
	VXORPD:          {name: "VXORPD", pat: rvm, pp: p66, mm: m0F, op: 0x57, vexW: 0, evexW: 1, tuple: tFull, elem: 8},
	VXORPS:          {name: "VXORPS", pat: rvm, pp: pNo, mm: m0F, op: 0x57, vexW: 0, evexW: 0, tuple: tFull, elem: 4},
	VUNPCKLPD:       {name: "VUNPCKLPD", pat: rvm, pp: p66, mm: m0F, op: 0x14, vexW: 0, evexW: 1, tuple: tFull, elem: 8},
	VUNPCKLPS:       {name: "VUNPCKLPS", pat: rvm, pp: pNo, mm: m0F, op: 0x14, vexW: 0, evexW: 0, tuple: tFull, elem: 4},
	VUNPCKHPD:       {name: "VUNPCKHPD", pat: rvm, pp: p66, mm: m0F, op: 0x15, vexW: 0, evexW: 1, tuple: tFull, elem: 8},
	VUNPCKHPS:       {name: "VUNPCKHPS", pat: rvm, pp: pNo, mm: m0F, op: 0x15, vexW: 0, evexW: 0, tuple: tFull, elem: 4},
	VSHUFPD:         {name: "VSHUFPD", pat: rvm, pp: p66, mm: m0F, op: 0xc6, vexW: 0, evexW: 1, tuple: tFull, elem: 8, imm: true},
	VSHUFPS:         {name: "VSHUFPS", pat: rvm, pp: pNo, mm: m0F, op: 0xc6, vexW: 0, evexW: 0, tuple: tFull, elem: 4, imm: true},
	VFMADD132PD:     {name: "VFMADD132PD", pat: rvm, pp: p66, mm: m38, op: 0x98, vexW: 1, evexW: 1, tuple: tFull, elem: 8},
	VFMADD132PS:     {name: "VFMADD132PS", pat: rvm, pp: p66, mm: m38, op: 0x98, vexW: 0, evexW: 0, tuple: tFull, elem: 4},
	VFMADD213PD:     {name: "VFMADD213PD", pat: rvm, pp: p66, mm: m38, op: 0xa8, vexW: 1, evexW: 1, tuple: tFull, elem: 8},
	VFMADD213PS:     {name: "VFMADD213PS", pat: rvm, pp: p66, mm: m38, op: 0xa8, vexW: 0, evexW: 0, tuple: tFull, elem: 4},
	VFMADD231PD:     {name: "VFMADD231PD", pat: rvm, pp: p66, mm: m38, op: 0xb8, vexW: 1, evexW: 1, tuple: tFull, elem: 8},
	VFMADD231PS:     {name: "VFMADD231PS", pat: rvm, pp: p66, mm: m38, op: 0xb8, vexW: 0, evexW: 0, tuple: tFull, elem: 4},
	VFMADD231SD:     {name: "VFMADD231SD", pat: rvm, pp: p66, mm: m38, op: 0xb9, vexW: 1, evexW: 1, tuple: tScalar, elem: 8, dst: wX, src: wX},
	VFMADD231SS:     {name: "VFMADD231SS", pat: rvm, pp: p66, mm: m38, op: 0xb9, vexW: 0, evexW: 0, tuple: tScalar, elem: 4, dst: wX, src: wX},
	VFMSUB132PD:     {name: "VFMSUB132PD", pat: rvm, pp: p66, mm: m38, op: 0x9a, vexW: 1, evexW: 1, tuple: tFull, elem: 8},
	VFMSUB132PS:     {name: "VFMSUB132PS", pat: rvm, pp: p66, mm: m38, op: 0x9a, vexW: 0, evexW: 0, tuple: tFull, elem: 4},
	VFMSUB213PD:     {name: "VFMSUB213PD", pat: rvm, pp: p66, mm: m38, op: 0xaa, vexW: 1, evexW: 1, tuple: tFull, elem: 8},
	VFMSUB213PS:     {name: "VFMSUB213PS", pat: rvm, pp: p66, mm: m38, op: 0xaa, vexW: 0, evexW: 0, tuple: tFull, elem: 4},
	VFMSUB231PD:     {name: "VFMSUB231PD", pat: rvm, pp: p66, mm: m38, op: 0xba, vexW: 1, evexW: 1, tuple: tFull, elem: 8},
	VFMSUB231PS:     {name: "VFMSUB231PS", pat: rvm, pp: p66, mm: m38, op: 0xba, vexW: 0, evexW: 0, tuple: tFull, elem: 4},
	VFNMADD132PD:    {name: "VFNMADD132PD", pat: rvm, pp: p66, mm: m38, op: 0x9c, vexW: 1, evexW: 1, tuple: tFull, elem: 8},
	VFNMADD132PS:    {name: "VFNMADD132PS", pat: rvm, pp: p66, mm: m38, op: 0x9c, vexW: 0, evexW: 0, tuple: tFull, elem: 4},
	VFNMADD213PD:    {name: "VFNMADD213PD", pat: rvm, pp: p66, mm: m38, op: 0xac, vexW: 1, evexW: 1, tuple: tFull, elem: 8},
	VFNMADD213PS:    {name: "VFNMADD213PS", pat: rvm, pp: p66, mm: m38, op: 0xac, vexW: 0, evexW: 0, tuple: tFull, elem: 4},
	VFNMADD231PD:    {name: "VFNMADD231PD", pat: rvm, pp: p66, mm: m38, op: 0xbc, vexW: 1, evexW: 1, tuple: tFull, elem: 8},
	VFNMADD231PS:    {name: "VFNMADD231PS", pat: rvm, pp: p66, mm: m38, op: 0xbc, vexW: 0, evexW: 0, tuple: tFull, elem: 4},
	VFNMSUB132PD:    {name: "VFNMSUB132PD", pat: rvm, pp: p66, mm: m38, op: 0x9e, vexW: 1, evexW: 1, tuple: tFull, elem: 8},
	VFNMSUB132PS:    {name: "VFNMSUB132PS", pat: rvm, pp: p66, mm: m38, op: 0x9e, vexW: 0, evexW: 0, tuple: tFull, elem: 4},
	VFNMSUB213PD:    {name: "VFNMSUB213PD", pat: rvm, pp: p66, mm: m38, op: 0xae, vexW: 1, evexW: 1, tuple: tFull, elem: 8},
	VFNMSUB213PS:    {name: "VFNMSUB213PS", pat: rvm, pp: p66, mm: m38, op: 0xae, vexW: 0, evexW: 0, tuple: tFull, elem: 4},
	VFNMSUB231PD:    {name: "VFNMSUB231PD", pat: rvm, pp: p66, mm: m38, op: 0xbe, vexW: 1, evexW: 1, tuple: tFull, elem: 8},
	VFNMSUB231PS:    {name: "VFNMSUB231PS", pat: rvm, pp: p66, mm: m38, op: 0xbe, vexW: 0, evexW: 0, tuple: tFull, elem: 4},
	VCMPPD:          {name: "VCMPPD", pat: rvm, pp: p66, mm: m0F, op: 0xc2, vexW: 0, evexW: no, tuple: tFull, elem: 8, imm: true},
	VCMPPS:          {name: "VCMPPS", pat: rvm, pp: pNo, mm: m0F, op: 0xc2, vexW: 0, evexW: no, tuple: tFull, elem: 4, imm: true},
	VCMPPDK:         {name: "VCMPPD", pat: rvm, pp: p66, mm: m0F, op: 0xc2, vexW: no, evexW: 1, tuple: tFull, elem: 8, imm: true, dst: wK},
	VCMPPSK:         {name: "VCMPPS", pat: rvm, pp: pNo, mm: m0F, op: 0xc2, vexW: no, evexW: 0, tuple: tFull, elem: 4, imm: true, dst: wK},
	VPCMPQ:          {name: "VPCMPQ", pat: rvm, pp: p66, mm: m3A, op: 0x1f, vexW: no, evexW: 1, tuple: tFull, elem: 8, imm: true, dst: wK},
	VPCMPUQ:         {name: "VPCMPUQ", pat: rvm, pp: p66, mm: m3A, op: 0x1e, vexW: no, evexW: 1, tuple: tFull, elem: 8, imm: true, dst: wK},
	VPCMPD:          {name: "VPCMPD", pat: rvm, pp: p66, mm: m3A, op: 0x1f, vexW: no, evexW: 0, tuple: tFull, elem: 4, imm: true, dst: wK},
	VPCMPEQQ:        {name: "VPCMPEQQ", pat: rvm, pp: p66, mm: m38, op: 0x29, vexW: 0, evexW: no, tuple: tFull, elem: 8},
	VPCMPGTQ:        {name: "VPCMPGTQ", pat: rvm, pp: p66, mm: m38, op: 0x37, vexW: 0, evexW: no, tuple: tFull, elem: 8},
	VPTEST:          {name: "VPTEST", pat: rm, pp: p66, mm: m38, op: 0x17, vexW: 0, evexW: no, tuple: tMem, elem: 8},
	VPTESTMQ:        {name: "VPTESTMQ", pat: rvm, pp: p66, mm: m38, op: 0x27, vexW: no, evexW: 1, tuple: tFull, elem: 8, dst: wK},
	VPTESTMB:        {name: "VPTESTMB", pat: rvm, pp: p66, mm: m38, op: 0x26, vexW: no, evexW: 0, tuple: tMem, elem: 1, dst: wK},
	VROUNDPD:        {name: "VROUNDPD", pat: rm, pp: p66, mm: m3A, op: 0x09, vexW: 0, evexW: no, tuple: tFull, elem: 8, imm: true},
	VROUNDPS:        {name: "VROUNDPS", pat: rm, pp: p66, mm: m3A, op: 0x08, vexW: 0, evexW: no, tuple: tFull, elem: 4, imm: true},
	VRNDSCALEPD:     {name: "VRNDSCALEPD", pat: rm, pp: p66, mm: m3A, op: 0x09, vexW: no, evexW: 1, tuple: tFull, elem: 8, imm: true},
	VRNDSCALEPS:     {name: "VRNDSCALEPS", pat: rm, pp: p66, mm: m3A, op: 0x08, vexW: no, evexW: 0, tuple: tFull, elem: 4, imm: true},
	VRANGEPD:        {name: "VRANGEPD", pat: rvm, pp: p66, mm: m3A, op: 0x50, vexW: no, evexW: 1, tuple: tFull, elem: 8, imm: true},
	VRANGEPS:        {name: "VRANGEPS", pat: rvm, pp: p66, mm: m3A, op: 0x50, vexW: no, evexW: 0, tuple: tFull, elem: 4, imm: true},
	VSCALEFPD:       {name: "VSCALEFPD", pat: rvm, pp: p66, mm: m38, op: 0x2c, vexW: no, evexW: 1, tuple: tFull, elem: 8},
	VRSQRT14PD:      {name: "VRSQRT14PD", pat: rm, pp: p66, mm: m38, op: 0x4e, vexW: no, evexW: 1, tuple: tFull, elem: 8},
	VBLENDVPD:       {name: "VBLENDVPD", pat: rvmr, pp: p66, mm: m3A, op: 0x4b, vexW: 0, evexW: no, tuple: tFull, elem: 8},
	VBLENDVPS:       {name: "VBLENDVPS", pat: rvmr, pp: p66, mm: m3A, op: 0x4a, vexW: 0, evexW: no, tuple: tFull, elem: 4},
	VPBLENDD:        {name: "VPBLENDD", pat: rvm, pp: p66, mm: m3A, op: 0x02, vexW: 0, evexW: no, tuple: tFull, elem: 4, imm: true},
	VBLENDMPD:       {name: "VBLENDMPD", pat: rvm, pp: p66, mm: m38, op: 0x65, vexW: no, evexW: 1, tuple: tFull, elem: 8},
	VBLENDMPS:       {name: "VBLENDMPS", pat: rvm, pp: p66, mm: m38, op: 0x65, vexW: no, evexW: 0, tuple: tFull, elem: 4},
	VMOVUPD:         {name: "VMOVUPD", pat: rm, pp: p66, mm: m0F, op: 0x10, vexW: 0, evexW: 1, tuple: tMem, elem: 8},
	VMOVUPDStore:    {name: "VMOVUPD", pat: mr, pp: p66, mm: m0F, op: 0x11, vexW: 0, evexW: 1, tuple: tMem, elem: 8},
	VMOVUPS:         {name: "VMOVUPS", pat: rm, pp: pNo, mm: m0F, op: 0x10, vexW: 0, evexW: 0, tuple: tMem, elem: 4},
	VMOVUPSStore:    {name: "VMOVUPS", pat: mr, pp: pNo, mm: m0F, op: 0x11, vexW: 0, evexW: 0, tuple: tMem, elem: 4},
	VMOVAPD:         {name: "VMOVAPD", pat: rm, pp: p66, mm: m0F, op: 0x28, vexW: 0, evexW: 1, tuple: tMem, elem: 8},
	VMOVDQU:         {name: "VMOVDQU", pat: rm, pp: pF3, mm: m0F, op: 0x6f, vexW: 0, evexW: no, tuple: tMem, elem: 8},
	VMOVDQUStore:    {name: "VMOVDQU", pat: mr, pp: pF3, mm: m0F, op: 0x7f, vexW: 0, evexW: no, tuple: tMem, elem: 8},
	VMOVDQU64:       {name: "VMOVDQU64", pat: rm, pp: pF3, mm: m0F, op: 0x6f, vexW: no, evexW: 1, tuple: tMem, elem: 8},
	VMOVDQU64Store:  {name: "VMOVDQU64", pat: mr, pp: pF3, mm: m0F, op: 0x7f, vexW: no, evexW: 1, tuple: tMem, elem: 8},
	VMOVDQU32:       {name: "VMOVDQU32", pat: rm, pp: pF3, mm: m0F, op: 0x6f, vexW: no, evexW: 0, tuple: tMem, elem: 4},
	VMOVDQU8:        {name: "VMOVDQU8", pat: rm, pp: pF2, mm: m0F, op: 0x6f, vexW: no, evexW: 0, tuple: tMem, elem: 1},
	VMOVNTPD:        {name: "VMOVNTPD", pat: mr, pp: p66, mm: m0F, op: 0x2b, vexW: 0, evexW: 1, tuple: tMem, elem: 8},
	VMOVNTDQ:        {name: "VMOVNTDQ", pat: mr, pp: p66, mm: m0F, op: 0xe7, vexW: 0, evexW: 0, tuple: tMem, elem: 8},
	VMASKMOVPD:      {name: "VMASKMOVPD", pat: rvm, pp: p66, mm: m38, op: 0x2d, vexW: 0, evexW: no, tuple: tMem, elem: 8},
	VMASKMOVPS:      {name: "VMASKMOVPS", pat: rvm, pp: p66, mm: m38, op: 0x2c, vexW: 0, evexW: no, tuple: tMem, elem: 4},
	VMASKMOVPDStore: {name: "VMASKMOVPD", pat: mvr, pp: p66, mm: m38, op: 0x2f, vexW: 0, evexW: no, tuple: tMem, elem: 8},
	VMASKMOVPSStore: {name: "VMASKMOVPS", pat: mvr, pp: p66, mm: m38, op: 0x2e, vexW: 0, evexW: no, tuple: tMem, elem: 4},
	VMOVSD:          {name: "VMOVSD", pat: rm, pp: pF2, mm: m0F, op: 0x10, vexW: 0, evexW: 1, tuple: tScalar, elem: 8, dst: wX, src: wX},
	VMOVSDStore:     {name: "VMOVSD", pat: mr, pp: pF2, mm: m0F, op: 0x11, vexW: 0, evexW: 1, tuple: tScalar, elem: 8, dst: wX, src: wX},
	VMOVHPD:         {name: "VMOVHPD", pat: rvm, pp: p66, mm: m0F, op: 0x16, vexW: 0, evexW: 1, tuple: tScalar, elem: 8, dst: wX, src: wX},
	VMOVHPDStore:    {name: "VMOVHPD", pat: mr, pp: p66, mm: m0F, op: 0x17, vexW: 0, evexW: 1, tuple: tScalar, elem: 8, dst: wX, src: wX},
	VMOVSS:          {name: "VMOVSS", pat: rm, pp: pF3, mm: m0F, op: 0x10, vexW: 0, evexW: 0, tuple: tScalar, elem: 4, dst: wX, src: wX},
	VMOVSSStore:     {name: "VMOVSS", pat: mr, pp: pF3, mm: m0F, op: 0x11, vexW: 0, evexW: 0, tuple: tScalar, elem: 4, dst: wX, src: wX},
	VMOVQ:           {name: "VMOVQ", pat: rm, pp: p66, mm: m0F, op: 0x6e, vexW: 1, evexW: 1, tuple: tScalar, elem: 8, dst: wX, src: wG64},
	VMOVQStore:      {name: "VMOVQ", pat: mr, pp: p66, mm: m0F, op: 0x7e, vexW: 1, evexW: 1, tuple: tScalar, elem: 8, dst: wG64, src: wX},
	VMOVD:           {name: "VMOVD", pat: rm, pp: p66, mm: m0F, op: 0x6e, vexW: 0, evexW: 0, tuple: tScalar, elem: 4, dst: wX, src: wG32},
	VMOVDStore:      {name: "VMOVD", pat: mr, pp: p66, mm: m0F, op: 0x7e, vexW: 0, evexW: 0, tuple: tScalar, elem: 4, dst: wG32, src: wX},
	VMOVMSKPD:       {name: "VMOVMSKPD", pat: rm, pp: p66, mm: m0F, op: 0x50, vexW: 0, evexW: no, tuple: tMem, elem: 8, dst: wG32},
	VMOVMSKPS:       {name: "VMOVMSKPS", pat: rm, pp: pNo, mm: m0F, op: 0x50, vexW: 0, evexW: no, tuple: tMem, elem: 8, dst: wG32},
	VPMOVMSKB:       {name: "VPMOVMSKB", pat: rm, pp: p66, mm: m0F, op: 0xd7, vexW: 0, evexW: no, tuple: tMem, elem: 8, dst: wG32},
	VBROADCASTSD:    {name: "VBROADCASTSD", pat: rm, pp: p66, mm: m38, op: 0x19, vexW: 0, evexW: 1, tuple: tScalar, elem: 8, src: wX},
	VBROADCASTSS:    {name: "VBROADCASTSS", pat: rm, pp: p66, mm: m38, op: 0x18, vexW: 0, evexW: 0, tuple: tScalar, elem: 4, src: wX},
	VPBROADCASTQ:    {name: "VPBROADCASTQ", pat: rm, pp: p66, mm: m38, op: 0x59, vexW: 0, evexW: 1, tuple: tScalar, elem: 8, src: wX},
	VPBROADCASTD:    {name: "VPBROADCASTD", pat: rm, pp: p66, mm: m38, op: 0x58, vexW: 0, evexW: 0, tuple: tScalar, elem: 4, src: wX},
	VPBROADCASTQG:   {name: "VPBROADCASTQ", pat: rm, pp: p66, mm: m38, op: 0x7c, vexW: no, evexW: 1, tuple: tScalar, elem: 8, src: wG64},
	VPBROADCASTDG:   {name: "VPBROADCASTD", pat: rm, pp: p66, mm: m38, op: 0x7c, vexW: no, evexW: 0, tuple: tScalar, elem: 4, src: wG32},
	VCVTQQ2PD:       {name: "VCVTQQ2PD", pat: rm, pp: pF3, mm: m0F, op: 0xe6, vexW: no, evexW: 1, tuple: tFull, elem: 8},
	VCVTTPD2QQ:      {name: "VCVTTPD2QQ", pat: rm, pp: p66, mm: m0F, op: 0x7a, vexW: no, evexW: 1, tuple: tFull, elem: 8},
	VCVTTPS2QQ:      {name: "VCVTTPS2QQ", pat: rm, pp: p66, mm: m0F, op: 0x7a, vexW: no, evexW: 0, tuple: tHalf, elem: 4, src: wHalf},
	VCVTPD2PS:       {name: "VCVTPD2PS", pat: rm, pp: p66, mm: m0F, op: 0x5a, vexW: 0, evexW: 1, tuple: tFull, elem: 8, dst: wHalf},
	VCVTPS2PD:       {name: "VCVTPS2PD", pat: rm, pp: pNo, mm: m0F, op: 0x5a, vexW: 0, evexW: 0, tuple: tHalf, elem: 4, src: wHalf},
	VCVTQQ2PS:       {name: "VCVTQQ2PS", pat: rm, pp: pNo, mm: m0F, op: 0x5b, vexW: no, evexW: 1, tuple: tFull, elem: 8, dst: wHalf},
	VCVTTPD2DQ:      {name: "VCVTTPD2DQ", pat: rm, pp: p66, mm: m0F, op: 0xe6, vexW: 0, evexW: 1, tuple: tFull, elem: 8, dst: wHalf},
	VCVTSI2SDQ:      {name: "VCVTSI2SDQ", pat: rvm, pp: pF2, mm: m0F, op: 0x2a, vexW: 1, evexW: 1, tuple: tScalar, elem: 8, dst: wX, src: wG64},
	VCVTSI2SSQ:      {name: "VCVTSI2SSQ", pat: rvm, pp: pF3, mm: m0F, op: 0x2a, vexW: 1, evexW: 1, tuple: tScalar, elem: 8, dst: wX, src: wG64},
	VCVTTSD2SIQ:     {name: "VCVTTSD2SIQ", pat: rm, pp: pF2, mm: m0F, op: 0x2c, vexW: 1, evexW: 1, tuple: tScalar, elem: 8, dst: wG64, src: wX},
	VPADDQ:          {name: "VPADDQ", pat: rvm, pp: p66, mm: m0F, op: 0xd4, vexW: 0, evexW: 1, tuple: tFull, elem: 8},
	VPSUBQ:          {name: "VPSUBQ", pat: rvm, pp: p66, mm: m0F, op: 0xfb, vexW: 0, evexW: 1, tuple: tFull, elem: 8},
	VPMULUDQ:        {name: "VPMULUDQ", pat: rvm, pp: p66, mm: m0F, op: 0xf4, vexW: 0, evexW: 1, tuple: tFull, elem: 8},
	VPMULLQ:         {name: "VPMULLQ", pat: rvm, pp: p66, mm: m38, op: 0x40, vexW: no, evexW: 1, tuple: tFull, elem: 8},
	VPMINSD:         {name: "VPMINSD", pat: rvm, pp: p66, mm: m38, op: 0x39, vexW: 0, evexW: 0, tuple: tFull, elem: 4},
	VPMAXSD:         {name: "VPMAXSD", pat: rvm, pp: p66, mm: m38, op: 0x3d, vexW: 0, evexW: 0, tuple: tFull, elem: 4},
	VPMINSQ:         {name: "VPMINSQ", pat: rvm, pp: p66, mm: m38, op: 0x39, vexW: no, evexW: 1, tuple: tFull, elem: 8},
	VPMAXSQ:         {name: "VPMAXSQ", pat: rvm, pp: p66, mm: m38, op: 0x3d, vexW: no, evexW: 1, tuple: tFull, elem: 8},
	VPSLLVQ:         {name: "VPSLLVQ", pat: rvm, pp: p66, mm: m38, op: 0x47, vexW: 1, evexW: 1, tuple: tFull, elem: 8},
	VPSRLVQ:         {name: "VPSRLVQ", pat: rvm, pp: p66, mm: m38, op: 0x45, vexW: 1, evexW: 1, tuple: tFull, elem: 8},
	VPSRAVQ:         {name: "VPSRAVQ", pat: rvm, pp: p66, mm: m38, op: 0x46, vexW: no, evexW: 1, tuple: tFull, elem: 8},
	VPANDQ:          {name: "VPANDQ", pat: rvm, pp: p66, mm: m0F, op: 0xdb, vexW: no, evexW: 1, tuple: tFull, elem: 8},
	VPORQ:           {name: "VPORQ", pat: rvm, pp: p66, mm: m0F, op: 0xeb, vexW: no, evexW: 1, tuple: tFull, elem: 8},
	VPXORQ:          {name: "VPXORQ", pat: rvm, pp: p66, mm: m0F, op: 0xef, vexW: no, evexW: 1, tuple: tFull, elem: 8},
	VPAND:           {name: "VPAND", pat: rvm, pp: p66, mm: m0F, op: 0xdb, vexW: 0, evexW: no, tuple: tFull, elem: 8},
	VPANDN:          {name: "VPANDN", pat: rvm, pp: p66, mm: m0F, op: 0xdf, vexW: 0, evexW: no, tuple: tFull, elem: 8},
	VPOR:            {name: "VPOR", pat: rvm, pp: p66, mm: m0F, op: 0xeb, vexW: 0, evexW: no, tuple: tFull, elem: 8},
	VPXOR:           {name: "VPXOR", pat: rvm, pp: p66, mm: m0F, op: 0xef, vexW: 0, evexW: no, tuple: tFull, elem: 8},
	VPABSQ:          {name: "VPABSQ", pat: rm, pp: p66, mm: m38, op: 0x1f, vexW: no, evexW: 1, tuple: tFull, elem: 8},
	VPTERNLOGQ:      {name: "VPTERNLOGQ", pat: rvm, pp: p66, mm: m3A, op: 0x25, vexW: no, evexW: 1, tuple: tFull, elem: 8, imm: true},
	VPSLLQ:          {name: "VPSLLQ", pat: vmi, pp: p66, mm: m0F, op: 0x73, ext: 6, vexW: 0, evexW: 1, tuple: tFull, elem: 8, imm: true},
	VPSRLQ:          {name: "VPSRLQ", pat: vmi, pp: p66, mm: m0F, op: 0x73, ext: 2, vexW: 0, evexW: 1, tuple: tFull, elem: 8, imm: true},
	VPSRAQ:          {name: "VPSRAQ", pat: vmi, pp: p66, mm: m0F, op: 0x72, ext: 4, vexW: no, evexW: 1, tuple: tFull, elem: 8, imm: true},
	VPSLLD:          {name: "VPSLLD", pat: vmi, pp: p66, mm: m0F, op: 0x72, ext: 6, vexW: 0, evexW: 0, tuple: tFull, elem: 4, imm: true},
	VPSRLD:          {name: "VPSRLD", pat: vmi, pp: p66, mm: m0F, op: 0x72, ext: 2, vexW: 0, evexW: 0, tuple: tFull, elem: 4, imm: true},
	VPSRAD:          {name: "VPSRAD", pat: vmi, pp: p66, mm: m0F, op: 0x72, ext: 4, vexW: 0, evexW: 0, tuple: tFull, elem: 4, imm: true},
	VPMOVZXBQ:       {name: "VPMOVZXBQ", pat: rm, pp: p66, mm: m38, op: 0x32, vexW: 0, evexW: 0, tuple: tEighthMem, elem: 8, src: wEighth},
	VPMOVSXDQ:       {name: "VPMOVSXDQ", pat: rm, pp: p66, mm: m38, op: 0x25, vexW: 0, evexW: 0, tuple: tHalfMem, elem: 8, src: wHalf},
	VPMOVZXDQ:       {name: "VPMOVZXDQ", pat: rm, pp: p66, mm: m38, op: 0x35, vexW: 0, evexW: 0, tuple: tHalfMem, elem: 8, src: wHalf},
	VPMOVQB:         {name: "VPMOVQB", pat: mr, pp: pF3, mm: m38, op: 0x32, vexW: no, evexW: 0, tuple: tEighthMem, elem: 8, dst: wEighth},
	VPMOVQD:         {name: "VPMOVQD", pat: mr, pp: pF3, mm: m38, op: 0x35, vexW: no, evexW: 0, tuple: tHalfMem, elem: 8, dst: wHalf},
	VPMOVDB:         {name: "VPMOVDB", pat: mr, pp: pF3, mm: m38, op: 0x31, vexW: no, evexW: 0, tuple: tQuarterMem, elem: 8, dst: wQuarter},
	VPMOVM2Q:        {name: "VPMOVM2Q", pat: rm, pp: pF3, mm: m38, op: 0x38, vexW: no, evexW: 1, tuple: tMem, elem: 8, src: wK},
	VPMOVQ2M:        {name: "VPMOVQ2M", pat: rm, pp: pF3, mm: m38, op: 0x39, vexW: no, evexW: 1, tuple: tMem, elem: 8, dst: wK},
	VPMOVM2D:        {name: "VPMOVM2D", pat: rm, pp: pF3, mm: m38, op: 0x38, vexW: no, evexW: 0, tuple: tMem, elem: 8, src: wK},
	VPERMQI:         {name: "VPERMQ", pat: rm, pp: p66, mm: m3A, op: 0x00, vexW: 1, evexW: 1, tuple: tFull, elem: 8, imm: true},
	VPERMILPS:       {name: "VPERMILPS", pat: rm, pp: p66, mm: m3A, op: 0x04, vexW: 0, evexW: 0, tuple: tFull, elem: 4, imm: true},
	VPSHUFD:         {name: "VPSHUFD", pat: rm, pp: p66, mm: m0F, op: 0x70, vexW: 0, evexW: 0, tuple: tFull, elem: 4, imm: true},
	VPERM2F128:      {name: "VPERM2F128", pat: rvm, pp: p66, mm: m3A, op: 0x06, vexW: 0, evexW: no, tuple: tMem, elem: 8, imm: true},
	VSHUFF64X2:      {name: "VSHUFF64X2", pat: rvm, pp: p66, mm: m3A, op: 0x23, vexW: no, evexW: 1, tuple: tFull, elem: 8, imm: true},
	VALIGNQ:         {name: "VALIGNQ", pat: rvm, pp: p66, mm: m3A, op: 0x03, vexW: no, evexW: 1, tuple: tFull, elem: 8, imm: true},
	VEXTRACTF128:    {name: "VEXTRACTF128", pat: mr, pp: p66, mm: m3A, op: 0x19, vexW: 0, evexW: no, tuple: tMem, elem: 8, imm: true, dst: wX},
	VEXTRACTF64X4:   {name: "VEXTRACTF64X4", pat: mr, pp: p66, mm: m3A, op: 0x1b, vexW: no, evexW: 1, tuple: tHalfMem, elem: 8, imm: true, dst: wHalf},
	VINSERTF128:     {name: "VINSERTF128", pat: rvm, pp: p66, mm: m3A, op: 0x18, vexW: 0, evexW: no, tuple: tMem, elem: 8, imm: true, src: wX},
	VINSERTF64X2:    {name: "VINSERTF64X2", pat: rvm, pp: p66, mm: m3A, op: 0x18, vexW: no, evexW: 1, tuple: tHalfMem, elem: 8, imm: true, src: wX}, // of 32 bytes
	VGATHERQPD:      {name: "VGATHERQPD", pat: gather, pp: p66, mm: m38, op: 0x93, vexW: 1, evexW: 1, tuple: tScalar, elem: 8},
	VPGATHERDD:      {name: "VPGATHERDD", pat: gather, pp: p66, mm: m38, op: 0x90, vexW: 0, evexW: 0, tuple: tScalar, elem: 4},
	VGATHERQPS:      {name: "VGATHERQPS", pat: gather, pp: p66, mm: m38, op: 0x93, vexW: 0, evexW: 0, tuple: tScalar, elem: 4, dst: wHalf},
	VSCATTERQPD:     {name: "VSCATTERQPD", pat: scatter, pp: p66, mm: m38, op: 0xa3, vexW: no, evexW: 1, tuple: tScalar, elem: 8},
	VSCATTERQPS:     {name: "VSCATTERQPS", pat: scatter, pp: p66, mm: m38, op: 0xa3, vexW: no, evexW: 0, tuple: tScalar, elem: 4, dst: wHalf},
	KANDW:           {name: "KANDW", pat: krvm, pp: pNo, mm: m0F, op: 0x41, vexW: 0, evexW: no, tuple: tMem, elem: 1, dst: wK, src: wK},
	KANDNW:          {name: "KANDNW", pat: krvm, pp: pNo, mm: m0F, op: 0x42, vexW: 0, evexW: no, tuple: tMem, elem: 1, dst: wK, src: wK},
	KORW:            {name: "KORW", pat: krvm, pp: pNo, mm: m0F, op: 0x45, vexW: 0, evexW: no, tuple: tMem, elem: 1, dst: wK, src: wK},
	KXNORW:          {name: "KXNORW", pat: krvm, pp: pNo, mm: m0F, op: 0x46, vexW: 0, evexW: no, tuple: tMem, elem: 1, dst: wK, src: wK},
	KXORW:           {name: "KXORW", pat: krvm, pp: pNo, mm: m0F, op: 0x47, vexW: 0, evexW: no, tuple: tMem, elem: 1, dst: wK, src: wK},
	KNOTB:           {name: "KNOTB", pat: krm, pp: p66, mm: m0F, op: 0x44, vexW: 0, evexW: no, tuple: tMem, elem: 1, dst: wK, src: wK},
	KORTESTB:        {name: "KORTESTB", pat: krm, pp: p66, mm: m0F, op: 0x98, vexW: 0, evexW: no, tuple: tMem, elem: 1, dst: wK, src: wK},
	KTESTB:          {name: "KTESTB", pat: krm, pp: p66, mm: m0F, op: 0x99, vexW: 0, evexW: no, tuple: tMem, elem: 1, dst: wK, src: wK},
	KMOVB:           {name: "KMOVB", pat: krm, pp: p66, mm: m0F, op: 0x90, vexW: 0, evexW: no, tuple: tMem, elem: 1, dst: wK, src: wK},
	KMOVBFromG:      {name: "KMOVB", pat: krm, pp: p66, mm: m0F, op: 0x92, vexW: 0, evexW: no, tuple: tMem, elem: 1, dst: wK, src: wG32},
	KMOVBToG:        {name: "KMOVB", pat: krm, pp: p66, mm: m0F, op: 0x93, vexW: 0, evexW: no, tuple: tMem, elem: 1, dst: wG32, src: wK},
	KNOTW:           {name: "KNOTW", pat: krm, pp: pNo, mm: m0F, op: 0x44, vexW: 0, evexW: no, tuple: tMem, elem: 1, dst: wK, src: wK},
	KORTESTW:        {name: "KORTESTW", pat: krm, pp: pNo, mm: m0F, op: 0x98, vexW: 0, evexW: no, tuple: tMem, elem: 1, dst: wK, src: wK},
	KTESTW:          {name: "KTESTW", pat: krm, pp: pNo, mm: m0F, op: 0x99, vexW: 0, evexW: no, tuple: tMem, elem: 1, dst: wK, src: wK},
	KMOVW:           {name: "KMOVW", pat: krm, pp: pNo, mm: m0F, op: 0x90, vexW: 0, evexW: no, tuple: tMem, elem: 1, dst: wK, src: wK},
	KMOVWStore:      {name: "KMOVW", pat: kmr, pp: pNo, mm: m0F, op: 0x91, vexW: 0, evexW: no, tuple: tMem, elem: 1, dst: wK, src: wK},
	KMOVWFromG:      {name: "KMOVW", pat: krm, pp: pNo, mm: m0F, op: 0x92, vexW: 0, evexW: no, tuple: tMem, elem: 1, dst: wK, src: wG32},
	KMOVWToG:        {name: "KMOVW", pat: krm, pp: pNo, mm: m0F, op: 0x93, vexW: 0, evexW: no, tuple: tMem, elem: 1, dst: wG32, src: wK},
	KSHIFTRW:        {name: "KSHIFTRW", pat: krm, pp: p66, mm: m3A, op: 0x30, vexW: 1, evexW: no, tuple: tMem, elem: 1, imm: true, dst: wK, src: wK},
	KSHIFTLW:        {name: "KSHIFTLW", pat: krm, pp: p66, mm: m3A, op: 0x32, vexW: 1, evexW: no, tuple: tMem, elem: 1, imm: true, dst: wK, src: wK},
}
