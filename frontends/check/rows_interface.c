/* SPDX-License-Identifier: Apache-2.0 */
/* Rows about the plugin's table, before any device is open. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "axle/status.h"
#include "dtype.h"
#include "trial.h"

static check_status table_is_sound(trial *t, note *n)
{
    if (!trial_load(t, n))
        return CHECK_FAILED;
    const axle_plugin *p = t->plugin;
    if (p->struct_size < offsetof(axle_plugin, probe) || p->struct_size > 4096)
        return ROW_FAILED(n, "struct_size is %u", p->struct_size);
    if (p->abi_minor > 1000)
        return ROW_FAILED(n, "abi_minor is %u", p->abi_minor);
    return CHECK_PASSED;
}

static check_status name_is_a_word(trial *t, note *n)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    if (!trial_load(t, n))
        return CHECK_FAILED;
    const char *name = t->plugin->name, *path = t->options->path;
    if (!name || !*name || strspn(name, letters) != strlen(name))
        return ROW_FAILED(n, "it calls itself '%s'", name ? name : "(null)");
    if (!path)
        return CHECK_PASSED;
    const char *file = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    const size_t length = strlen(name);
    if (strncmp(file, name, length) != 0 || strcmp(file + length, ".so") != 0)
        return ROW_FAILED(n, "it calls itself '%s', but its file is '%s'", name, file);
    return CHECK_PASSED;
}

static check_status texts_are_there(trial *t, note *n)
{
    if (!trial_load(t, n))
        return CHECK_FAILED;
    const axle_plugin *p = t->plugin;
    if (!AXLE_HAS(p, axle_plugin, version) || !AXLE_HAS(p, axle_plugin, vendor) ||
        !AXLE_HAS(p, axle_plugin, license))
        return ROW_FAILED(n, "version, vendor or license is absent");
    return CHECK_PASSED;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The quickest of a few, since the machine may be busy. */
static check_status probe_is_quick(trial *t, note *n)
{
    enum { TRIES = 5, LIMIT_MS = 50 };
    double best = 1e9;
    if (!trial_load(t, n))
        return CHECK_FAILED;
    if (!AXLE_HAS(t->plugin, axle_plugin, probe))
        return CHECK_HOST;
    const int32_t first = t->plugin->probe();
    for (int k = 0; k < TRIES; k++) {
        const double begin = seconds();
        const int32_t score = t->plugin->probe();
        const double took = seconds() - begin;
        best = took < best ? took : best;
        if (score != first)
            return ROW_FAILED(n, "it gives %d, then %d", first, score);
    }
    if (best * 1e3 > LIMIT_MS)
        return ROW_FAILED(n, "it takes %.0f ms, %d are allowed", best * 1e3, LIMIT_MS);
    return CHECK_PASSED;
}

static int read_count(const trial *t, uint32_t *count, note *n)
{
    error_room room;
    *count = 1;
    if (!AXLE_HAS(t->plugin, axle_plugin, device_count))
        return 1;
    const axle_status status = t->plugin->device_count(count, error_room_init(&room));
    return status == AXLE_OK ? 1 : error_room_fail(n, &room, "device_count", status);
}

static check_status count_is_stable(trial *t, note *n)
{
    uint32_t first, second;
    if (!trial_load(t, n) || !read_count(t, &first, n) || !read_count(t, &second, n))
        return CHECK_FAILED;
    if (first != second)
        return ROW_FAILED(n, "there are %u devices, then %u", first, second);
    return CHECK_PASSED;
}

static int has_end(const char *text, size_t size)
{
    return memchr(text, '\0', size) != NULL;
}

static check_status info_is_sound(trial *t, note *n)
{
    error_room room;
    axle_device_info info = {.struct_size = sizeof(info)};
    uint64_t known = 0;
    if (!trial_load(t, n))
        return CHECK_FAILED;
    memset(info.name, 'x', sizeof(info.name));
    memset(info.description, 'x', sizeof(info.description));
    memset(info.driver, 'x', sizeof(info.driver));
    const axle_status status = t->plugin->device_info(t->index, &info, error_room_init(&room));
    if (status != AXLE_OK)
        return ROW_FAILED(n, "device_info: %s: %s", axle_status_text(status), room.text);
    for (const uint32_t *dtype = dtype_all; *dtype; dtype++)
        known |= AXLE_DTYPE_BIT(*dtype);
    if (info.struct_size != sizeof(info))
        return ROW_FAILED(n, "struct_size was changed to %u", info.struct_size);
    if (info.kind < AXLE_DEVICE_CPU || info.kind > AXLE_DEVICE_ACCELERATOR)
        return ROW_FAILED(n, "kind is %u", info.kind);
    if (!has_end(info.name, sizeof(info.name)) || !has_end(info.driver, sizeof(info.driver)) ||
        !has_end(info.description, sizeof(info.description)))
        return ROW_FAILED(n, "a text does not end within its field");
    if (info.base_align & (info.base_align - 1))
        return ROW_FAILED(n, "base_align is %u", info.base_align);
    if ((info.storage_dtypes | info.compute_dtypes) & ~known)
        return ROW_FAILED(n, "there are unknown element types in its masks");
    if (info.compute_dtypes & ~info.storage_dtypes)
        return ROW_FAILED(n, "it computes in element types that it can not hold");
    return CHECK_PASSED;
}

