/* SPDX-License-Identifier: Apache-2.0 */
/* Files of adapters, as PEFT names and writes them. */
#ifndef AXLE_IO_LORA_FILE_H
#define AXLE_IO_LORA_FILE_H

#include <jansson.h>
#include <stdint.h>

#define AXLE__LORA_TENSORS "adapter_model.safetensors"
#define AXLE__LORA_CONFIG "adapter_config.json"
#define AXLE__LORA_PREFIX "base_model.model."

typedef struct axle__lora_config {
    int64_t rank;
    double alpha, dropout;
} axle__lora_config;

/* `targets`: array of the adapted layers' paths; taken over. */
int axle__lora_config_write(const char *path, const axle__lora_config *config, json_t *targets);
/* Variants that Axle does not compute are refused by name. */
int axle__lora_config_read(const char *path, axle__lora_config *out);

#endif
