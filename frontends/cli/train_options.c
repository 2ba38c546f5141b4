/* SPDX-License-Identifier: Apache-2.0 */
/* The options of axle train. */
#include <math.h>

#include "axle/models.h"
#include "train.h"
#include "train_track.h"

static const char *const *train_wires(void)
{
    static const char *const names[] = {"none", "bf16", "f16", NULL};
    return names;
}

int train_wire(const train_settings *settings)
{
    return axle_dtype_from_name(train_wires()[settings->wire]);
}

static const char *const *train_precisions(void)
{
    static const char *const names[] = {"no", "bf16", "fp16", NULL};
    return names;
}

const char *train_precision(const train_settings *settings)
{
    return settings->precision < 0 ? NULL : train_precisions()[settings->precision];
}

const char *const *train_dtypes(void)
{
    static const char *const names[] = {"f32", "f64", NULL};
    return names;
}

static const char *const *train_problems(void)
{
    static const char *const names[] = {"single-label", "multi-label", "regression", NULL};
    return names;
}

int train_dtype(const train_settings *settings)
{
    return axle_dtype_from_name(train_dtypes()[settings->dtype]);
}

const train_settings train_defaults = {
    .precision = -1,
    .keep_best = -1,
    .problem = -1,
    .optimizer = -1,
    .schedule = -1,
    .workers = 0,
    .log_every = 100,
    .lr = NAN,
    .warmup_ratio = NAN,
    .dropout = NAN,
    .weight_decay = NAN,
};

enum { MOST = 1 << 30, MOST_WORKERS = 64, MOST_CLASSES = 256 };

#define TRAIN_OPTION(label, type, field, ...)                                                      \
    CLI_OPTION(label, type, train_settings, field, __VA_ARGS__)

