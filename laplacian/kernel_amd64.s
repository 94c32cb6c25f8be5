// SPDX-License-Identifier: Apache-2.0

//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// Every kernel computes what Laplacian.generic does, addition by addition.
//
//	DI, SI, DX  dst, acc (or 0) and x, each at its first column
//	R8, R9      diag and ptr, at this row
//	R10, R12    adj and val (or 0), at entry 0
//	R13         bytes from a row of x to the next
//	BX          bytes from row 0 to this row
//	AX, R15, CX an entry; the ends of its segment and of its row
//	R11         the last entry of all: AHEAD reads no further
//	R14         scratch
//	Y8 … Y11    a, b, c, d
#define LOAD \
	MOVQ p+0(FP), CX; \
	MOVQ kernelArgs_dst(CX), DI; \
	MOVQ kernelArgs_acc(CX), SI; \
	MOVQ kernelArgs_x(CX), DX; \
	MOVQ kernelArgs_diag(CX), R8; \
	MOVQ kernelArgs_ptr(CX), R9; \
	MOVQ kernelArgs_adj(CX), R10; \
	MOVQ kernelArgs_val(CX), R12; \
	MOVQ kernelArgs_stride(CX), R13; \
	MOVQ kernelArgs_entries(CX), R11; \
	DECQ R11; \
	VBROADCASTSD kernelArgs_a(CX), Y8; \
	VBROADCASTSD kernelArgs_b(CX), Y9; \
	VBROADCASTSD kernelArgs_c(CX), Y10; \
	VBROADCASTSD kernelArgs_d(CX), Y11; \
	MOVQ kernelArgs_old(CX), AX; \
	MOVQ AX, old-8(SP); \
	MOVQ kernelArgs_hi(CX), AX; \
	LEAQ (R9)(AX*8), AX; \
	MOVQ AX, end-16(SP); \
	MOVQ kernelArgs_lo(CX), BX; \
	LEAQ (R8)(BX*8), R8; \
	LEAQ (R9)(BX*8), R9; \
	IMULQ R13, BX; \
	MOVQ (R9), AX

// The next rows stream in; a hardware prefetcher stops at each page.
#define STREAM \
	PREFETCHT0 1024(R8); \
	PREFETCHT0 1024(R9); \
	PREFETCHT0 1024(R10)(AX*4); \
	TESTQ R12, R12; \
	JEQ  unweighted; \
	PREFETCHT0 2048(R12)(AX*8); \
	PREFETCHT0 2112(R12)(AX*8); \
unweighted:

#define SEGMENT \
	LEAQ const_segment(AX), R15; \
	CMPQ R15, CX; \
	CMOVQGT CX, R15

// The row of x that an entry some way ahead will need.
#define AHEAD \
	LEAQ 32(AX), R14; \
	CMPQ R14, R11; \
	CMOVQGT R11, R14; \
	MOVLQSX (R10)(R14*4), R14; \
	IMULQ R13, R14

#define NEIGHBOR \
	MOVLQSX (R10)(AX*4), R14; \
	IMULQ R13, R14

#define ADD(at, s) \
	VADDPD at(DX)(R14*1), s, s

#define ADDTIMES(at, s) \
	VMULPD at(DX)(R14*1), Y14, Y15; \
	VADDPD Y15, s, s

// t ← a(diag·x − t) + b·x, with diag in Y14 and the row of x in s.
#define COMBINE(t, s) \
	VMULPD s, Y14, Y15; \
	VSUBPD t, Y15, t; \
	VMULPD Y8, t, t; \
	VMULPD Y9, s, s; \
	VADDPD s, t, t

#define TAKE(at, s) \
	VMOVUPD at(DX)(BX*1), s

#define OLD(at, t, s) \
	VMULPD at(DI)(BX*1), Y10, s; \
	VADDPD s, t, t

#define STORE(at, t) \
	VMOVUPD t, at(DI)(BX*1)

#define ACCUMULATE(at, t) \
	VMULPD Y11, t, t; \
	VADDPD at(SI)(BX*1), t, t; \
	VMOVUPD t, at(SI)(BX*1)

