# SPDX-License-Identifier: Apache-2.0
#
# axle info, for people and for programs.
. "$top_srcdir/tests/cli/support.sh"

json_is_complete()
{
    "$AXLE" info --json >"$work/info.json" || return 1
    for key in version build library search_path cores threads backends operators settings; do
        "$json" "$work/info.json" "$key" >/dev/null || { echo "no $key"; return 1; }
    done
}

lists_reference()
{
    "$json" "$work/info.json" backends '*' name status devices >"$work/backends" &&
        grep '^reference ok ' "$work/backends" | grep -q '"dtypes":\[[^]]*"f64"'
}

repeats_configure()
{
    "$AXLE" info >"$work/info" && grep -q '^  compiler ' "$work/info" &&
        grep -q '^  oneDNN backend ' "$work/info"
}

shows_rejected()
{
    mkdir -p "$work/plugins"
    echo 'no plugin' >"$work/plugins/broken.so"
    AXLE_PLUGIN_PATH=$work/plugins "$AXLE" info >"$work/info" 2>&1 &&
        grep -q 'broken *rejected: .' "$work/info"
}

# A plugin that AXLE_BACKEND names by its path, with a device behind it, is shown like others.
shows_what_a_path_names()
{
    [ -f "$FAKE_PLUGIN" ] || { echo 'there is no fake plugin'; return 1; }
    AXLE_BACKEND=reference "$AXLE" info >"$work/info" && ! grep -q "^  fake .*fake.so" "$work/info" &&
        AXLE_BACKEND=$FAKE_PLUGIN:0,auto "$AXLE" info >"$work/info" && grep "^  fake .*fake.so" "$work/info"
}

names_the_nearest_backend()
{
    AXLE_OPTIONS=referense.y=2,reference.x=1,fake=1 "$AXLE" info >"$work/info" 2>"$work/err" &&
        grep -q 'referense.y is ignored, since there is no backend referense; the nearest known one is reference' \
            "$work/err" && ! grep -q 'reference.x\|fake' "$work/err"
}

# What programs may rely on is in the manual: the members of each object.
manual_names_members()
{
    AXLE_BACKEND=reference "$AXLE" info --json >"$work/info.json" || return 1
    # Those of "build" are configure's words.
    sed -e '/^  "build": {/,/^  }/d' -n -e 's/^ *"\([a-z_]*\)": .*/\1/p' "$work/info.json" | sort -u >"$work/members"
    [ "$(wc -l <"$work/members")" -gt 20 ] || return 1
    while read -r member; do
        grep -Eq "^\.(It )?Cm.*\b$member\b" "$top_srcdir/frontends/cli/axle-info.1" || { echo "$member is missing"; return 1; }
    done <"$work/members"
}

shows_given()
{
    AXLE_BACKEND=reference "$AXLE" info --settings >"$work/settings" &&
        grep -q '^AXLE_BACKEND *reference$' "$work/settings"
}

hides_secret()
{
    AXLE_SECRET=hush-hush "$AXLE" info --settings --json >"$work/secret" &&
        AXLE_SECRET=hush-hush "$AXLE" info >>"$work/secret" &&
        grep -q AXLE_SECRET "$work/secret" && ! grep hush "$work/secret"
}

# The best of many, in milliseconds, since other programs may keep the cores; the program itself, not
# libtool's script around it, and without OpenCL drivers, which may take longer to load than all else
# together.
is_quick()
{
    program=$top_builddir/.libs/axle
    [ -x "$program" ] || program=$AXLE
    LD_LIBRARY_PATH=$top_builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export LD_LIBRARY_PATH
    OCL_ICD_VENDORS=$work/none
    export OCL_ICD_VENDORS
    best=100000
    tries=0
    while [ "$best" -ge 50 ] && [ "$tries" -lt 100 ]; do
        tries=$((tries + 1))
        start=$(date +%s%N)
        "$program" info >/dev/null || return 1
        took=$((($(date +%s%N) - start) / 1000000))
        [ "$took" -ge "$best" ] || best=$took
    done
    echo "it takes $best ms"
    [ "$best" -lt 50 ]
}

check 'axle info --json is an object with its members' json_is_complete
check 'the reference backend works and computes in f64' lists_reference
check 'axle info repeats how it was configured' repeats_configure
check 'a file that is no plugin is listed as rejected, with the reason' shows_rejected
check 'a plugin that AXLE_BACKEND names by path is listed' shows_what_a_path_names
check 'an option of a backend that is not there is told, with the nearest name' names_the_nearest_backend
check 'the manual names all members of the JSON object' manual_names_members
check 'axle info --settings shows what is set' shows_given
check 'the secret of a job is not shown' hides_secret
exits 'every setting has a text of help' 0 'Backend to use' "$AXLE" info --settings
if [ "$sanitizer" != no ]; then
    skip 'axle info takes less than 50 ms' 'built with a sanitizer'
elif ! date +%N | grep -q '^[0-9]'; then
    skip 'axle info takes less than 50 ms' 'date has no nanoseconds'
else
    check 'axle info takes less than 50 ms' is_quick
fi
finish
