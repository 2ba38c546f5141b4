# SPDX-License-Identifier: Apache-2.0
#
# Models by name: from folders, from the cache, and from a server that behaves as the hub does.
. "$top_srcdir/tests/tap.sh"

. "$top_srcdir/tests/hub/support.sh"

commit=0123456789abcdef0123456789abcdef01234567
snapshot=snapshots/$commit

# ---- folders and names

# A folder has a name that a model could have, too.
finds_folder()
{
    mkdir -p "$work/here/org/plain" && (cd "$work/here" && [ "$(resolve org/plain)" = org/plain ])
}

# refuses_name NAME
refuses_name()
{
    is_refused 'no model can have that name' "$1"
}

check 'a folder of this machine comes first' finds_folder
check 'paths that are not there are no models' refuses_name /no/such/folder
for name in ../x a/b/c org/.. org/-x a--b/c 'org/a b' org/; do
    check "no model is called '$name'" refuses_name "$name"
done
check 'a revision does not leave its folder' is_refused 'no revision can be called' org/x revision=../x
check 'the server is found by http' is_refused 'neither https' org/x endpoint=file:///etc
check 'a token cannot bring another header along' is_refused 'no token has' org/x token='a
X: y'

# ---- the cache alone

# make_cache FOLDER: as the Python library leaves it.
make_cache()
{
    mkdir -p "$1/models--old/refs" "$1/models--old/blobs" "$1/models--old/$snapshot" &&
        printf %s "$commit" >"$1/models--old/refs/main" && echo '{}' >"$1/models--old/blobs/abc" &&
        ln -s ../../blobs/abc "$1/models--old/$snapshot/config.json"
}

# is_found FOLDER ARGUMENT...: whether the model `old` is found in FOLDER.
is_found()
{
    expected=$1/models--old/$snapshot
    shift
    [ "$(resolve old "$@")" = "$expected" ] && [ -f "$expected/config.json" ]
}

reads_variables()
{
    make_cache "$work/a/hub" && make_cache "$work/b" && make_cache "$work/c/huggingface/hub" &&
        make_cache "$work/d/.cache/huggingface/hub" || return 1
    HF_HOME=$work/a is_found "$work/a/hub" offline=1 &&
        HF_HOME=$work/a HF_HUB_CACHE=$work/b is_found "$work/b" offline=1 &&
        HF_HOME='' XDG_CACHE_HOME=$work/c is_found "$work/c/huggingface/hub" offline=1 &&
        HF_HOME='' XDG_CACHE_HOME='' HOME=$work/d \
            is_found "$work/d/.cache/huggingface/hub" offline=1 &&
        HF_HOME='~/a' HOME=$work is_found "$work/a/hub" offline=1 &&
        HF_HUB_OFFLINE=1 is_found "$work/b" cache="$work/b" &&
        TRANSFORMERS_OFFLINE=yes is_found "$work/b" cache="$work/b" &&
        is_found "$work/b" cache="$work/b" offline=1 revision="$commit"
}

check 'the cache is where the Python library has it' reads_variables
check 'offline, what is not there is an error' is_refused 'not to be asked' org/x offline=1
check 'offline, so is another revision' is_refused 'not to be asked' old cache="$work/b" offline=1 revision=v2

start_server || { finish; exit; }

# ---- downloads

folder=$HF_HOME/hub/models--org--plain
same() { "$python" "$work/same.py" "$1" "$2"; }

brings_model()
{
    [ "$(resolve org/plain told="$work/told")" = "$folder/$snapshot" ] &&
        same "$folder/$snapshot/model.safetensors" model.safetensors &&
        same "$folder/$snapshot/config.json" config.json && [ ! -e "$folder/$snapshot/README.md" ]
}

has_layout()
{
    sum=$(sha256sum <"$folder/$snapshot/model.safetensors") && sum=${sum%% *} &&
        [ "$(readlink "$folder/$snapshot/model.safetensors")" = "../../blobs/$sum" ] &&
        [ "$(cat "$folder/refs/main")" = "$commit" ] && [ -f "$folder/trees/$commit.json" ] &&
        [ -f "$HF_HOME/hub/.locks/models--org--plain/$sum.lock" ] &&
        [ -z "$(find "$HF_HOME/hub" -name '*.incomplete' -o -name '*.tmp')" ]
}

