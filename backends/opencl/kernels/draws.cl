/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random numbers by Philox4x32-10. Words are numbered: element i of a draw has word i % 4 of the
 * block with the number i / 4, and the upper 24 bits u of it; its uniform number is u * 2^-24.
 */

/* The block of four words with this counter. */
static uint4 philox(ulong seed, ulong counter)
{
    uint k0 = (uint)seed, k1 = (uint)(seed >> 32);
    uint4 c = (uint4)((uint)counter, (uint)(counter >> 32), 0, 0);
    for (int round = 0; round < 10; round++) {
        const uint h0 = mul_hi(0xD2511F53u, c.x), l0 = 0xD2511F53u * c.x;
        const uint h1 = mul_hi(0xCD9E8D57u, c.z), l1 = 0xCD9E8D57u * c.z;
        c = (uint4)(h1 ^ c.y ^ k0, l1, h0 ^ c.w ^ k1, l0);
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return c;
}

/* The bits u of element i. */
static uint random_bits(ulong seed, ulong i)
{
    const uint4 c = philox(seed, i / 4);
    const uint lane = (uint)i & 3;
    return (lane < 2 ? lane == 0 ? c.x : c.y : lane == 2 ? c.z : c.w) >> 8;
}

/*
 * DRAWN elements that a block begins with, a whole number of blocks: sixteen at once where that
 * fills the vectors of a CPU.
 */
#ifdef ON_CPU
#define DRAWN 64
static uint16 upper(uint factor, uint16 x)
{
    return convert_uint16(convert_ulong16(x) * (ulong16)(factor) >> (ulong16)(32));
}
static void draw(ulong seed, ulong element, uint *bits)
{
    const ulong16 block =
        (ulong16)(element / 4) + (ulong16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    uint k0 = (uint)seed, k1 = (uint)(seed >> 32);
    uint16 c0 = convert_uint16(block & (ulong16)(0xffffffffu)), c2 = 0, c3 = 0;
    uint16 c1 = convert_uint16(block >> (ulong16)(32));
    for (int round = 0; round < 10; round++) {
        const uint16 h0 = upper(0xD2511F53u, c0), l0 = 0xD2511F53u * c0;
        const uint16 h1 = upper(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
        c0 = h1 ^ c1 ^ k0;
        c1 = l1;
        c2 = h0 ^ c3 ^ k1;
        c3 = l0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    c0 >>= (uint16)(8), c1 >>= (uint16)(8), c2 >>= (uint16)(8), c3 >>= (uint16)(8);
#define WORDS(at, i, j, k, l)                                                                      \
    vstore16((uint16)(c0.s##i, c1.s##i, c2.s##i, c3.s##i, c0.s##j, c1.s##j, c2.s##j, c3.s##j,      \
                      c0.s##k, c1.s##k, c2.s##k, c3.s##k, c0.s##l, c1.s##l, c2.s##l, c3.s##l),     \
             at, bits)
    WORDS(0, 0, 1, 2, 3);
    WORDS(1, 4, 5, 6, 7);
    WORDS(2, 8, 9, a, b);
    WORDS(3, c, d, e, f);
}
#else
#define DRAWN 4
static void draw(ulong seed, ulong element, uint *bits)
{
    const uint4 c = philox(seed, element / 4) >> (uint4)(8);
    bits[0] = c.x;
    bits[1] = c.y;
    bits[2] = c.z;
    bits[3] = c.w;
}
#endif
