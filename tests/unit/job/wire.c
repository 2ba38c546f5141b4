/* SPDX-License-Identifier: Apache-2.0 */
/* Messages, the channel that carries them, proofs, and the store. */
#include "job/wire.h"

#include <sys/socket.h>

#include "base/memory.h"
#include "job/auth.h"
#include "job/channel.h"
#include "job/socket.h"
#include "job/store.h"
#include "unit/unit.h"

static void numbers_are_little_endian(void **state)
{
    (void)state;
    static const unsigned char expected[] = {5,    0x04, 0x03, 0x02, 0x01, 0x18, 0x17,
                                             0x16, 0x15, 0x14, 0x13, 0x12, 0x11, 2,
                                             0,    0,    0,    'h',  'i'};
    axle__wire_writer writer = {0};
    char text[8];
    axle__wire_put_u8(&writer, 5);
    axle__wire_put_u32(&writer, 0x01020304);
    axle__wire_put_u64(&writer, 0x1112131415161718);
    axle__wire_put_text(&writer, "hi");
    assert_int_equal(writer.size, sizeof(expected));
    assert_memory_equal(writer.data, expected, sizeof(expected));
    axle__wire_reader reader = {writer.data, writer.data + writer.size, false};
    assert_int_equal(axle__wire_get_u8(&reader), 5);
    assert_int_equal(axle__wire_get_u32(&reader), 0x01020304);
    assert_true(axle__wire_get_u64(&reader) == 0x1112131415161718);
    assert_false(axle__wire_done(&reader));
    axle__wire_get_text(&reader, text, sizeof(text));
    assert_string_equal(text, "hi");
    assert_true(axle__wire_done(&reader));
    assert_int_equal(axle__wire_get_u8(&reader), 0);
    assert_false(axle__wire_done(&reader));
    axle__wire_free(&writer);
}

/* Every cut of a payload, and texts that do not fit, are failures and no reads beyond the end. */
static void short_payloads_fail(void **state)
{
    (void)state;
    axle__wire_writer writer = {0};
    axle__wire_put_u32(&writer, 7);
    axle__wire_put_text(&writer, "a\tb");
    for (size_t size = 0; size <= writer.size; size++) {
        char text[4];
        unsigned char *cut = malloc(size + 1);
        memcpy(cut, writer.data, size);
        axle__wire_reader reader = {cut, cut + size, false};
        (void)axle__wire_get_u32(&reader);
        axle__wire_get_text(&reader, text, sizeof(text));
        assert_int_equal(axle__wire_done(&reader), size == writer.size);
        if (size == writer.size)
            assert_string_equal(text, "a?b");
        free(cut);
    }
    char small[3];
    axle__wire_reader reader = {writer.data + 4, writer.data + writer.size, false};
    axle__wire_get_text(&reader, small, sizeof(small));
    assert_false(axle__wire_done(&reader));
    axle__wire_free(&writer);
}

/* Messages arrive whole, however they are cut on the way. */
static void messages_survive_any_cut(void **state)
{
    (void)state;
    int fds[2];
    unsigned char stream[200];
    size_t size = 0;
    for (int k = 0; k < 5; k++) {
        axle__wire_header(stream + size, AXLE__WIRE_PING, (size_t)(3 * k));
        size += AXLE__WIRE_HEADER;
        memset(stream + size, k, (size_t)(3 * k));
        size += (size_t)(3 * k);
    }
    for (size_t step = 1; step <= size; step++) {
        axle__channel channel;
        axle__message message;
        int got = 0;
        assert_int_equal(axle__socket_pair(fds), AXLE_OK);
        axle__channel_open(&channel, fds[0], 100);
        for (size_t at = 0; at < size; at += step) {
            size_t part = step < size - at ? step : size - at;
            assert_int_equal(send(fds[1], stream + at, part, MSG_NOSIGNAL), part);
            axle__channel_fill(&channel);
            while (axle__channel_next(&channel, &message)) {
                size_t length = (size_t)(message.payload.end - message.payload.next);
                assert_int_equal(message.kind, AXLE__WIRE_PING);
                assert_int_equal(length, 3 * got);
                if (length > 0)
                    assert_int_equal(message.payload.next[length - 1], got);
                got++;
            }
        }
        assert_int_equal(got, 5);
        assert_string_equal(channel.broken, "");
        axle__socket_close(fds[1]);
        axle__channel_fill(&channel);
        assert_false(axle__channel_next(&channel, &message));
        assert_string_equal(channel.broken, "its connection was closed");
        axle__channel_close(&channel);
    }
}

