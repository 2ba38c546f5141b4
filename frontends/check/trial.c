/* SPDX-License-Identifier: Apache-2.0 */
#include "trial.h"

#include <dlfcn.h>
#include <string.h>

#include "axle/reference.h"
#include "services.h"

static axle_plugin_init_fn find_init(const char *path, note *n)
{
    axle_plugin_init_fn init = NULL;
    if (!path)
        return axle_reference_init;
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object) {
        const char *why = dlerror();
        note_fail(n, "it can not be loaded: %s", why ? why : path);
        return NULL;
    }
    /* ISO C has no cast from what dlsym returns. */
    void *address = dlsym(object, AXLE_PLUGIN_ENTRY);
    memcpy(&init, &address, sizeof(init));
    if (!init)
        note_fail(n, "it exports no %s", AXLE_PLUGIN_ENTRY);
    return init;
}

/* The slots that nothing works without. */
static int check_slots(const axle_plugin *plugin, note *n)
{
    if (plugin->struct_size < AXLE_FIELD_END(axle_plugin, name))
        return note_fail(n, "its table claims %u bytes", plugin->struct_size);
    if (plugin->abi_major != AXLE_ABI_MAJOR)
        return note_fail(n, "it needs interface %u, and this is %u", plugin->abi_major,
                         AXLE_ABI_MAJOR);
    if (!AXLE_HAS(plugin, axle_plugin, device_info) ||
        !AXLE_HAS(plugin, axle_plugin, device_open) || !AXLE_HAS(plugin, axle_plugin, device_api))
        return note_fail(n, "it lacks device_info, device_open or device_api");
    return 1;
}

int trial_load(trial *t, note *n)
{
    error_room room;
    if (t->plugin)
        return 1;
    const axle_plugin_init_fn init = find_init(t->options->path, n);
    if (!init)
        return 0;
    const axle_plugin *plugin = init(services_table(), error_room_init(&room));
    if (!plugin)
        return note_fail(n, "it declines: %s", *room.text ? room.text : "without a reason");
    if (!check_slots(plugin, n))
        return 0;
    t->plugin = plugin;
    return 1;
}

int trial_open(trial *t, note *n)
{
    if (!trial_load(t, n))
        return 0;
    return t->subject.device || machine_open(&t->subject, t->plugin, t->index, n);
}

/* With the library's services, so that those of the plugin under test count it alone. The plugin
 * may be the reference itself, which then keeps serving with the services it had. */
int trial_reference(trial *t, note *n)
{
    if (t->reference.device)
        return 1;
    const axle_plugin *plugin = axle_reference_init(NULL, NULL);
    const int opened = plugin && machine_open(&t->reference, plugin, 0, n);
    if (t->plugin == plugin)
        axle_reference_init(services_table(), NULL);
    return opened;
}

void trial_close(trial *t)
{
    if (t->subject.device)
        machine_close(&t->subject);
}

void trial_end(trial *t)
{
    trial_close(t);
    if (t->reference.device)
        machine_close(&t->reference);
}