// func rows16(p *kernelArgs)
TEXT ·rows16(SB), NOSPLIT, $16-8
	LOAD

row:
	CMPQ R9, end-16(SP)
	JGE  done
	STREAM
	LEAQ (BX)(R13*8), R14
	PREFETCHT0 (DX)(R14*1)
	PREFETCHT0 64(DX)(R14*1)
	PREFETCHT0 (DI)(R14*1)
	PREFETCHT0 64(DI)(R14*1)
	TESTQ SI, SI
	JEQ  alone
	PREFETCHT0 (SI)(R14*1)
	PREFETCHT0 64(SI)(R14*1)

alone:
	MOVQ 8(R9), CX
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3

segment:
	CMPQ AX, CX
	JGE  put
	SEGMENT
	VXORPD Y4, Y4, Y4
	VXORPD Y5, Y5, Y5
	VXORPD Y6, Y6, Y6
	VXORPD Y7, Y7, Y7
	TESTQ R12, R12
	JNE  weighted

ones:
	AHEAD
	PREFETCHT0 (DX)(R14*1)
	PREFETCHT0 64(DX)(R14*1)
	NEIGHBOR
	ADD(0, Y4)
	ADD(32, Y5)
	ADD(64, Y6)
	ADD(96, Y7)
	INCQ AX
	CMPQ AX, R15
	JLT  ones
	JMP  total

weighted:
	AHEAD
	PREFETCHT0 (DX)(R14*1)
	PREFETCHT0 64(DX)(R14*1)
	NEIGHBOR
	VBROADCASTSD (R12)(AX*8), Y14
	ADDTIMES(0, Y4)
	ADDTIMES(32, Y5)
	ADDTIMES(64, Y6)
	ADDTIMES(96, Y7)
	INCQ AX
	CMPQ AX, R15
	JLT  weighted

total:
	VADDPD Y4, Y0, Y0
	VADDPD Y5, Y1, Y1
	VADDPD Y6, Y2, Y2
	VADDPD Y7, Y3, Y3
	JMP  segment

put:
	VBROADCASTSD (R8), Y14
	TAKE(0, Y4)
	TAKE(32, Y5)
	TAKE(64, Y6)
	TAKE(96, Y7)
	COMBINE(Y0, Y4)
	COMBINE(Y1, Y5)
	COMBINE(Y2, Y6)
	COMBINE(Y3, Y7)
	CMPQ old-8(SP), $0
	JEQ  store
	OLD(0, Y0, Y4)
	OLD(32, Y1, Y5)
	OLD(64, Y2, Y6)
	OLD(96, Y3, Y7)

store:
	STORE(0, Y0)
	STORE(32, Y1)
	STORE(64, Y2)
	STORE(96, Y3)
	TESTQ SI, SI
	JEQ  next
	ACCUMULATE(0, Y0)
	ACCUMULATE(32, Y1)
	ACCUMULATE(64, Y2)
	ACCUMULATE(96, Y3)

next:
	ADDQ $8, R8
	ADDQ $8, R9
	ADDQ R13, BX
	JMP  row

done:
	VZEROUPPER
	RET

// func rows8(p *kernelArgs)
TEXT ·rows8(SB), NOSPLIT, $16-8
	LOAD

row:
	CMPQ R9, end-16(SP)
	JGE  done
	STREAM
	LEAQ (BX)(R13*8), R14
	PREFETCHT0 (DX)(R14*1)
	PREFETCHT0 (DI)(R14*1)
	TESTQ SI, SI
	JEQ  alone
	PREFETCHT0 (SI)(R14*1)

alone:
	MOVQ 8(R9), CX
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1

segment:
	CMPQ AX, CX
	JGE  put
	SEGMENT
	VXORPD Y4, Y4, Y4
	VXORPD Y5, Y5, Y5
	TESTQ R12, R12
	JNE  weighted

ones:
	AHEAD
	PREFETCHT0 (DX)(R14*1)
	NEIGHBOR
	ADD(0, Y4)
	ADD(32, Y5)
	INCQ AX
	CMPQ AX, R15
	JLT  ones
	JMP  total