static void expect_broken(const unsigned char *header, const char *why)
{
    int fds[2];
    axle__channel channel;
    axle__message message;
    assert_int_equal(axle__socket_pair(fds), AXLE_OK);
    axle__channel_open(&channel, fds[0], 100);
    assert_int_equal(send(fds[1], header, AXLE__WIRE_HEADER, MSG_NOSIGNAL), AXLE__WIRE_HEADER);
    axle__channel_fill(&channel);
    assert_false(axle__channel_next(&channel, &message));
    assert_string_equal(channel.broken, why);
    axle__channel_close(&channel);
    axle__socket_close(fds[1]);
}

static void bad_headers_break_the_channel(void **state)
{
    (void)state;
    unsigned char header[AXLE__WIRE_HEADER];
    axle__wire_header(header, AXLE__WIRE_PING, 100);
    expect_broken(header, "");
    for (int k = 0; k < AXLE__WIRE_HEADER; k++) {
        axle__wire_header(header, AXLE__WIRE_PING, 100);
        header[k] ^= 0x80;
        expect_broken(header, "what it sends is no message of Axle's");
    }
    axle__wire_header(header, AXLE__WIRE_PING, 101);
    expect_broken(header, "what it sends is no message of Axle's");
    axle__wire_header(header, 0, 0);
    expect_broken(header, "what it sends is no message of Axle's");
    axle__wire_header(header, AXLE__WIRE_KINDS, 0);
    expect_broken(header, "what it sends is no message of Axle's");
}

/* A peer that does not read does not block the sender, and gets all in order later. */
static void slow_readers_get_all(void **state)
{
    (void)state;
    enum { COUNT = 400, SIZE = 10000 };
    int fds[2], got = 0;
    unsigned char *bytes = calloc(1, SIZE);
    axle__channel one, two;
    axle__message message;
    assert_int_equal(axle__socket_pair(fds), AXLE_OK);
    axle__channel_open(&one, fds[0], 100);
    axle__channel_open(&two, fds[1], SIZE);
    for (int k = 0; k < COUNT; k++) {
        axle__wire_writer payload = {0};
        memcpy(bytes, &k, sizeof(k));
        axle__wire_put(&payload, bytes, SIZE);
        axle__channel_send(&one, AXLE__WIRE_PING, &payload);
        axle__channel_flush(&one);
    }
    assert_true(axle__channel_pending(&one));
    while (got < COUNT) {
        axle__channel_flush(&one);
        axle__channel_fill(&two);
        while (axle__channel_next(&two, &message)) {
            int number;
            memcpy(&number, message.payload.next, sizeof(number));
            assert_int_equal(number, got++);
        }
        assert_string_equal(two.broken, "");
    }
    assert_false(axle__channel_pending(&one));
    axle__channel_close(&one);
    axle__channel_close(&two);
    free(bytes);
}

static void unread_words_are_bounded(void **state)
{
    (void)state;
    int fds[2];
    axle__channel channel;
    assert_int_equal(axle__socket_pair(fds), AXLE_OK);
    axle__channel_open(&channel, fds[0], 100);
    unsigned char *bytes = calloc(1, 1 << 20);
    for (int k = 0; k < 100 && !channel.broken[0]; k++) {
        axle__wire_writer payload = {0};
        axle__wire_put(&payload, bytes, 1 << 20);
        axle__channel_send(&channel, AXLE__WIRE_PING, &payload);
    }
    assert_string_equal(channel.broken, "it does not read what it is sent");
    axle__channel_close(&channel);
    axle__socket_close(fds[1]);
    free(bytes);
}

static void expect_digest(const unsigned char *digest, const char *expected)
{
    char text[2 * AXLE__SHA256_SIZE + 1];
    for (int k = 0; k < AXLE__SHA256_SIZE; k++)
        snprintf(text + 2 * (size_t)k, 3, "%02x", digest[k]);
    assert_string_equal(text, expected);
}

