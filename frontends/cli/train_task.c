/* SPDX-License-Identifier: Apache-2.0 */
/* What there is to learn. A new task is a line of the table. */
#include "train.h"

static const train_task *const tasks[] = {&train_image_task, &train_text_task};
enum { TASKS = sizeof(tasks) / sizeof(tasks[0]) };

const char *const *train_tasks(void)
{
    static const char *names[TASKS + 1];
    for (int k = 0; k < TASKS; k++)
        names[k] = tasks[k]->name;
    return names;
}

const train_task *train_task_of(const train_settings *settings)
{
    return tasks[settings->task];
}

void train_complete(train_settings *settings)
{
    train_task_of(settings)->complete(settings);
}

const char *train_model_name(const train_settings *settings)
{
    return settings->model ? settings->model : "tiny distilbert";
}

int train_create_loader(const training *training, axle_dataset *set, int train,
                        const axle_loader_options *more, axle_loader **out)
{
    const train_settings *settings = training->settings;
    axle_loader_options options = AXLE_LOADER_OPTIONS_INIT;
    if (more)
        options = *more;
    options.batch_size = train ? settings->batch_size : settings->eval_batch_size;
    options.shuffle = train;
    options.seed = (uint64_t)settings->seed;
    options.workers = (int)settings->workers;
    return axle_loader_create(set, &options, out);
}
