# SPDX-License-Identifier: Apache-2.0
#
# axle train: options that choose what is trained, and how parameters are kept.
. "$top_srcdir/tests/cli/support.sh"

idx_folder "$work/data" 20 8

# report KEY OPTION...: train, and print what the run says of KEY.
report()
{
    report_key=$1
    shift
    train --data "$work/data" --batch-size 5 --no-eval --json "$@" >"$work/report.out" || return 1
    tail -n 1 "$work/report.out" >"$work/report.json"
    "$json" "$work/report.json" "$report_key"
}

# The mlp of 8 x 8 pictures: 64 x 32 + 32 and 32 x 10 + 10.
freezes()
{
    [ "$(report trainable_parameters)" = 2410 ] || return 1
    [ "$(report trainable_parameters --freeze '1.*')" = 330 ] || return 1
    [ "$(report trainable_parameters --freeze '1.weight,*.bias')" = 320 ]
}

# With everything but one bias frozen the first layer stays what the seed made it.
frozen_stays()
{
    train --data "$work/data" --no-eval --epochs 2 --freeze '1.*' --output "$work/frozen" >"$work/out" || return 1
    train --data "$work/data" --no-eval --max-steps 1 --lr 0 --output "$work/fresh" >"$work/out" || return 1
    ! cmp -s "$work/frozen/model.safetensors" "$work/fresh/model.safetensors" || { echo 'nothing was trained'; return 1; }
    for folder in frozen fresh; do
        tensor_bytes "$work/$folder/model.safetensors" 1.weight >"$work/$folder.bytes" || return 1
    done
    cmp "$work/frozen.bytes" "$work/fresh.bytes"
}

# tensor_bytes FILE NAME: the bytes of a tensor of a safetensors file.
tensor_bytes()
{
    tensor_header=$(od -An -tu4 -N4 "$1" | tr -d ' ')
    head -c $((8 + tensor_header)) "$1" | tail -c "$tensor_header" >"$work/header.json"
    tensor_from=$("$json" "$work/header.json" "$2" data_offsets 0) || return 1
    tensor_to=$("$json" "$work/header.json" "$2" data_offsets 1) || return 1
    tail -c +$((9 + tensor_header + tensor_from)) "$1" | head -c $((tensor_to - tensor_from))
}

# Adapters of rank 2: 2 x (64 + 32) and 2 x (32 + 10). The weights of the second layer alone change
# where it alone has one.
adapts()
{
    [ "$(report trainable_parameters --lora rank=2)" = 276 ] || return 1
    [ "$(report trainable_parameters --lora rank=2,alpha=4,targets=3,1)" = 276 ] || return 1
    [ "$(report trainable_parameters --lora targets=3,rank=2,dropout=0.1 --epochs 2 --output "$work/lora")" = 84 ] ||
        return 1
    [ "$("$json" "$work/lora/adapter_config.json" r)" = 2 ] &&
        [ "$("$json" "$work/lora/adapter_config.json" target_modules 0)" = 3 ] || return 1
    for name in lora_A lora_B; do
        tensor_bytes "$work/lora/adapter_model.safetensors" "base_model.model.3.$name.weight" >"$work/$name" &&
            [ -s "$work/$name" ] || return 1
    done
    for name in 1.weight 3.bias; do
        tensor_bytes "$work/lora/model.safetensors" "$name" >"$work/lora.bytes" &&
            tensor_bytes "$work/fresh/model.safetensors" "$name" | cmp - "$work/lora.bytes" || return 1
    done
    tensor_bytes "$work/lora/model.safetensors" 3.weight >"$work/lora.bytes"
    tensor_bytes "$work/fresh/model.safetensors" 3.weight >"$work/fresh.bytes"
    ! cmp -s "$work/lora.bytes" "$work/fresh.bytes"
}

