# SPDX-License-Identifier: Apache-2.0
#
# A short training run of the reference backend under valgrind: no invalid access, no leak.
. "$top_srcdir/tests/tap.sh"
takes_long

[ "$sanitizer" = no ] || skip_all 'a sanitizer watches already'
command -v valgrind >/dev/null 2>&1 || skip_all 'there is no valgrind'

watched=$("$top_builddir/libtool" --mode=execute valgrind -q "$AXLE" --help 2>&1)
case $watched in
    *'debuginfo reader'*) skip_all "this valgrind cannot read this compiler's debugging information" ;;
esac

# train MODEL OPTION...: two updates without an evaluation; the program that libtool's script stands for is watched.
train()
{
    model=$1
    shift
    AXLE_BACKEND=reference "$top_builddir/libtool" --mode=execute \
        valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite \
        "$AXLE" train --task image --model "$model" --batch-size 2 --max-steps 2 --no-eval "$@"
}

check 'lenet with AdamW trains without a fault' train lenet --optimizer adamw
check 'mlp with SGD and two loader threads trains without a fault' train mlp --optimizer sgd --workers 2
finish
