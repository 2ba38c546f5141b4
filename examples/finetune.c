/* SPDX-License-Identifier: Apache-2.0 */
/* A pretrained language model learns to label texts: finetune MODEL TEXTS.tsv OUTPUT. MODEL is a
 * folder or a name on the hub; the file has the columns text and label; OUTPUT is a MODEL, too. */
#include <stdio.h>

#include "axle/axle.h"
#include "axle/hub.h"
#include "axle/text.h"
#include "axle/transformers.h"

enum { EPOCHS = 3, BATCH = 8, LENGTH = 128 };

static axle_accelerator *acc;
static axle_tokenizer *tokenizer;
static axle_dataset *set;
static axle_loader *loader;
static axle_model *model;
static axle_optimizer *opt;
static axle_scheduler *sched;

static int create(const char *folder, const char *texts)
{
    axle_text_options reading = AXLE_TEXT_OPTIONS_INIT;
    axle_loader_options loading = AXLE_LOADER_OPTIONS_INIT;
    axle_pretrained_options wanted = AXLE_PRETRAINED_OPTIONS_INIT;
    axle_adamw_options stepping = AXLE_ADAMW_OPTIONS_INIT;
    reading.max_length = LENGTH;
    loading.batch_size = BATCH;
    loading.shuffle = 1;
    stepping.lr = 5e-5;
    if (axle_tokenizer_open(folder, &tokenizer))
        return axle_error_code();
    axle_text_encoder encoder = axle_text_encoder_of(tokenizer);
    if (axle_text_dataset_open(texts, &reading, &encoder, &set) ||
        axle_loader_create(set, &loading, &loader))
        return axle_error_code();
    wanted.num_labels = axle_text_label_count(set);
    wanted.labels = axle_text_label_names(set);
    wanted.ignore_mismatched_sizes = 1; /* the head is a new one */
    if (axle_transformer_from_pretrained(folder, "sequence-classification", &wanted, &model) ||
        axle_adamw_create(axle_model_module(model), &stepping, &opt) ||
        axle_prepare(acc, model, opt, loader))
        return axle_error_code();
    int64_t updates = EPOCHS * axle_loader_length(loader);
    int code = axle_linear_schedule_create(opt, updates / 10, updates, &sched);
    return code ? code : axle_prepare(acc, sched);
}

int main(int argc, char **argv)
{
    char *folder = NULL;
    axle_batch *batch;
    if (argc == 4 && !axle_accelerator_create(NULL, &acc) &&
        !axle_hub_resolve(argv[1], NULL, &folder) && !create(folder, argv[2]))
        for (int epoch = 0; epoch < EPOCHS && !axle_error_code(); epoch++) {
            double loss = 0.0;
            while (axle_loader_next(loader, &batch)) {
                axle_optimizer_zero_grad(opt);
                axle_output out = axle_model_forward(model, batch);
                axle_backward(acc, out.loss);
                axle_optimizer_step(opt);
                axle_scheduler_step(sched);
                axle_tensor_item(out.loss, &loss);
            }
            axle_print(acc, "epoch %d: loss %.4f\n", epoch + 1, loss);
        }
    if (model && !axle_error_code() && axle_is_main_process(acc) &&
        !axle_transformer_save_pretrained(model, argv[3], NULL))
        axle_tokenizer_save(tokenizer, argv[3]);
    if (!sched || axle_error_code())
        fprintf(stderr, "%s\n", argc == 4 ? axle_error_message() : "MODEL TEXTS.tsv OUTPUT");
    int failed = !sched || axle_error_code();
    axle_free(folder);
    axle_scheduler_release(sched), axle_optimizer_release(opt), axle_model_release(model);
    axle_loader_release(loader), axle_dataset_release(set), axle_tokenizer_release(tokenizer);
    axle_accelerator_release(acc);
    return failed;
}
