/* SPDX-License-Identifier: Apache-2.0 */
/* The table of axle test, and the same as JSON. */
#define _GNU_SOURCE 1
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "test.h"

static int count_hosts(const self_test *test)
{
    int hosts = 0;
    for (int k = 0; k < test->size; k++) {
        int known = 0;
        for (int i = 0; i < k; i++)
            known |= strcmp(test->ranks[i].host, test->ranks[k].host) == 0;
        hosts += !known;
    }
    return hosts;
}

/* ------------------------------------------------------------------ table */

void test_print_head(const self_test *test)
{
    int hosts = count_hosts(test);
    printf("%d process%s on %d host%s\n", test->size, test->size == 1 ? "" : "es", hosts,
           hosts == 1 ? "" : "s");
    for (int k = 0; k < test->size; k++)
        printf("  rank %d: %s, %s: %s\n", k, test->ranks[k].host, test->ranks[k].backend,
               test->ranks[k].device);
    fflush(stdout);
}

static const char *const status_words[] = {
    [TEST_PASSED] = "pass", [TEST_FAILED] = "FAIL", [TEST_SKIPPED] = "skip"};

/* Rows appear as they end. */
void test_print_row(const test_row *row, const test_result *result)
{
    printf("%s  %-15s %7.3f s  %s\n", status_words[result->status], row->name, result->seconds,
           result->status == TEST_FAILED ? row->about : result->detail);
    for (int k = 0; k < result->failure_count; k++)
        printf("      rank %d: %s\n", result->failures[k].rank, result->failures[k].text);
    fflush(stdout);
}

static int count_status(const test_result *results, int status)
{
    int count = 0;
    for (int k = 0; k < test_row_count; k++)
        count += results[k].status == status;
    return count;
}

void test_print_sum(const test_result *results, double seconds)
{
    printf("%d passed, %d failed, %d skipped in %.1f s\n", count_status(results, TEST_PASSED),
           count_status(results, TEST_FAILED), count_status(results, TEST_SKIPPED), seconds);
}

/* ------------------------------------------------------------------ JSON */

/* Messages may quote what others sent; JSON wants UTF-8. */
static json_t *text(const char *value)
{
    json_t *string = json_string(value);
    return string ? string : json_string("(not UTF-8)");
}

static json_t *describe_ranks(const self_test *test)
{
    json_t *ranks = json_array();
    for (int k = 0; k < test->size; k++)
        json_array_append_new(ranks, json_pack("{s:i, s:o, s:o, s:o}", "rank", k, "host",
                                               text(test->ranks[k].host), "backend",
                                               text(test->ranks[k].backend), "device",
                                               text(test->ranks[k].device)));
    return ranks;
}

static json_t *describe_links(const self_test *test)
{
    json_t *links = json_array();
    for (int a = 0; a < test->size; a++)
        for (int b = a + 1; b < test->size; b++) {
            const test_link *link = &test->links[a * test->size + b];
            if (link->gb_per_second > 0.0)
                json_array_append_new(links, json_pack("{s:[i, i], s:f, s:f}", "ranks", a, b,
                                                       "latency_us", link->latency_us,
                                                       "gb_per_second", link->gb_per_second));
        }
    return links;
}

static json_t *describe_failures(const test_result *result)
{
    json_t *failures = json_array();
    for (int k = 0; k < result->failure_count; k++)
        json_array_append_new(failures, json_pack("{s:i, s:o}", "rank", result->failures[k].rank,
                                                  "message", text(result->failures[k].text)));
    return failures;
}

static json_t *describe_rows(const test_result *results)
{
    static const char *const words[] = {
        [TEST_PASSED] = "passed", [TEST_FAILED] = "failed", [TEST_SKIPPED] = "skipped"};
    json_t *rows = json_array();
    for (int k = 0; k < test_row_count; k++)
        json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:f, s:o, s:o}", "name",
                                              test_rows[k].name, "about", test_rows[k].about,
                                              "status", words[results[k].status], "seconds",
                                              results[k].seconds, "detail", text(results[k].detail),
                                              "failures", describe_failures(&results[k])));
    return rows;
}

int test_print_json(const self_test *test, const test_result *results, int64_t rounds,
                    double seconds)
{
    json_t *rows = describe_rows(results);
    json_t *whole =
        json_pack("{s:i, s:i, s:o, s:o, s:o, s:I, s:i, s:i, s:i, s:f}", "processes", test->size,
                  "hosts", count_hosts(test), "ranks", describe_ranks(test), "links",
                  describe_links(test), "rows", rows, "rounds", (json_int_t)rounds, "passed",
                  count_status(results, TEST_PASSED), "failed", count_status(results, TEST_FAILED),
                  "skipped", count_status(results, TEST_SKIPPED), "seconds", seconds);
    if (!whole || json_array_size(rows) != (size_t)test_row_count) {
        json_decref(whole);
        return -1;
    }
    json_dumpf(whole, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(whole);
    return 0;
}