# With a decay of nearly 0 the averages are the parameters, with one of nearly 1 they stay behind.
# Losses of training do not depend on it.
averages()
{
    for decay in 0 1e-12 0.5 0.999999999; do
        train --data "$work/data" --batch-size 5 --accumulate 2 --epochs 3 --dtype f64 --loss-log "$work/$decay.log" \
            --ema "$decay" --output "$work/ema-$decay" >"$work/out" || return 1
        cmp "$work/$decay.log" "$work/0.log" || return 1
        "$json" "$work/ema-$decay/metrics.json" eval_loss | cut -c 1-8 >"$work/$decay.eval"
    done
    cmp "$work/0.eval" "$work/1e-12.eval" || return 1
    train --data "$work/data" --batch-size 5 --lr 0 --dtype f64 --output "$work/start" >"$work/out" || return 1
    "$json" "$work/start/metrics.json" eval_loss | cut -c 1-8 | cmp - "$work/0.999999999.eval" || return 1
    ! cmp -s "$work/0.eval" "$work/0.5.eval" && ! cmp -s "$work/0.5.eval" "$work/0.999999999.eval"
}

# The same losses. On the small pictures resnet18 takes no more than a second an update, half a minute with a
# sanitizer; where its memory goes there are the parameters.
computes_again()
{
    computes_models='mlp lenet'
    [ "$sanitizer" != no ] || computes_models="$computes_models resnet18"
    for model in $computes_models; do
        for option in '' --grad-checkpoint; do
            # shellcheck disable=SC2086 # none or one word
            AXLE_BACKEND=reference "$AXLE" train --quiet --json --model $model --data "$work/data" --no-eval \
                --batch-size 10 --max-steps 1 --dropout 0.2 $option >"$work/again$option.out" || return 1
            tail -n 1 "$work/again$option.out" >"$work/again$option.json"
        done
        for key in last_loss parameter_checksum; do
            [ "$("$json" "$work/again.json" $key)" = "$("$json" "$work/again--grad-checkpoint.json" $key)" ] ||
                { cat "$work/again.json" "$work/again--grad-checkpoint.json"; return 1; }
        done
    done
}

# Stopped after 12 updates and gone on from the checkpoint after 10.
resumes_averages()
{
    for resumes_lora in '' '--lora rank=2'; do
        rm -rf "$work/whole" "$work/parts"
        # shellcheck disable=SC2086 # none or two words
        train --data "$work/data" --batch-size 5 --epochs 5 --no-eval --ema 0.9 $resumes_lora --output "$work/whole" &&
            train --data "$work/data" --batch-size 5 --epochs 5 --no-eval --ema 0.9 $resumes_lora --output "$work/parts" \
                --save-every 5 --max-steps 12 &&
            train --data "$work/data" --batch-size 5 --epochs 5 --no-eval --ema 0.9 $resumes_lora --output "$work/parts" \
                --save-every 5 --resume latest &&
            cmp "$work/whole/model.safetensors" "$work/parts/model.safetensors" || return 1
    done
}

check '--freeze counts what is left to train' freezes
check '--freeze leaves parameters as they are' frozen_stays
exits '--freeze with a pattern that nothing matches is an error' 1 "no parameter matches 'encoder" \
    train --data "$work/data" --freeze 'encoder.*'
exits 'a model that is frozen as a whole is an error' 1 'nothing is left to train' \
    train --data "$work/data" --freeze '*'
check '--lora trains adapters, writes them, and merges them into the model' adapts
check '--ema evaluates averages, and leaves training as it is' averages
check 'averages and adapters go on from a checkpoint with the same bits' resumes_averages
check '--grad-checkpoint changes no bit' computes_again
check '--local-sgd changes nothing where there is one process' eval \
    'train --data "$work/data" --batch-size 5 --no-eval --loss-log "$work/plain.log" >"$work/out" &&
    train --data "$work/data" --batch-size 5 --no-eval --loss-log "$work/local.log" --local-sgd 2 >"$work/out" &&
    cmp "$work/plain.log" "$work/local.log"'
exits '--ema together with --local-sgd is wrong usage' 2 'would differ' \
    train --data "$work/data" --ema 0.9 --local-sgd 2
exits '--ema of 1 is an error' 1 'decay 1 is not in' train --data "$work/data" --ema 1
exits '--lora with an unknown key names those there are' 1 "no 'size'; there are rank, alpha" \
    train --data "$work/data" --lora size=3
exits '--lora with a pattern that nothing matches is an error' 1 "no linear layer matches 'q'" \
    train --data "$work/data" --lora rank=2,targets=q
finish
