/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "predict_output.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axle/status.h"

enum { REAL_DIGITS = 6 };
static const double half = 0.5;

static int64_t largest(const pretrained *model, const float *logits)
{
    int64_t best = 0;
    for (int64_t k = 1; k < model->labels; k++)
        if (logits[k] > logits[best])
            best = k;
    return best;
}

/* Softmax where a text has one label, else each label's own. */
static double probability(const pretrained *model, const float *logits, int64_t label)
{
    double sum = 0.0;
    if (model->kind == AXLE_TEXT_LABEL_SETS)
        return 1.0 / (1.0 + exp(-(double)logits[label]));
    for (int64_t k = 0; k < model->labels; k++)
        sum += exp((double)logits[k] - (double)logits[label]);
    return 1.0 / sum;
}

static int is_predicted(const pretrained *model, const float *logits, int64_t label)
{
    if (model->kind == AXLE_TEXT_LABEL_SETS)
        return probability(model, logits, label) > half;
    return largest(model, logits) == label;
}

/* ------------------------------------------------------------------ lines */

/* Names, or probabilities, of the predicted labels. */
static void print_labels(const pretrained *model, const float *logits, int names)
{
    int many = 0;
    for (int64_t k = 0; k < model->labels; k++) {
        if (!is_predicted(model, logits, k))
            continue;
        fputs(many++ ? "|" : "", stdout);
        if (names)
            fputs(model->names[k], stdout);
        else
            printf("%.4f", probability(model, logits, k));
    }
}

/* A tab or newline inside would look like another field or line. */
static void print_text(const char *text)
{
    putchar('\t');
    for (; *text; text++)
        putchar(strchr("\t\n\r", *text) ? ' ' : *text);
}

void predict_print_line(const pretrained *model, const char *text, const char *pair,
                        const float *logits)
{
    if (model->kind == AXLE_TEXT_NUMBERS) {
        printf("%.6g", (double)logits[0]);
    } else {
        print_labels(model, logits, 1);
        putchar('\t');
        print_labels(model, logits, 0);
    }
    print_text(text);
    if (pair)
        print_text(pair);
    putchar('\n');
}

/* ------------------------------------------------------------------ JSON */

/* Jansson takes no text that is not UTF-8; bytes that may be the reason become question marks. */
static json_t *json_text(const char *text)
{
    json_t *string = json_string(text);
    char *copy = string ? NULL : strdup(text);
    for (char *byte = copy; byte && *byte; byte++)
        if ((unsigned char)*byte >= 0x80)
            *byte = '?';
    if (copy)
        string = json_string(copy);
    free(copy);
    return string;
}

static int put_probabilities(const pretrained *model, const float *logits, json_t *object)
{
    json_t *all = json_object();
    int wrong = !all;
    for (int64_t k = 0; k < model->labels && !wrong; k++)
        wrong = json_object_set_new(all, model->names[k], json_real(probability(model, logits, k)));
    return json_object_set_new(object, "probabilities", all) | wrong;
}

static int put_label_set(const pretrained *model, const float *logits, json_t *object)
{
    json_t *labels = json_array();
    int wrong = !labels;
    for (int64_t k = 0; k < model->labels && !wrong; k++)
        if (is_predicted(model, logits, k))
            wrong = json_array_append_new(labels, json_string(model->names[k]));
    return json_object_set_new(object, "labels", labels) | wrong;
}

static int put_answer(const pretrained *model, const float *logits, json_t *object)
{
    if (model->kind == AXLE_TEXT_NUMBERS)
        return json_object_set_new(object, "value", json_real((double)logits[0]));
    if (model->kind == AXLE_TEXT_LABEL_SETS)
        return put_label_set(model, logits, object) | put_probabilities(model, logits, object);
    int64_t best = largest(model, logits);
    return json_object_set_new(object, "label", json_string(model->names[best])) |
           json_object_set_new(object, "probability", json_real(probability(model, logits, best))) |
           put_probabilities(model, logits, object);
}

int predict_print_json(const pretrained *model, const char *text, const char *pair,
                       const float *logits)
{
    json_t *object = json_object();
    int wrong = !object || json_object_set_new(object, "text", json_text(text));
    if (!wrong && pair)
        wrong = json_object_set_new(object, "text_pair", json_text(pair));
    if (!wrong)
        wrong = put_answer(model, logits, object);
    if (!wrong) {
        json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(REAL_DIGITS));
        putchar('\n');
    }
    json_decref(object);
    return wrong ? axle_error_set(AXLE_ERR_NOMEM, "out of memory") : AXLE_OK;
}
