# SPDX-License-Identifier: Apache-2.0
#
# Which OpenCL devices are found, in which order, how one is chosen, and what is told where there is
# none. The devices are a mock's, which computes nothing, so that a chosen one is refused by name.
. "$top_srcdir/tests/opencl/support.sh"

# ------------------------------------------------------------------ no device

# Trains on whatever there is, as a user without settings would.
trains_anyway()
{
    env AXLE_BACKEND=auto "$AXLE" train --model mlp --quiet --max-steps 1 --no-eval
}

# refuses PATTERN [SELECTOR]: asking for the backend is an error that says why, on one line.
refuses()
{
    AXLE_BACKEND=opencl${2-} "$AXLE" train --model mlp --quiet --max-steps 1 --no-eval >"$work/out" 2>&1
    refuses_code=$?
    cat "$work/out"
    [ "$refuses_code" -gt 0 ] && [ "$refuses_code" -lt 126 ] && grep -q -e "$1" "$work/out"
}

# notes PATTERN: what axle info says about the backend, to people and programs.
notes()
{
    "$AXLE" info >"$work/info" && grep -e "$1" "$work/info" && opencl_info findings | grep -e "$1"
}

mkdir "$work/broken" "$work/rusticl" "$work/plugins"
echo libaxle_absent.so.1 >"$work/broken/absent.icd"
: >"$work/broken/blank.icd"

check 'without any driver, training goes to another backend' in_vendors "$work/empty" trains_anyway
check 'without any driver, opencl is refused with the folder that was read' \
    in_vendors "$work/empty" refuses "vendor folder $work/empty: 0 .icd files; there is no OpenCL platform"
check 'axle info says which folder of drivers was read' \
    in_vendors "$work/empty" notes "vendor folder $work/empty: 0 .icd files"
check 'a missing folder is no more than that' in_vendors "$work/none" trains_anyway
check 'axle info says that the folder is missing' \
    in_vendors "$work/none" notes "$work/none.*: No such file\|OCL_ICD_VENDORS: $work/none"
check 'with a driver that does not load, training goes to another backend' \
    in_vendors "$work/broken" trains_anyway
check 'axle info says which .icd file failed and why' \
    in_vendors "$work/broken" notes "$work/broken/absent.icd: libaxle_absent.so.1: cannot open"
check 'an .icd file that names nothing is told' \
    in_vendors "$work/broken" notes "$work/broken/blank.icd: its first line names no library"
check 'opencl is then refused with the library that is missing' \
    in_vendors "$work/broken" refuses 'libaxle_absent.so.1: cannot open'
check 'the folder of the other loader is read as well' \
    env OCL_ICD_VENDORS= OPENCL_VENDOR_PATH="$work/broken" sh -c '"$AXLE" info | grep "$1"' - \
    "$work/broken/absent.icd: libaxle_absent"

# The same plugin, needing a loader of another name.
without_loader()
{
    LC_ALL=C sed 's/libOpenCL\.so\.1/libAbsent.so.1/g' "$opencl" >"$work/plugins/opencl.so" &&
        ! cmp "$opencl" "$work/plugins/opencl.so" >/dev/null
}

in_plugins()
{
    env AXLE_PLUGIN_PATH="$work/plugins" "$@"
}

check 'a plugin without the loader can be made' without_loader
AXLE_PLUGIN_PATH=$work/plugins
export AXLE_PLUGIN_PATH
check 'without libOpenCL, training goes to another backend' trains_anyway
check 'without libOpenCL, opencl is refused with its name' refuses 'libAbsent.so.1: cannot open'
check 'axle info says so, too' sh -c '"$AXLE" info | grep "opencl *rejected: .*libAbsent.so.1"'
unset AXLE_PLUGIN_PATH

# ------------------------------------------------------------------ order

finds()
{
    finds_names=$(device_names)
    echo "found: $finds_names"
    [ "$finds_names" = "$1" ]
}

zoo='platform Zeta; cpu Zinc; gpu Zircon; platform Void; platform Acme; cpu Argon; accelerator Arsenic; gpu Astatine'
check 'GPUs come first, then accelerators, then CPUs, each by platform' \
    on_mock "$zoo" finds 'Astatine Zircon Arsenic Argon Zinc'
