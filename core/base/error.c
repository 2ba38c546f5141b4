/* SPDX-License-Identifier: Apache-2.0 */
/* The error record of each thread. It needs no allocation, so that running out of memory can be
 * told. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "axle/status.h"

static _Thread_local axle__error_record record;

int axle_error_code(void)
{
    return record.code;
}

const char *axle_error_message(void)
{
    return record.code == AXLE_OK ? "" : record.message;
}

void axle_error_clear(void)
{
    record.code = AXLE_OK;
    record.message[0] = '\0';
}

int axle_error_set(int code, const char *format, ...)
{
    if (record.code != AXLE_OK || code == AXLE_OK)
        return code;
    va_list list;
    va_start(list, format);
    int length = vsnprintf(record.message, sizeof(record.message), format, list);
    va_end(list);
    if (length < 0)
        snprintf(record.message, sizeof(record.message), "%s", axle_status_text(code));
    record.code = code;
    return code;
}

void axle__error_take(axle__error_record *out)
{
    out->code = record.code;
    strcpy(out->message, axle_error_message());
    axle_error_clear();
}

void axle__error_restore(const axle__error_record *kept)
{
    record.code = kept->code;
    strcpy(record.message, kept->message);
}

int axle__missing(const char *who, const char *what)
{
    return record.code ? record.code
                       : axle_error_set(AXLE_ERR_INVALID, "%s: %s is NULL", who, what);
}

const char *axle_status_text(int code)
{
    static const struct {
        int code;
        const char *text;
    } table[] = {
#define AXLE_STATUS_ROW(name, value, text) {value, text},
        AXLE_STATUS_LIST(AXLE_STATUS_ROW)
#undef AXLE_STATUS_ROW
    };
    for (size_t k = 0; k < sizeof(table) / sizeof(table[0]); k++)
        if (table[k].code == code)
            return table[k].text;
    return "unknown status";
}
