/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "data/record.h"
#include "data/records.h"

/* The first record names the columns, or is counted. */
static int define_columns(axle_records *records, const axle__record *first, int header)
{
    int code = AXLE_OK;
    for (size_t k = 0; !code && k < first->count; k++)
        code = axle__list_take(&records->names, header ? axle__strdup(first->fields[k].text)
                                                       : axle__format("%zu", k));
    return code;
}

static int add_record(axle_records *records, const axle__csv *csv, const axle__record *record)
{
    const char **fields;
    int code = axle__record_check(record, csv, records->names.count);
    if (!code)
        code = axle__records_add_row(records, record->fields[0].line, &fields);
    for (size_t k = 0; !code && k < record->count; k++)
        fields[k] = record->fields[k].text;
    return code;
}

int axle__records_read_csv(axle_records *records, size_t size, const axle_records_options *options)
{
    axle__csv csv;
    axle__record record = {0};
    int code = AXLE_OK, first = 1;
    axle__csv_init(&csv, records->path, records->text, size, options->separator,
                   (char)options->quote);
    for (; !code && axle__csv_more(&csv); first = 0) {
        code = axle__record_read(&csv, &record);
        if (!code && first)
            code = define_columns(records, &record, options->header);
        if (!code && !(first && options->header))
            code = add_record(records, &csv, &record);
    }
    axle__free(record.fields);
    return code;
}
