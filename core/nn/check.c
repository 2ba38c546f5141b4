/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of constructors' arguments. */
#include <math.h>

#include "nn/module.h"

int axle__check_least(const char *who, const char *what, int64_t value, int64_t least)
{
    if (value >= least)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_INVALID, "%s: %s is %lld, must be at least %lld", who, what,
                          (long long)value, (long long)least);
}

int axle__check_divides(const char *who, const char *divisor_name, int64_t divisor,
                        const char *what, int64_t value)
{
    if (divisor > 0 && value % divisor == 0)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_INVALID, "%s: %s %lld does not divide %s %lld", who,
                          divisor_name, (long long)divisor, what, (long long)value);
}

int axle__check_probability(const char *who, const char *what, double p)
{
    if (p >= 0.0 && p <= 1.0)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_INVALID, "%s: %s is %g, must lie in [0, 1]", who, what, p);
}

int axle__check_eps(const char *who, double eps)
{
    if (isfinite(eps) && eps >= 0.0)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_INVALID, "%s: eps is %g, must be finite and at least 0", who,
                          eps);
}

int axle__check_class(const char *who, const axle_module *module, const axle_module_class *type)
{
    if (module && module->type == type)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_INVALID, "%s: wants a module %s, got %s", who, type->name,
                          module ? module->type->name : "NULL");
}
