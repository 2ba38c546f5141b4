# SPDX-License-Identifier: Apache-2.0
"""Language models of the transformers library: a folder a case.

A folder holds what save_pretrained() writes and expected.safetensors: a batch, and what the model
makes of it in double precision without dropout:

    input_ids, attention_mask, token_type_ids?, labels     the batch
    logits, loss                                           of the model as it was saved
    grad.NAME                                              gradient of the loss
    losses                                                 before each of ten updates with AdamW and
                                                           warm-up, and after the last

Tiny models are stored; a full-size one is written where somebody wants to compare it.
"""

import pathlib

import torch
import transformers
from safetensors.torch import save_file

UPDATES, WARMUP, RATE, DECAY = 10, 3, 1e-3, 0.01

TINY = {"vocab_size": 60, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
        "intermediate_size": 32, "max_position_embeddings": 20}
TINY_DISTILBERT = {"vocab_size": 60, "dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32,
                   "max_position_embeddings": 20}
SINGLE, MULTI, REGRESSION = ("single_label_classification", "multi_label_classification",
                             "regression")

TINY_GPT2 = {"vocab_size": 60, "n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 20,
             "bos_token_id": 1, "eos_token_id": 2}

# Folder, class, what its configuration has of its own.
CASES = [
    ("bert-sequence", "BertForSequenceClassification", {"num_labels": 3, "problem_type": SINGLE}),
    ("bert-token", "BertForTokenClassification", {"num_labels": 4}),
    ("bert-masked", "BertForMaskedLM", {"hidden_act": "gelu_new"}),
    ("roberta-sequence", "RobertaForSequenceClassification",
     {"num_labels": 3, "problem_type": MULTI, "type_vocab_size": 1, "layer_norm_eps": 1e-5}),
    ("roberta-token", "RobertaForTokenClassification", {"num_labels": 3, "type_vocab_size": 1}),
    ("roberta-masked", "RobertaForMaskedLM", {"type_vocab_size": 1, "hidden_act": "relu"}),
    ("electra-sequence", "ElectraForSequenceClassification",
     {"num_labels": 1, "problem_type": REGRESSION, "embedding_size": 8}),
    ("electra-token", "ElectraForTokenClassification", {"num_labels": 2, "embedding_size": 16}),
    ("electra-masked", "ElectraForMaskedLM", {"embedding_size": 8, "hidden_act": "silu"}),
    ("distilbert-sequence", "DistilBertForSequenceClassification", {"num_labels": 2}),
    ("distilbert-regression", "DistilBertForSequenceClassification",
     {"num_labels": 2, "problem_type": REGRESSION, "sinusoidal_pos_embds": True}),
    ("distilbert-token", "DistilBertForTokenClassification", {"num_labels": 3}),
    ("distilbert-masked", "DistilBertForMaskedLM", {"activation": "relu"}),
    ("gpt2-causal", "GPT2LMHeadModel", {}),
    ("gpt2-untied", "GPT2LMHeadModel", {"n_inner": 24, "tie_word_embeddings": False}),
]


def tiny(class_name, own):
    kind = getattr(transformers, class_name)
    sizes = next((own for begin, own in (("Distil", TINY_DISTILBERT), ("GPT2", TINY_GPT2))
                  if class_name.startswith(begin)), TINY)
    return kind(kind.config_class(**{**sizes, **own}))


def disturb(model):
    """Let no parameter be 0 or 1 for all its elements, and none be so small that it hides."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.15 * torch.randn_like(parameter)


def labels_for(model, ids, mask):
    config, name = model.config, type(model).__name__
    rows, length = ids.shape
    if "Sequence" in name:
        if config.problem_type == MULTI:
            return torch.randint(0, 2, (rows, config.num_labels)).double()
        if config.problem_type == REGRESSION:
            return torch.randn((rows, config.num_labels)).double().squeeze(-1)
        return torch.randint(0, config.num_labels, (rows,))
    count = config.vocab_size if "Masked" in name or "LMHead" in name else config.num_labels
    labels = torch.randint(0, count, (rows, length))
    asked = (torch.rand((rows, length)) < 0.6) & (mask > 0)
    return torch.where(asked, labels, torch.full_like(labels, -100))


def batch_for(model, rows, length):
    config = model.config
    lengths = torch.linspace(length, max(2, length // 3), rows).long()
    mask = (torch.arange(length)[None, :] < lengths[:, None]).long()
    ids = torch.randint(3, config.vocab_size, (rows, length))
    ids = torch.where(mask > 0, ids, torch.full_like(ids, config.pad_token_id or 0))
    batch = {"input_ids": ids, "attention_mask": mask}
    if getattr(config, "type_vocab_size", 0) > 1:
        batch["token_type_ids"] = (torch.arange(length)[None, :] >= lengths[:, None] // 2).long()
    batch["labels"] = labels_for(model, ids, mask)
    return batch


def train(model, batch):
    """Losses before each update, and after the last."""
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=RATE, weight_decay=DECAY)
    schedule = transformers.get_linear_schedule_with_warmup(optimizer, WARMUP, UPDATES)
    losses = []
    for _ in range(UPDATES):
        optimizer.zero_grad()
        loss = model(**batch).loss
        losses.append(loss.item())
        loss.backward()
        optimizer.step()
        schedule.step()
    losses.append(model(**batch).loss.item())
    return torch.tensor(losses, dtype=torch.float64)


def expect(model, batch):
    model.double().eval()
    output = model(**batch)
    output.loss.backward()
    expected = dict(batch)
    expected["logits"] = output.logits.detach().float().contiguous()
    expected["loss"] = output.loss.detach()
    for name, parameter in model.named_parameters():
        if parameter.grad is not None:
            expected["grad." + name] = parameter.grad.float().contiguous()
    expected["losses"] = train(model, batch)
    return expected


def write_case(folder, model, rows, length):
    folder = pathlib.Path(folder)
    model.eval()
    model.save_pretrained(folder, safe_serialization=True)
    (folder / "generation_config.json").unlink(missing_ok=True)
    expected = expect(model, batch_for(model, rows, length))
    save_file(expected, folder / "expected.safetensors")
    for path in folder.iterdir():
        path.chmod(0o644)


def write_tiny(root):
    for place, (name, class_name, own) in enumerate(CASES):
        torch.manual_seed(place + 1)
        model = tiny(class_name, own)
        disturb(model)
        write_case(root / name, model, 4, 9)


def write_full(folder):
    torch.manual_seed(1)
    config = transformers.DistilBertConfig(num_labels=2)
    write_case(folder, transformers.DistilBertForSequenceClassification(config), 4, 64)


def check_saved(folder, saved):
    """What another program saved of a case loads without a word, and gives the same logits."""
    from safetensors.torch import load_file
    name = transformers.AutoConfig.from_pretrained(saved).architectures[0]
    model, report = getattr(transformers, name).from_pretrained(saved, output_loading_info=True)
    expected = load_file(pathlib.Path(folder) / "expected.safetensors")
    batch = {key: expected[key] for key in ("input_ids", "attention_mask", "token_type_ids")
             if key in expected}
    with torch.no_grad():
        logits = model.double().eval()(**batch).logits
    wrong = sum(len(found) for found in report.values())
    return wrong, (logits - expected["logits"]).abs().max().item()
