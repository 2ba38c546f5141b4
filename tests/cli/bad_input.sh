# SPDX-License-Identifier: Apache-2.0
#
# Bad data and places that cannot be written: an error that names them, before training starts.
. "$top_srcdir/tests/cli/support.sh"

# broken NAME: a fresh folder with good data, in $bad.
broken()
{
    bad=$work/$1
    idx_folder "$bad" 20 8
}

# refuses NAME PATTERN OPTION...: training fails with that message, and leaves neither a log nor a folder.
refuses()
{
    refuses_name=$1
    refuses_pattern=$2
    shift 2
    mkdir -p "$work/logs"
    exits "$refuses_name" 1 "^axle train: $refuses_pattern" \
        train --batch-size 5 --loss-log "$work/logs/log" --output "$work/output" "$@"
}

leaves_nothing()
{
    holds_nothing "$work/logs" && [ ! -e "$work/output" ]
}

refuses 'a folder that is not there is named' '.*/nowhere: ' --data "$work/nowhere"
mkdir "$work/empty"
refuses 'a folder without data is named, with what is missing' '.*/empty: .*train-images-idx3-ubyte' \
    --data "$work/empty"

broken missing
rm "$bad/train-labels-idx1-ubyte"
refuses 'a missing file is named' '.*missing.*train-labels-idx1-ubyte' --data "$bad"

broken truncated
head -c 700 "$bad/train-images-idx3-ubyte" >"$work/part"
mv "$work/part" "$bad/train-images-idx3-ubyte"
refuses 'a truncated file is named' '.*truncated/train-images-idx3-ubyte' --data "$bad"

broken test_truncated
head -c 700 "$bad/t10k-images-idx3-ubyte" >"$work/part"
mv "$work/part" "$bad/t10k-images-idx3-ubyte"
refuses 'a truncated test set is found before training' '.*/t10k-images-idx3-ubyte' --data "$bad"

broken foreign
echo 'These are no pictures, but it is a long enough text.' >"$bad/train-images-idx3-ubyte"
refuses 'a file that is no IDX file is named' '.*foreign/train-images-idx3-ubyte' --data "$bad"

broken void
: >"$bad/train-images-idx3-ubyte"
refuses 'an empty file is named' '.*void/train-images-idx3-ubyte' --data "$bad"

broken unequal
labels 19 >"$bad/train-labels-idx1-ubyte"
refuses 'unequal numbers of pictures and labels are named' '.*20.*19' --data "$bad"

broken label
labels 20 10 >"$bad/train-labels-idx1-ubyte"
refuses 'a label out of range is named with its place' '.*/train-labels-idx1-ubyte: label 19 is 10' --data "$bad"

broken test_label
labels 20 255 >"$bad/t10k-labels-idx1-ubyte"
refuses 'a label of the test set, too, before training' '.*/t10k-labels-idx1-ubyte: label 19 is 255' --data "$bad"

broken none
pictures 0 8 >"$bad/train-images-idx3-ubyte"
{ be32 2049; be32 0; } >"$bad/train-labels-idx1-ubyte"
refuses 'an empty training set is named' '.*none.*no pictures' --data "$bad"

broken good
refuses 'pictures too small for the model are named' '.*4 x 4\|.*too small' --data "$(idx_folder "$work/tiny" 4 3; echo "$work/tiny")" --model lenet
check 'what was refused left no file and no folder' leaves_nothing

echo file >"$work/file"
exits 'an output folder below a file is named' 1 'axle train: .*/file/out: Not a directory' \
    train --data "$work/good" --output "$work/file/out"
exits 'an output folder that is a file is named' 1 'axle train: .*/file: Not a directory' \
    train --data "$work/good" --output "$work/file"
exits 'a loss log in a folder that is not there is named' 1 'axle train: .*/nowhere/log: No such file' \
    train --data "$work/good" --loss-log "$work/nowhere/log"
exits 'a loss log that is a folder is named' 1 'axle train: .*/good: Is a directory' \
    train --data "$work/good" --loss-log "$work/good"
if [ "$(id -u)" -ne 0 ]; then
    mkdir "$work/locked"
    chmod a-w "$work/locked"
    exits 'an output folder without permission is named' 1 'axle train: .*/locked: Permission denied' \
        train --data "$work/good" --output "$work/locked"
    chmod u+w "$work/locked"
else
    skip 'an output folder without permission is named' 'root may write everywhere'
fi
if [ -w /dev/full ]; then
    exits 'a full disk under the loss log is an error' 1 'axle train: /dev/full: No space left' \
        train --data "$work/good" --loss-log /dev/full
else
    skip 'a full disk under the loss log is an error' 'there is no /dev/full'
fi

exits 'an unknown backend is named, with those there are' 1 'axle train: .*nonesuch.*reference' \
    env AXLE_BACKEND=nonesuch "$AXLE" train --data "$work/good"
exits 'a loss that is not finite ends training and names the update' 1 'axle train: update [1-9]' \
    train --data "$work/good" --batch-size 5 --epochs 50 --optimizer sgd --lr 1e30 --loss-log "$work/logs/log"
check 'it leaves no loss log' holds_nothing "$work/logs"

# An older log stays whole until the new one is.
keeps_old_log()
{
    echo old >"$work/logs/log"
    ! train --data "$work/good" --batch-size 5 --epochs 50 --optimizer sgd --lr 1e30 \
        --loss-log "$work/logs/log" 2>/dev/null && [ "$(cat "$work/logs/log")" = old ]
}
check 'a failed run leaves an older loss log alone' keeps_old_log
finish
