/* SPDX-License-Identifier: Apache-2.0 */
/* The table of image models. */
#include <string.h>

#include "../../common/options_copy.h"
#include "axle/status.h"
#include "models.h"

static const char *const names[] = {"mlp", "lenet", "resnet18", NULL};
static int (*const constructors[])(const axle_image_model_options *options, axle_module **out) = {
    axle__mlp_create, axle__lenet_create, axle__resnet18_create};

const char *const *axle_image_model_names(void)
{
    return names;
}

/* Sizes beyond these are mistakes, and products of them stay far from overflow. */
enum { MOST = 1 << 20 };

static int check_sizes(const char *name, const axle_image_model_options *options)
{
    const struct {
        const char *what;
        int64_t value;
    } sizes[] = {
        {"channels", options->channels}, {"height", options->height}, {"width", options->width},
        {"classes", options->classes},   {"hidden", options->hidden},
    };
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
        if (sizes[k].value < 1 || sizes[k].value > MOST)
            return axle_error_set(AXLE_ERR_INVALID, "%s: %s is %lld, must lie between 1 and %d",
                                  name, sizes[k].what, (long long)sizes[k].value, MOST);
    if (!(options->dropout >= 0.0 && options->dropout <= 1.0))
        return axle_error_set(AXLE_ERR_INVALID, "%s: dropout is %g, must lie in [0, 1]", name,
                              options->dropout);
    return AXLE_OK;
}

static int unknown(const char *name)
{
    char list[128] = "";
    for (int k = 0; names[k]; k++) {
        if (k)
            strncat(list, ", ", sizeof(list) - strlen(list) - 1);
        strncat(list, names[k], sizeof(list) - strlen(list) - 1);
    }
    return axle_error_set(AXLE_ERR_NOT_FOUND, "there is no image model '%s'; there are %s",
                          name ? name : "", list);
}

int axle_image_model_create(const char *name, const axle_image_model_options *given,
                            axle_module **out)
{
    axle_image_model_options options = AXLE_IMAGE_MODEL_OPTIONS_INIT;
    int status = options_copy("axle_image_model_create", given, &options, sizeof(options));
    if (status)
        return status;
    for (int k = 0; names[k]; k++)
        if (name && strcmp(names[k], name) == 0)
            return check_sizes(name, &options) ? axle_error_code() : constructors[k](&options, out);
    return unknown(name);
}
