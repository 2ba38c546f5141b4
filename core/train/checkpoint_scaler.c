/* SPDX-License-Identifier: Apache-2.0 */
/* The loss scale of fp16 in a checkpoint: {} where there is none. */
#include "train/checkpoint.h"

static axle__scaler_state scaler_state(const json_t *value)
{
    return (axle__scaler_state){json_number_value(json_object_get(value, "scale")),
                                json_integer_value(json_object_get(value, "good")),
                                json_integer_value(json_object_get(value, "skipped"))};
}

int axle__capture_scaler(axle__capture *capture, json_t **out)
{
    axle__scaler_state s;
    if (capture->status || !capture->main)
        return capture->status;
    *out = axle__scaler_get(capture->accelerator, &s)
               ? json_pack("{s:f, s:I, s:I}", "scale", s.scale, "good", (json_int_t)s.good,
                           "skipped", (json_int_t)s.skipped)
               : json_object();
    return AXLE_OK;
}

int axle__check_scaler(axle__restore *restore, const json_t *value)
{
    axle__scaler_state s = scaler_state(value);
    if (json_is_object(value) && (json_object_size(value) == 0 || axle__scaler_is_valid(&s)))
        return AXLE_OK;
    return axle__restore_error(restore, AXLE_ERR_FORMAT,
                               "a loss scale of %g after %lld good and %lld skipped updates",
                               s.scale, (long long)s.good, (long long)s.skipped);
}

/* A run that goes on in fp16 after another precision begins with a scale of its own. */
int axle__apply_scaler(axle__restore *restore, const json_t *value)
{
    axle__scaler_state s = scaler_state(value);
    return json_object_size(value) ? axle__scaler_set(restore->accelerator, &s) : AXLE_OK;
}
