/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random numbers against what was published. Philox4x32-10 is written down here once more, straight
 * from the paper (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011), and tied to
 * the known answers that its authors publish with Random123 (kat_vectors, "philox4x32 10").
 */
#include <inttypes.h>
#include <string.h>

#include "axle/status.h"
#include "trial.h"

static void philox(const uint32_t key[2], const uint32_t counter[4], uint32_t out[4])
{
    uint32_t k0 = key[0], k1 = key[1];
    memcpy(out, counter, 4 * sizeof(out[0]));
    for (int round = 0; round < 10; round++) {
        const uint64_t a = UINT64_C(0xd2511f53) * out[0], b = UINT64_C(0xcd9e8d57) * out[2];
        const uint32_t next[4] = {(uint32_t)(b >> 32) ^ out[1] ^ k0, (uint32_t)b,
                                  (uint32_t)(a >> 32) ^ out[3] ^ k1, (uint32_t)a};
        memcpy(out, next, sizeof(next));
        k0 += UINT32_C(0x9e3779b9);
        k1 += UINT32_C(0xbb67ae85);
    }
}

static const struct {
    uint32_t counter[4], key[2], answer[4];
} published[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

static int answers_are_known(note *n)
{
    for (size_t k = 0; k < sizeof(published) / sizeof(published[0]); k++) {
        uint32_t got[4];
        philox(published[k].key, published[k].counter, got);
        if (memcmp(got, published[k].answer, sizeof(got)) != 0)
            return note_fail(n, "the check's own generator does not give the published answers");
    }
    return 1;
}

/* The uniform number that element `i` of a draw must be. */
static float expected(uint64_t seed, uint64_t offset, uint64_t i)
{
    const uint64_t number = offset + i, block = number / 4;
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    const uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), 0, 0};
    uint32_t words[4];
    philox(key, counter, words);
    return (float)(words[number % 4] >> 8) * 0x1p-24f;
}

enum { COUNT = 41 };

/* Draw in [0, 1). 1, 0, or -1 where the device does not draw. */
static int draw(const machine *m, uint64_t seed, uint64_t offset, float out[COUNT], note *n)
{
    const axle_random_attrs attrs = {.struct_size = sizeof(attrs), .low = 0.0, .high = 1.0};
    axle_view view = {.dtype = AXLE_DTYPE_F32, .rank = 1, .dim = {COUNT}, .stride = {1}};
    const axle_view *list[] = {&view};
    const axle_op_desc desc = {.struct_size = sizeof(desc),
                               .op = AXLE_OP_RANDOM,
                               .n_out = 1,
                               .out = list,
                               .attrs = &attrs};
    axle_op_args args = {.struct_size = sizeof(args),
                         .n_out = 1,
                         .out = list,
                         .rng_seed = seed,
                         .rng_offset = offset};
    axle_be_buffer *buffer = NULL;
    axle_be_op *op = NULL;
    error_room room;
    const axle_op_info info = machine_query(m, &desc);
    if (info.support == AXLE_SUPPORT_NO)
        return -1;
    if (m->api->op_prepare(m->device, &desc, &op, error_room_init(&room)) != AXLE_OK)
        return note_fail(n, "op_prepare: %s", room.text);
    int good =
        machine_buffer_create(m, AXLE_BUFFER_DEVICE, COUNT * sizeof(float), &buffer, n) &&
        (!info.workspace_size ||
         machine_buffer_create(m, AXLE_BUFFER_DEVICE, info.workspace_size, &args.workspace, n));
    view.buffer = buffer;
    if (good) {
        const axle_status status = m->api->op_run(m->queue, op, &args, error_room_init(&room));
        good = status == AXLE_OK
                   ? machine_read(m, m->queue, buffer, 0, out, COUNT * sizeof(float), n)
                   : error_room_fail(n, &room, "op_run", status);
    }
    m->api->op_release(op);
    machine_buffer_destroy(m, buffer);
    machine_buffer_destroy(m, args.workspace);
    return good;
}

static check_status draws_agree(trial *t, const uint64_t (*draws)[2], size_t count, note *n)
{
    float got[COUNT];
    if (!answers_are_known(n) || !trial_open(t, n))
        return CHECK_FAILED;
    for (size_t k = 0; k < count; k++) {
        const uint64_t seed = draws[k][0], offset = draws[k][1];
        const int drawn = draw(&t->subject, seed, offset, got, n);
        if (drawn <= 0)
            return drawn ? CHECK_HOST : CHECK_FAILED;
        for (uint64_t i = 0; i < COUNT; i++)
            if (got[i] != expected(seed, offset, i))
                return ROW_FAILED(n,
                                  "seed 0x%" PRIx64 ", offset %" PRIu64 ": element %d is %.9g "
                                  "instead of %.9g",
                                  seed, offset, (int)i, (double)got[i],
                                  (double)expected(seed, offset, i));
    }
    return CHECK_PASSED;
}

static check_status first_block(trial *t, note *n)
{
    static const uint64_t draws[][2] = {{0, 0}};
    return draws_agree(t, draws, 1, n);
}

#define ONE UINT64_C(1)

static check_status any_key(trial *t, note *n)
{
    static const uint64_t draws[][2] = {
        {UINT64_C(0x299f31d0a4093822), 0}, {UINT64_MAX, 0}, {ONE << 32, 0}, {0xffffffff, 8}};
    return draws_agree(t, draws, sizeof(draws) / sizeof(draws[0]), n);
}

static check_status any_offset(trial *t, note *n)
{
    static const uint64_t draws[][2] = {{7, 1},
                                        {7, 2},
                                        {7, 3},
                                        {7, (ONE << 32) - 1},
                                        {7, (ONE << 34) - 7},
                                        {7, (ONE << 40) + 3},
                                        {7, (ONE << 62) + 1}};
    return draws_agree(t, draws, sizeof(draws) / sizeof(draws[0]), n);
}

const behaviour behaviours_philox[] = {
    {"philox", "the published answers", first_block, 0},
    {"philox", "both halves of the key", any_key, 0},
    {"philox", "offsets within blocks and beyond 2^32", any_offset, 0},
    {NULL, NULL, NULL, 0}};