told_all()
{
    [ "$(sort -u "$work/told" | wc -l)" -eq 3 ] && grep -q '^model.safetensors 2/3 300017$' "$work/told"
}

brings_others()
{
    resolve org/plain files='onnx/*' && same "$folder/$snapshot/onnx/model.onnx" onnx/model.onnx &&
        [ "$(readlink "$folder/$snapshot/onnx/model.onnx" | cut -c1-15)" = ../../../blobs/ ]
}

# Nothing but the list is asked for.
asks_no_more()
{
    before=$(requests 'hub HEAD') && resolve org/plain && [ "$(requests 'hub HEAD')" -eq "$before" ]
}

knows_commit()
{
    before=$(requests .) && resolve org/plain revision="$commit" && [ "$(requests .)" -eq "$before" ]
}

follows_renaming()
{
    resolve plain && same "$HF_HOME/hub/models--plain/$snapshot/model.safetensors" model.safetensors
}

check 'a model is downloaded, without what nobody asked for' brings_model
check 'the cache is laid out as the Python library does' has_layout
check 'the program is told how far it is' told_all
check 'other files are brought by their names' brings_others
check 'a second time asks for the list alone' asks_no_more
check 'a commit that is there needs no server' knows_commit
check 'a model without an organisation is followed to its new name' follows_renaming
check 'a revision may have slashes' resolve org/plain revision=refs/pr/1
check 'its commit is kept' test -f "$folder/refs/refs/pr/1"
check 'lists without sizes do' resolve org/brief

uses_cache()
{
    resolve org/plain endpoint=http://127.0.0.1:1 retries=0 >"$work/out" 2>"$work/err" &&
        grep -q 'what is in the cache is used' "$work/err"
}

misses_files()
{
    rm -f "$folder/$snapshot/tokenizer.json" &&
        is_refused 'not all of it is in the cache' org/plain offline=1
}

check 'where the server is away the cache serves, with a warning' uses_cache
check 'offline, a model of which a file is missing is not all there' misses_files
check 'without server and cache there is an error' is_refused '127.0.0.1:1' org/x \
    endpoint=http://127.0.0.1:1 retries=1

# ---- tokens

sends_token()
{
    HF_TOKEN=good resolve org/private && requests 'hub .*/org/private/.* Bearer_good' &&
        [ "$(requests 'hub .*/org/private/.*Bearer_good')" -gt 0 ] &&
        [ "$(requests 'cdn .*/org/private/')" -gt 0 ] && [ "$(requests 'cdn .*Bearer')" -eq 0 ]
}

reads_token()
{
    printf 'good\n' >"$HF_HOME/token" && resolve org/gated cache="$work/gated"
    status=$?
    HF_HUB_DISABLE_IMPLICIT_TOKEN=1 is_refused 'gated' org/gated || status=1
    rm -f "$HF_HOME/token"
    return $status
}

hides_token()
{
    ! resolve org/locked token=secret123 >"$work/out" 2>&1 &&
        grep -q 'valid token' "$work/out" && ! grep -q secret123 "$work/out"
}

check 'the token goes to the server and not to where it redirects' sends_token
check 'it stands in a file, too, unless that is not wanted' reads_token
check 'no message holds it' hides_token
check 'a gated model says what to do' is_refused 'not possible.*ask for access' org/gated
check 'a private model is not there for others' is_refused 'not found.*HF_TOKEN' org/private cache="$work/none"
check 'a token that does not hold is named' is_refused 'wants a valid token' org/locked token=bad
check 'a model that is not there is named' is_refused 'not found: org/nothing.*no such model' org/nothing
check 'a revision that is not there is named' is_refused 'not found.*v9.*no such revision' org/plain revision=v9
check 'a file that is not there is named' is_refused 'not found.*tokenizer.json.*no such file' org/lacking
check 'nothing that is wanted is an error' is_refused 'none of the files' org/plain files='*.gguf'

# ---- trouble

# brings MODEL ARGUMENT...: whether it arrives whole.
brings()
{
    resolve "$@" && same "$HF_HOME/hub/models--org--${1#org/}/$snapshot/model.safetensors" model.safetensors
}

# leaves_nothing MODEL: no blob of the large file, no snapshot of it.
leaves_nothing()
{
    [ -z "$(find "$HF_HOME/hub/models--org--$1" -name '*.safetensors' -o -name '*.incomplete')" ] &&
        [ ! -e "$HF_HOME/hub/models--org--$1/refs/main" ]
}