weighted:
	AHEAD
	PREFETCHT0 (DX)(R14*1)
	NEIGHBOR
	VBROADCASTSD (R12)(AX*8), Y14
	ADDTIMES(0, Y4)
	ADDTIMES(32, Y5)
	INCQ AX
	CMPQ AX, R15
	JLT  weighted

total:
	VADDPD Y4, Y0, Y0
	VADDPD Y5, Y1, Y1
	JMP  segment

put:
	VBROADCASTSD (R8), Y14
	TAKE(0, Y4)
	TAKE(32, Y5)
	COMBINE(Y0, Y4)
	COMBINE(Y1, Y5)
	CMPQ old-8(SP), $0
	JEQ  store
	OLD(0, Y0, Y4)
	OLD(32, Y1, Y5)

store:
	STORE(0, Y0)
	STORE(32, Y1)
	TESTQ SI, SI
	JEQ  next
	ACCUMULATE(0, Y0)
	ACCUMULATE(32, Y1)

next:
	ADDQ $8, R8
	ADDQ $8, R9
	ADDQ R13, BX
	JMP  row

done:
	VZEROUPPER
	RET

// func rows4(p *kernelArgs)
//
// One to four columns, those whose entry of mask is −1.
TEXT ·rows4(SB), NOSPLIT, $16-8
	LOAD
	VMOVDQU kernelArgs_mask(CX), Y12

row:
	CMPQ R9, end-16(SP)
	JGE  done
	STREAM
	LEAQ (BX)(R13*8), R14
	PREFETCHT0 (DX)(R14*1)
	PREFETCHT0 (DI)(R14*1)
	TESTQ SI, SI
	JEQ  alone
	PREFETCHT0 (SI)(R14*1)

alone:
	MOVQ 8(R9), CX
	VXORPD Y0, Y0, Y0

segment:
	CMPQ AX, CX
	JGE  put
	SEGMENT
	VXORPD Y4, Y4, Y4
	TESTQ R12, R12
	JNE  weighted

ones:
	AHEAD
	PREFETCHT0 (DX)(R14*1)
	NEIGHBOR
	VMASKMOVPD (DX)(R14*1), Y12, Y15
	VADDPD Y15, Y4, Y4
	INCQ AX
	CMPQ AX, R15
	JLT  ones
	JMP  total

weighted:
	AHEAD
	PREFETCHT0 (DX)(R14*1)
	NEIGHBOR
	VBROADCASTSD (R12)(AX*8), Y14
	VMASKMOVPD (DX)(R14*1), Y12, Y15
	VMULPD Y15, Y14, Y15
	VADDPD Y15, Y4, Y4
	INCQ AX
	CMPQ AX, R15
	JLT  weighted

total:
	VADDPD Y4, Y0, Y0
	JMP  segment

put:
	VBROADCASTSD (R8), Y14
	VMASKMOVPD (DX)(BX*1), Y12, Y4
	COMBINE(Y0, Y4)
	CMPQ old-8(SP), $0
	JEQ  store
	VMASKMOVPD (DI)(BX*1), Y12, Y4
	VMULPD Y4, Y10, Y4
	VADDPD Y4, Y0, Y0

store:
	VMASKMOVPD Y0, Y12, (DI)(BX*1)
	TESTQ SI, SI
	JEQ  next
	VMULPD Y11, Y0, Y0
	VMASKMOVPD (SI)(BX*1), Y12, Y4
	VADDPD Y4, Y0, Y0
	VMASKMOVPD Y0, Y12, (SI)(BX*1)

next:
	ADDQ $8, R8
	ADDQ $8, R9
	ADDQ R13, BX
	JMP  row

done:
	VZEROUPPER
	RET

// Eight ones, then eight zeros: from 8(8−r) on, a mask of r of eight lanes.
DATA lanes<>+0(SB)/8, $-1
DATA lanes<>+8(SB)/8, $-1
DATA lanes<>+16(SB)/8, $-1
DATA lanes<>+24(SB)/8, $-1
DATA lanes<>+32(SB)/8, $-1
DATA lanes<>+40(SB)/8, $-1
DATA lanes<>+48(SB)/8, $-1
DATA lanes<>+56(SB)/8, $-1
DATA lanes<>+64(SB)/8, $0
DATA lanes<>+72(SB)/8, $0
DATA lanes<>+80(SB)/8, $0
DATA lanes<>+88(SB)/8, $0
DATA lanes<>+96(SB)/8, $0
DATA lanes<>+104(SB)/8, $0
DATA lanes<>+112(SB)/8, $0
DATA lanes<>+120(SB)/8, $0
GLOBL lanes<>(SB), RODATA, $128