/* Structs as short as an older or a thriftier host would have them, with bytes behind. */
static check_status short_info_is_respected(trial *t, note *n)
{
    static const uint32_t sizes[] = {AXLE_FIELD_END(axle_device_info, kind),
                                     AXLE_FIELD_END(axle_device_info, caps),
                                     AXLE_FIELD_END(axle_device_info, mem_free),
                                     AXLE_FIELD_END(axle_device_info, reserved),
                                     AXLE_FIELD_END(axle_device_info, compute_dtypes),
                                     AXLE_FIELD_END(axle_device_info, name)};
    if (!trial_load(t, n))
        return CHECK_FAILED;
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        union {
            axle_device_info info;
            unsigned char bytes[sizeof(axle_device_info)];
        } room;
        memset(room.bytes, 0x5a, sizeof(room.bytes));
        room.info.struct_size = sizes[k];
        t->plugin->device_info(t->index, &room.info, NULL);
        for (size_t i = sizes[k]; i < sizeof(room.bytes); i++)
            if (room.bytes[i] != 0x5a)
                return ROW_FAILED(n, "with struct_size %u it writes to byte %zu", sizes[k], i);
    }
    return CHECK_PASSED;
}

/* A message has an end within the room that there is, and nothing is written behind it. */
static int message_fits(const trial *t, uint32_t capacity, note *n)
{
    char text[64];
    axle_device_info info = {.struct_size = sizeof(info)};
    axle_error error = {
        .struct_size = sizeof(error), .message = text, .message_capacity = capacity};
    memset(text, 'x', sizeof(text));
    if (capacity)
        text[0] = '\0';
    if (t->plugin->device_info(UINT32_MAX, &info, &error) >= 0)
        return note_fail(n, "device_info succeeds for device %u", UINT32_MAX);
    for (size_t k = capacity; k < sizeof(text); k++)
        if (text[k] != 'x')
            return note_fail(n, "a message is longer than the %u bytes that it has", capacity);
    if (capacity && !has_end(text, capacity))
        return note_fail(n, "a message of %u bytes has no end", capacity);
    return 1;
}

static check_status messages_fit(trial *t, note *n)
{
    static const uint32_t capacities[] = {0, 1, 2, 8, 33};
    if (!trial_load(t, n))
        return CHECK_FAILED;
    for (size_t k = 0; k < sizeof(capacities) / sizeof(capacities[0]); k++)
        if (!message_fits(t, capacities[k], n))
            return CHECK_FAILED;
    return CHECK_PASSED;
}

static check_status no_such_device(trial *t, note *n)
{
    error_room room;
    axle_be_device *const untouched = (axle_be_device *)&room, *device = untouched;
    axle_device_info info = {.struct_size = sizeof(info)};
    if (!trial_load(t, n))
        return CHECK_FAILED;
    if (t->plugin->device_info(UINT32_MAX, &info, NULL) >= 0 ||
        t->plugin->device_open(UINT32_MAX, &device, NULL) >= 0)
        return ROW_FAILED(n, "device %u is said to be there", UINT32_MAX);
    if (device != untouched)
        return ROW_FAILED(n, "device_open fails and still writes its output");
    t->plugin->device_open(UINT32_MAX, &device, error_room_init(&room));
    if (!*room.text)
        return ROW_FAILED(n, "device_open fails without a message");
    return CHECK_PASSED;
}

static check_status no_such_extension(trial *t, note *n)
{
    if (!trial_load(t, n))
        return CHECK_FAILED;
    if (!AXLE_HAS(t->plugin, axle_plugin, extension))
        return CHECK_HOST;
    if (t->plugin->extension("axle.no_such_extension"))
        return ROW_FAILED(n, "it offers an extension that there is not");
    return CHECK_PASSED;
}

const behaviour behaviours_interface[] = {
    {"interface", "its table is sound", table_is_sound, 0},
    {"interface", "its name is a word, and its file's", name_is_a_word, 0},
    {"interface", "version, vendor and license are told", texts_are_there, 0},
    {"interface", "probe is quick and always the same", probe_is_quick, 0},
    {"interface", "the number of devices stays", count_is_stable, 0},
    {"interface", "what it says of a device is sound", info_is_sound, 0},
    {"interface", "a short axle_device_info is respected", short_info_is_respected, 0},
    {"interface", "messages fit their room", messages_fit, 0},
    {"interface", "a device that is not there is an error", no_such_device, 0},
    {"interface", "an unknown extension is NULL", no_such_extension, 0},
    {NULL, NULL, NULL, 0}};