resumes_drops()
{
    brings org/drops && [ "$(requests 'cdn GET /org/drops/.* bytes=')" -eq 3 ]
}

resumes_interrupted()
{
    is_refused interrupted org/slow stop=100000 &&
        part=$(find "$HF_HOME/hub/models--org--slow/blobs" -name '*.incomplete' -size +90k) &&
        [ -n "$part" ] && brings org/slow && [ "$(requests 'cdn GET /org/slow/.* bytes=1')" -eq 1 ]
}

heals_leftovers()
{
    sum=$(sha256sum <"$folder/$snapshot/model.safetensors") && sum=${sum%% *} &&
        mkdir -p "$work/left/models--org--plain/blobs" &&
        head -c 99999 /dev/zero >"$work/left/models--org--plain/blobs/$sum.incomplete" &&
        resolve org/plain cache="$work/left" &&
        same "$work/left/models--org--plain/$snapshot/model.safetensors" model.safetensors
}

check 'a busy server is asked again when it says' brings org/busy
check 'one that asks for too much patience is not' is_refused 'busy.*HTTP 429' org/overrun
check 'a failing server is asked again' brings org/failing
check 'but not for ever' is_refused 'HTTP 503' org/failing cache="$work/failing" revision=refs/pr/1 retries=1
check 'what breaks off is resumed' resumes_drops
check 'also from the beginning, where the server knows no ranges' brings org/drops-all
check 'but not where that brings nothing new' is_refused 'ends after 100000 of 300017' org/useless retries=2
check 'a download that was interrupted is resumed' resumes_interrupted
check 'leftovers of something else are replaced' heals_leftovers
check 'a file that is too short is refused' is_refused 'ends after 300007 of 300017' org/short retries=2
check 'a file that is too long is refused' is_refused 'malformed.*more than it announced' org/long
check 'a file with other content is refused' is_refused 'malformed.*SHA-256' org/corrupt
check 'and not kept' leaves_nothing corrupt
check 'a server that falls silent is left, and asked again' brings org/stalls timeout=1 retries=50
check 'one that stays silent is an error' is_refused 'timed out' org/silent timeout=1 retries=1
check 'a path that leads out is refused' is_refused 'malformed.*names a file' org/evil-path
check 'so is an ETag that does' is_refused 'malformed.*ETag' org/evil-etag
check 'so is a commit that does' is_refused 'malformed.*no commit' org/evil-commit
check 'so is the answer for another commit' is_refused 'malformed.*another commit' org/other
check 'none of them wrote anything' test -z "$(find "$work" -name '*evil*' -not -name 'models--*' -not -path '*/.locks/*')"

# ---- processes

share_download()
{
    resolve org/shared >"$work/first" & first=$!
    resolve org/shared >"$work/second"
    second=$?
    wait $first && [ $second -eq 0 ] && cmp "$work/first" "$work/second" &&
        [ "$(requests 'cdn GET /org/shared/')" -eq 1 ] &&
        same "$(cat "$work/first")/model.safetensors" model.safetensors
}

# launched ARGUMENT...: two processes of one host.
launched()
{
    transport=$top_builddir/tests/unit/group/.libs/sockets.so
    AXLE_TRANSPORT=$transport AXLE_BACKEND=reference timeout -k 5 120 "$AXLE" launch --quiet -n 2 \
        --threads 1 --timeout 60 "$top_builddir/tests/hub/resolve" "$@" together=1 2>&1
}

first_downloads()
{
    launched org/ranks >"$work/ranks" &&
        [ "$(grep -c "models--org--ranks/$snapshot" "$work/ranks")" -eq 2 ] &&
        [ "$(requests '/api/models/org/ranks/')" -eq 1 ] && [ "$(requests 'cdn GET /org/ranks/')" -eq 1 ]
}

all_fail()
{
    launched org/nothing >"$work/ranks" && cat "$work/ranks" &&
        [ "$(grep -c 'process 0: org/nothing' "$work/ranks")" -eq 2 ]
}

check 'of two processes one downloads' share_download
if [ -f "$top_builddir/tests/unit/group/.libs/sockets.so" ]; then
    check 'of a job the first process downloads' first_downloads
    check 'its error is that of all' all_fail
else
    skip 'of a job the first process downloads' 'there is no transport'
fi
finish