// func rows1(p *kernelArgs)
//
// One column alone: eight entries of a row at a time, in the lanes of Y1 and Y2.
TEXT ·rows1(SB), NOSPLIT, $16-8
	LOAD

row:
	CMPQ R9, end-16(SP)
	JGE  done
	STREAM
	PREFETCHT0 1024(DI)(BX*1)
	MOVQ 8(R9), CX
	VXORPD X0, X0, X0

segment:
	SEGMENT
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	LEAQ -8(R15), R14

eight:
	CMPQ AX, R14
	JGT  tail
	VMOVDQU (R10)(AX*4), X3
	VMOVDQU 16(R10)(AX*4), X4
	VPCMPEQD Y12, Y12, Y12
	VPCMPEQD Y13, Y13, Y13
	VXORPD Y5, Y5, Y5
	VXORPD Y6, Y6, Y6
	VGATHERDPD Y12, (DX)(X3*8), Y5
	VGATHERDPD Y13, (DX)(X4*8), Y6
	TESTQ R12, R12
	JEQ  add
	VMULPD (R12)(AX*8), Y5, Y5
	VMULPD 32(R12)(AX*8), Y6, Y6

add:
	VADDPD Y5, Y1, Y1
	VADDPD Y6, Y2, Y2
	ADDQ $8, AX
	JMP  eight

tail:
	MOVQ AX, R14
	SUBQ R15, R14
	LEAQ lanes<>+64(SB), CX
	VMOVDQU (CX)(R14*4), X3
	VMOVDQU 16(CX)(R14*4), X4
	VMOVDQU (CX)(R14*8), Y12
	VMOVDQU 32(CX)(R14*8), Y13
	VPMASKMOVD (R10)(AX*4), X3, X3
	VPMASKMOVD 16(R10)(AX*4), X4, X4
	VXORPD Y5, Y5, Y5
	VXORPD Y6, Y6, Y6
	VMOVAPD Y12, Y7
	VGATHERDPD Y7, (DX)(X3*8), Y5
	VMOVAPD Y13, Y7
	VGATHERDPD Y7, (DX)(X4*8), Y6
	TESTQ R12, R12
	JEQ  rest
	VMASKMOVPD (R12)(AX*8), Y12, Y3
	VMASKMOVPD 32(R12)(AX*8), Y13, Y4
	VMULPD Y3, Y5, Y5
	VMULPD Y4, Y6, Y6

rest:
	VADDPD Y5, Y1, Y1
	VADDPD Y6, Y2, Y2
	VADDPD Y2, Y1, Y1
	VEXTRACTF128 $1, Y1, X2
	VADDPD X2, X1, X1
	VPERMILPD $1, X1, X2
	VADDSD X2, X1, X1
	VADDSD X1, X0, X0
	MOVQ R15, AX
	MOVQ 8(R9), CX
	CMPQ AX, CX
	JLT  segment

	VMOVSD (DX)(BX*1), X4
	VMOVSD (R8), X14
	VMULSD X4, X14, X15
	VSUBSD X0, X15, X0
	VMULSD X8, X0, X0
	VMULSD X9, X4, X4
	VADDSD X4, X0, X0
	CMPQ old-8(SP), $0
	JEQ  store
	VMULSD (DI)(BX*1), X10, X4
	VADDSD X4, X0, X0

store:
	VMOVSD X0, (DI)(BX*1)
	TESTQ SI, SI
	JEQ  next
	VMULSD X11, X0, X0
	VADDSD (SI)(BX*1), X0, X0
	VMOVSD X0, (SI)(BX*1)

next:
	ADDQ $8, R8
	ADDQ $8, R9
	ADDQ R13, BX
	JMP  row

done:
	VZEROUPPER
	RET