check 'a platform without devices hides none' on_mock 'platform Void; platform Acme; gpu Alpha' finds Alpha
check 'it is noted' on_mock "$zoo" notes 'platform Void has no device\($\|"\)'
check 'for rusticl the variable that shows devices is named' \
    on_mock 'platform rusticl; platform Acme; gpu Alpha' env -u RUSTICL_ENABLE sh -c \
    '"$AXLE" info | grep "platform rusticl has no device; RUSTICL_ENABLE"'
check 'a platform without devices alone is none' on_mock 'platform Void' trains_anyway
check 'the reason names the platform' on_mock 'platform Void' refuses 'platform Void has no device'

lame='platform Acme; gpu Gone unavailable; gpu Mute no-compiler; gpu Old c=110; gpu Big big-endian; gpu Good'
check 'devices that can not serve are left out' on_mock "$lame" finds Good
for reason in 'Gone is left out: it is not available' 'Mute is left out: it has no compiler' \
    'Old is left out: its OpenCL C is older than 1.2' 'Big is left out: its bytes'; do
    check "axle info says: $reason" on_mock "$lame" notes "platform Acme: device $reason"
done

# ------------------------------------------------------------------ choice

# chooses SELECTOR NAME
chooses()
{
    refuses "opencl: $2, driver mock 1, computes a product wrongly" "$1"
}

check 'the first device is the default' on_mock "$zoo" chooses '' Astatine
check 'an index counts over all platforms' on_mock "$zoo" chooses :3 Argon
check 'part of a name chooses, in any case' on_mock "$zoo" chooses :zIR Zircon
check 'gpu chooses the first GPU' on_mock "$zoo" chooses :gpu Astatine
check 'accelerator chooses the first accelerator' on_mock "$zoo" chooses :accelerator Arsenic
check 'cpu chooses the first CPU' on_mock "$zoo" chooses :cpu Argon
for selector in 9 -1 abc 5; do
    check "'$selector' is refused, and the devices are listed" on_mock "$zoo" \
        refuses "no device '$selector'; it has: 0 (Astatine), 1 (Zircon), 2 (Arsenic), 3 (Argon), 4 (Zinc)" \
        ":$selector"
done
check 'a kind that is not there is refused' on_mock 'platform Acme; cpu Argon' refuses \
    "no device 'gpu'; it has: 0 (Argon)" :gpu

# ------------------------------------------------------------------ odd devices

check 'a device that computes wrongly is not used: training goes on elsewhere' \
    on_mock 'platform Acme; gpu Alpha' trains_anyway
check 'axle info says that it can not be used' on_mock 'platform Acme; gpu Alpha' sh -c \
    '"$AXLE" info | grep "can not be used: .*opencl: Alpha, driver mock 1, computes a product wrongly"'
check 'a device whose context fails is named' on_mock 'platform Acme; gpu Alpha no-context' \
    refuses 'opencl: Alpha: clCreateContext: CL_OUT_OF_RESOURCES'
check 'a name of two thousand letters is cut' on_mock 'platform Acme; gpu Longish long-name' \
    refuses "no device '7'; it has: 0 (LongishLongish[A-Za-z]*)" :7
check 'a device with hardly any memory is refused by size' \
    on_mock 'platform Acme; gpu Alpha memory=4096 alloc=1024' \
    refuses 'buffer of [0-9]* bytes is more than Alpha can have, 1024'
check 'a device that works on one item at a time is asked for no more' \
    on_mock 'platform Acme; gpu Alpha local=1' chooses '' Alpha

# ------------------------------------------------------------------ drivers that are there

two_basics()
{
    POCL_DEVICES='basic basic' OCL_ICD_VENDORS=pocl.icd device_names >"$work/names" &&
        cat "$work/names" && [ "$(wc -w <"$work/names")" -ge 2 ]
}

if [ -e /etc/OpenCL/vendors/pocl.icd ]; then
    check 'two devices of PoCL are two devices' two_basics
else
    skip 'two devices of PoCL are two devices' 'PoCL is not installed'
fi
if [ -e /etc/OpenCL/vendors/rusticl.icd ]; then
    check 'rusticl shows no device unasked, and its variable is named' env -u RUSTICL_ENABLE \
        OCL_ICD_VENDORS=rusticl.icd sh -c '"$AXLE" info | grep "platform rusticl has no device; RUSTICL_ENABLE"'
else
    skip 'rusticl shows no device unasked, and its variable is named' 'rusticl is not installed'
fi
finish