const cli_option train_options[] = {
    TRAIN_OPTION("task", CHOICE, task, .value = "TASK", .help = "what to learn",
                 .names = train_tasks),
    TRAIN_OPTION("model", TEXT, model, .value = "MODEL", .unset = "lenet; text: a tiny DistilBERT",
                 .help = "network; of texts a folder, or a name on the hub. Of pictures",
                 .names = axle_image_model_names),
    TRAIN_OPTION("revision", TEXT, revision, .value = "NAME", .unset = "main",
                 .help = "branch, tag or commit of the model on the hub"),
    TRAIN_OPTION("data", FILE, data, .value = "PATH", .unset = "synthetic ones",
                 .help =
                     "folder of pictures as IDX files (MNIST's format, plain or .gz), or file of "
                     "texts (.tsv, .csv, .jsonl)"),
    TRAIN_OPTION("eval", FILE, eval, .value = "FILE", .unset = "none",
                 .help = "texts to evaluate on after each epoch"),
    TRAIN_OPTION("problem", CHOICE, problem, .value = "KIND", .unset = "single-label",
                 .names = train_problems, .help = "what labels of texts are"),
    TRAIN_OPTION("text-column", TEXT, text_column, .value = "NAME", .unset = "text, sentence, 0",
                 .help = "column of the texts, by name or number from 0"),
    TRAIN_OPTION("pair-column", TEXT, pair_column, .value = "NAME", .unset = "text_pair, sentence2",
                 .help = "column of second texts"),
    TRAIN_OPTION("label-column", TEXT, label_column, .value = "NAME", .unset = "label, labels",
                 .help = "column of the labels"),
    TRAIN_OPTION("no-header", FLAG, no_header,
                 .help = "the files' first line holds no names; the last column has the labels"),
    TRAIN_OPTION("max-length", INTEGER, max_length, .value = "N", .low = 2, .high = MOST,
                 .unset = "512, or what the model takes",
                 .help = "tokens of a text; longer ones are cut"),
    TRAIN_OPTION("epochs", INTEGER, epochs, .value = "N", .low = 1, .high = MOST,
                 .unset = "1; text: 3, without --model 5", .help = "passes over the data"),
    TRAIN_OPTION("batch-size", INTEGER, batch_size, .value = "N", .low = 1, .high = MOST,
                 .unset = "64; text: 32", .help = "samples a batch"),
    TRAIN_OPTION("lr", REAL, lr, .value = "X", .unset = "0.001; text: 5e-5, without --model 0.002",
                 .help = "learning rate"),
    TRAIN_OPTION("optimizer", CHOICE, optimizer, .value = "NAME", .unset = "adam; text: adamw",
                 .help = "update rule", .names = train_optimizers),
    TRAIN_OPTION("momentum", REAL, momentum, .value = "X", .high = 1,
                 .help = "momentum of sgd and rmsprop"),
    TRAIN_OPTION("weight-decay", REAL, weight_decay, .value = "X", .unset = "the optimizer's",
                 .help = "weight decay"),
    TRAIN_OPTION("schedule", CHOICE, schedule, .value = "NAME", .help = "learning rate over time",
                 .unset = "trapezoid; text: linear", .names = train_schedules),
    TRAIN_OPTION("warmup-ratio", REAL, warmup_ratio, .value = "R", .high = 1,
                 .unset = "0; trapezoid and text's linear 0.1, one-cycle 0.3",
                 .help = "share of the updates in which the learning rate rises"),
    TRAIN_OPTION("accumulate", INTEGER, accumulate, .value = "N", .low = 1, .high = MOST,
                 .unset = "AXLE_ACCUMULATE, else 1", .help = "batches an update"),
    TRAIN_OPTION("clip", REAL, clip, .value = "X", .unset = "off",
                 .help = "clip gradients to this 2-norm"),
    TRAIN_OPTION("shard-optimizer", FLAG, shard_optimizer,
                 .help = "each process updates a part of the parameters and holds moments for it"),
    TRAIN_OPTION("local-sgd", INTEGER, local_sgd, .value = "N", .high = MOST, .unset = "off",
                 .help = "processes update by themselves, and average parameters every N updates"),
    TRAIN_OPTION("wire", CHOICE, wire, .value = "TYPE", .names = train_wires,
                 .help = "type in which gradients travel between processes"),
    TRAIN_OPTION("freeze", TEXT, freeze, .value = "PATTERN", .unset = "nothing",
                 .help = "parameters that are not trained, as conv*,*.bias"),
    TRAIN_OPTION("lora", TEXT, lora, .value = "OPTIONS", .unset = "off",
                 .help =
                     "train low-rank adapters alone: rank=8,alpha=16,dropout=0.1,targets=PATTERN"),
    TRAIN_OPTION("ema", REAL, ema, .value = "DECAY", .high = 1, .unset = "off",
                 .help = "average the parameters, and evaluate and keep the averages"),
    TRAIN_OPTION("grad-checkpoint", FLAG, grad_checkpoint,
                 .help = "compute blocks again in backward instead of keeping their results"),
    TRAIN_OPTION("dropout", REAL, dropout, .value = "P", .high = 0.999,
                 .unset = "0; text: the model's",
                 .help = "dropout before the last layer of lenet and mlp; of texts all dropout"),
    TRAIN_OPTION("hidden", INTEGER, hidden, .value = "N", .low = 1, .high = MOST, .unset = "32",
                 .help = "width of mlp's hidden layer"),
    TRAIN_OPTION("classes", INTEGER, classes, .value = "N", .low = 2, .high = MOST_CLASSES,
                 .unset = "10", .help = "number of classes of pictures"),
    TRAIN_OPTION("dtype", CHOICE, dtype, .value = "TYPE", .help = "element type",
                 .names = train_dtypes),
    TRAIN_OPTION("precision", CHOICE, precision, .value = "TYPE", .names = train_precisions,
                 .unset = "AXLE_PRECISION, else no",
                 .help = "mixed precision: element type of products"),
    TRAIN_OPTION("seed", INTEGER, seed, .value = "N", .help = "seed of all random numbers"),
    TRAIN_OPTION("max-steps", INTEGER, max_steps, .value = "N", .low = 1, .high = MOST,
                 .unset = "off", .help = "stop after this many updates"),
    TRAIN_OPTION("workers", INTEGER, workers, .value = "N", .high = MOST_WORKERS,
                 .help = "threads that prepare batches ahead; 0: the one that trains"),
    TRAIN_OPTION("eval-batch-size", INTEGER, eval_batch_size, .value = "N", .low = 1, .high = MOST,
                 .unset = "250; text: 64", .help = "samples a batch in evaluation"),
    TRAIN_OPTION("no-eval", FLAG, no_eval, .help = "do not evaluate on the test set"),
    TRAIN_OPTION("output", FOLDER, output, .value = "DIR",
                 .help = "write the model and metrics.json there"),
    TRAIN_OPTION("save-every", INTEGER, save_every, .value = "N", .high = MOST, .unset = "off",
                 .help = "write a checkpoint into the output folder after every N updates"),
    TRAIN_OPTION("keep", INTEGER, keep, .value = "N", .high = MOST, .unset = "all",
                 .help = "keep only the last N checkpoints"),
    TRAIN_OPTION("keep-best", CHOICE, keep_best, .value = "METRIC", .unset = "off",
                 .names = train_metrics, .help = "keep the best checkpoint by this, too"),
    TRAIN_OPTION("save-async", FLAG, save_async,
                 .help = "write checkpoints while training goes on"),
    TRAIN_OPTION("resume", FOLDER, resume, .value = "latest|DIR", .unset = "off",
                 .help = "go on from a checkpoint: the output folder's latest, or this one"),
    TRAIN_OPTION("loss-log", FILE, loss_log, .value = "FILE",
                 .help = "write the loss of every update there"),
    TRAIN_OPTION("track", TEXT, track, .value = "KINDS", .unset = "off", .check = train_track_check,
                 .help = "record the run, in --output: jsonl,csv,tensorboard"),
    TRAIN_OPTION("track-dir", FOLDER, track_dir, .value = "DIR", .unset = "--output",
                 .help = "record it there"),
    TRAIN_OPTION("profile", FILE, profile, .value = "FILE",
                 .help = "write a Chrome trace there, and end with a table of where the time went"),
    TRAIN_OPTION("log-every", INTEGER, log_every, .value = "N", .low = 1, .high = MOST,
                 .help = "updates between two lines of progress, where there is no terminal"),
    TRAIN_OPTION("json", FLAG, json, .help = "end with one line that is a JSON object"),
    TRAIN_OPTION("quiet", FLAG, quiet, .help = "show no progress"),
    CLI_OPTION_END,
};
