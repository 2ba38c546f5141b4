/* SPDX-License-Identifier: Apache-2.0 */
#include "data/record.h"

#include "axle/status.h"
#include "base/memory.h"

static int add_field(axle__record *r, axle__field added)
{
    if (r->count == r->room) {
        size_t room = r->room ? r->room * 2 : 16;
        axle__field *fields = axle__resize(r->fields, room, sizeof(*fields));
        if (!fields)
            return AXLE_ERR_NOMEM;
        r->fields = fields;
        r->room = room;
    }
    r->fields[r->count++] = added;
    return AXLE_OK;
}

int axle__record_read(axle__csv *csv, axle__record *record)
{
    bool last = false;
    int code = AXLE_OK;
    record->count = 0;
    while (!code && !last) {
        axle__field next = {0};
        code = axle__csv_field(csv, &next.text, &last);
        next.line = csv->line;
        if (!code)
            code = add_field(record, next);
    }
    return code;
}

int axle__record_check(const axle__record *record, const axle__csv *csv, size_t columns)
{
    if (record->count == columns)
        return AXLE_OK;
    if (record->count == 1 && record->fields[0].text[0] == '\0')
        return axle_error_set(AXLE_ERR_FORMAT, "%s:%zu: the line is empty", csv->path,
                              record->fields[0].line);
    return axle_error_set(
        AXLE_ERR_FORMAT, "%s:%zu: column %zu: the record has %zu columns, the first has %zu",
        csv->path, record->fields[0].line, (record->count < columns ? record->count : columns) + 1,
        record->count, columns);
}