/* The examples that come with FIPS 180-2. */
static void digests_are_sha_256(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    unsigned char digest[AXLE__SHA256_SIZE];
    axle__sha256 hash;
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
        axle__sha256_init(&hash);
        axle__sha256_add(&hash, rows[k][0], strlen(rows[k][0]));
        axle__sha256_end(&hash, digest);
        expect_digest(digest, rows[k][1]);
    }
    char many[1000];
    memset(many, 'a', sizeof(many));
    axle__sha256_init(&hash);
    for (int k = 0; k < 1000; k++)
        axle__sha256_add(&hash, many, sizeof(many));
    axle__sha256_end(&hash, digest);
    expect_digest(digest, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void expect_mac(const void *key, size_t key_size, const void *data, size_t size,
                       const char *expected)
{
    unsigned char proof[AXLE__SHA256_SIZE];
    axle__hmac mac;
    axle__hmac_init(&mac, key, key_size);
    axle__hmac_add(&mac, data, size / 2);
    axle__hmac_add(&mac, (const char *)data + size / 2, size - size / 2);
    axle__hmac_end(&mac, proof);
    expect_digest(proof, expected);
}

/* Cases 1, 2, 3, 6 and 7 of RFC 4231. */
static void proofs_are_hmac_sha_256(void **state)
{
    (void)state;
    unsigned char key[131], data[50];
    static const char large[] = "Test Using Larger Than Block-Size Key - Hash Key First";
    static const char larger[] =
        "This is a test using a larger than block-size key and a larger than block-size data. The "
        "key needs to be hashed before being used by the HMAC algorithm.";
    memset(key, 0x0b, 20);
    expect_mac(key, 20, "Hi There", 8,
               "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    expect_mac("Jefe", 4, "what do ya want for nothing?", 28,
               "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof(key));
    memset(data, 0xdd, sizeof(data));
    expect_mac(key, 20, data, sizeof(data),
               "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
    expect_mac(key, sizeof(key), large, strlen(large),
               "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    expect_mac(key, sizeof(key), larger, strlen(larger),
               "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
}

static void proofs_differ_where_anything_differs(void **state)
{
    (void)state;
    unsigned char a[16] = {1}, b[16] = {2}, first[32], other[32];
    axle__proof_make("secret", 'C', a, b, "said", 4, first);
    axle__proof_make("secret", 'C', a, b, "said", 4, other);
    assert_true(axle__proof_equal(first, other));
    axle__proof_make("Secret", 'C', a, b, "said", 4, other);
    assert_false(axle__proof_equal(first, other));
    axle__proof_make("secret", 'S', a, b, "said", 4, other);
    assert_false(axle__proof_equal(first, other));
    axle__proof_make("secret", 'C', b, a, "said", 4, other);
    assert_false(axle__proof_equal(first, other));
    axle__proof_make("secret", 'C', a, b, "Said", 4, other);
    assert_false(axle__proof_equal(first, other));
    assert_int_equal(axle__random_bytes(a, sizeof(a)), AXLE_OK);
    assert_int_equal(axle__random_bytes(b, sizeof(b)), AXLE_OK);
    assert_memory_not_equal(a, b, sizeof(a));
}

static void store_keeps_many_keys(void **state)
{
    (void)state;
    axle__store store = {0};
    char key[16];
    for (int k = 0; k < 500; k++) {
        snprintf(key, sizeof(key), "%d", k * 7919 % 500);
        assert_int_equal(axle__store_set(&store, key, &k, sizeof(k)), AXLE_OK);
    }
    for (int k = 0; k < 500; k++) {
        snprintf(key, sizeof(key), "%d", k * 7919 % 500);
        const axle__store_entry *entry = axle__store_find(&store, key);
        assert_non_null(entry);
        assert_memory_equal(entry->value, &k, sizeof(k));
    }
    assert_null(axle__store_find(&store, "500"));
    assert_int_equal(axle__store_set(&store, "1", "", 0), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "key '1' has a value");
    for (long n = 1; n <= 2; n++) {
        axle__alloc_fail_at(n);
        assert_int_equal(axle__store_set(&store, "new", "", 0), AXLE_ERR_NOMEM);
        axle__alloc_fail_at(0);
        unit_expect_error(AXLE_ERR_NOMEM, "out of memory");
        assert_null(axle__store_find(&store, "new"));
    }
    axle__store_free(&store);
}

static const struct CMUnitTest tests[] = {
    UNIT("numbers are little-endian, and come back", numbers_are_little_endian),
    UNIT("payloads that are too short are failures", short_payloads_fail),
    UNIT("messages survive any cut on the way", messages_survive_any_cut),
    UNIT("bad headers break the channel", bad_headers_break_the_channel),
    UNIT("slow readers block nobody and get all in order", slow_readers_get_all),
    UNIT("what waits for a peer that does not read is bounded", unread_words_are_bounded),
    UNIT("digests are SHA-256", digests_are_sha_256),
    UNIT("proofs are HMAC-SHA-256", proofs_are_hmac_sha_256),
    UNIT("proofs differ where anything differs", proofs_differ_where_anything_differs),
    UNIT("the store keeps many keys, and survives lack of memory", store_keeps_many_keys),
};
UNIT_MAIN(tests)
