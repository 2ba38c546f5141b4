/* SPDX-License-Identifier: Apache-2.0 */
#include "models.h"

void axle__build_begin(axle__build *build, int status)
{
    build->status = status;
}

void axle__build_add(axle__build *build, const char *name, int status)
{
    if (status == AXLE_OK && build->status == AXLE_OK)
        build->status = axle_module_add_child(build->module, name, build->layer);
    else if (status == AXLE_OK)
        axle_module_release(build->layer);
    else if (build->status == AXLE_OK)
        build->status = status;
}

int axle__build_finish(axle__build *build, axle_module **out)
{
    if (build->status)
        axle_module_release(build->module);
    else
        *out = build->module;
    return build->status;
}
