#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs with a checkpoint at a store (T1-10), with servers on loopback. A store whose server is not installed is skipped with the
# reason. After a total loss the user of another machine has only the URI and a key to the store.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/servers.sh"
trap 'stop_servers; leave' EXIT
# Leaves sleep, which needs no processor, until the test ends that.
export NAPS_HASTE=$work/haste
naps=$SATIN_BIN/../tests/e2e/naps
long=("$naps" 300 12) long_answer=4096
fast=("$naps" 1 3) fast_answer=8
hasten () { touch "$NAPS_HASTE"; }

stands () { "$satin" inspect --insecure "$1" >/dev/null 2>&1; }
holds () { "$satin" inspect --insecure --json "$1" 2>/dev/null | tr -d ' \n' | grep -q "\"results\":\\[{"; }
has_end () { "$satin" inspect --insecure "$1" 2>/dev/null | grep -q '^state  *finished,'; }
kill_all () { kill -9 "$begun" $(our_nodes) 2>/dev/null; wait "$begun" 2>/dev/null; wait_for 10 no_nodes; }
says () { printf '%s' "$words" | grep -q "$1"; }

begin_long () { # FILE OPTIONS…
  local file=$1
  shift
  rm -f "$NAPS_HASTE"
  begin "$satin" run -n 2 --workers 1 --interval 0.2 --insecure --checkpoint "$file" "$@" -- "${long[@]}"
}

# Waits until nothing has changed at the store for a second.
rested () {
  local since=$SECONDS still=0 last='' now
  while [ $still -lt 10 ] && [ $((SECONDS - since)) -lt 60 ]; do
    now=$(find "$files" -type f -printf '%p %s %T@\n' | sort)
    if [ "$now" = "$last" ]; then still=$((still + 1)); else still=0; fi
    last=$now
    sleep 0.1
  done
}
left_at_store () { find "$files" -type f ! -name '*.db' ! -name '*.old-*' | sort; }
# whole_life NAME NONE: the tests for every store, at $uri with the present $HOME. NONE is a URI at which no file can be
# created.
whole_life () {
  one_life "$1"
  later_lives "$1" "$2"
}
one_life () {
  local name=$1 file=$uri/run.db words_of_json
  begin_long "$file"
  ok "$name: the checkpoint is soon there" wait_for $((20 * slow)) stands "$file"
  try "$satin" run --insecure --checkpoint "$file" -- "${long[@]}"
  is "$name: another run is refused while this one goes on" "$code" 5
  ok "$name: … and the message names it" says "in use by run"
  ok "$name: it gets results" wait_for $((60 * slow)) holds "$file"
  kill_all
  rested # the server may still carry out requests
  left_at_store >"$work/killed"
  rm -rf "$XDG_STATE_HOME"
  hasten
  try "$satin" resume --insecure --stats "$work/stats" "$file"
  is "$name: after a total loss the URI is enough to resume it at once" "$answer" "$long_answer"
  words_of_json=$(tr -d ' \n' <"$work/stats")
  ok "$name: … with saved results" grep -q '"jobs_reused":[1-9]' <<<"$words_of_json"
}
later_lives () {
  local name=$1 file=$uri/run.db none=$2
  try "$satin" run --insecure --checkpoint "$file" -- "${long[@]}"
  is "$name: a finished checkpoint gives its answer again" "$answer" "$long_answer"
  try "$satin" run --insecure --new --checkpoint "$file" -- "${fast[@]}"
  is "$name: --new starts another run" "$answer" "$fast_answer"
  ok "$name: … and sets the old one aside" says "the old checkpoint is now"
  try "$satin" inspect --insecure --verify "$file"
  is "$name: every row is sound" "$code" 0
  ok "$name: … and the checkpoint is finished" has_end "$file"
  try "$satin" run --insecure --checkpoint "$none" -- "${fast[@]}"
  is "$name: a missing folder is reported at the start" "$code" 4
  # Killed nodes may have left unfinished files.
  is "$name: nothing else is left at the store" "$(left_at_store | comm -23 - "$work/killed")" ""
}

# The server is stopped for some seconds during the run, and continues.
stands_still () {
  local name=$1 file=$uri/still.db
  begin_long "$file"
  ok "$name: a run begins" wait_for $((20 * slow)) stands "$file"
  signal_server STOP
  sleep 2
  signal_server CONT
  hasten
  ended
  is "$name: the answer with a store that was stopped" "$answer" "$long_answer"
  ok "$name: … and its checkpoint is finished" has_end "$file"
}

has_solo_folder () { compgen -G "$runs/*/run" >"$work/found"; }
# The server is stopped before the run begins: a suspension does not wait for it, whichever way it is asked for.
hangs_at_the_start () {
  local name=$1
  signal_server STOP
  for way in "suspend early" INT; do
    begin "$satin" run -n 2 --workers 1 --name early --insecure --checkpoint "$uri/early.db" -- "${fast[@]}"
    ok "$name is stopped: a run is there" wait_for $((20 * slow)) test -e "$runs/early/founder-0"
    if [ "$way" = INT ]; then kill -INT "$begun"; code=0; else try "$satin" $way; fi
    is "$name is stopped: suspended by $way" "$code" 0
    ended
    is "$name is stopped: … the exit code" "$code" 75
    is "$name is stopped: … the message" "$words" "satin: suspended: it had not begun; the same command begins again"
    ok "$name is stopped: … and no process is left" wait_for $((10 * slow)) no_nodes
  done
  for way in INT USR1; do
    rm -rf "$runs"
    begin "${fast[@]}" --workers 1 --insecure --checkpoint "$uri/early.db"
    ok "$name is stopped: a program alone is there" wait_for $((20 * slow)) has_solo_folder
    kill -$way "$begun"
    ended
    is "$name is stopped: $way suspends it" "$code:$words" "75:satin: suspended: it had not begun; the same command begins again"
  done
  signal_server CONT
}

# The server is gone when the run is suspended: the results are kept on this host.
is_down () {
  local name=$1 file=$uri/down.db kept
  begin_long "$file" --name down
  ok "$name: a run begins" wait_for $((20 * slow)) holds "$file"
  signal_server KILL
  wait "$server_pid" 2>/dev/null
  ok "$name: the run reports that the store is down" wait_for $((60 * slow)) grep -q "^satin: checkpoint '.*down.db': " "$work/begun.words"
  try "$satin" suspend down
  is "$name: satin suspend of a run that cannot publish: exit code" "$code" 4
  ok "$name: … and where the results are kept" says "is kept in '"
  ended
  is "$name: the run that cannot publish ends with 4" "$code" 4
  kept=$(printf '%s' "$words" | sed -n "s/.*is kept in '\\([^']*\\)'.*/\\1/p")
  ok "$name: … and says where the results are kept" test -s "$kept"
  is "$name: … once" "$(grep -c 'is kept in' <<<"$words")" 1
  hasten
  try "$satin" resume "$kept"
  is "$name: … a resume from there gives the answer" "$answer" "$long_answer"
}

# The server is stopped when the run is suspended, at different points of a publication. If it happens while a new coordinator
# takes over, there is none that could keep the results: then it is tried again.
hangs_at_the_end () {
  local name=$1 before again
  for before in 0 3; do
    for again in 1 2 3; do
      begin_long "$uri/hangs-$before-$again.db" --name hangs
      ok "$name: a run begins" wait_for $((20 * slow)) holds "$uri/hangs-$before-$again.db"
      signal_server STOP
      sleep $before
      try "$satin" suspend hangs
      says "nobody can write the checkpoint" || break
      signal_server CONT
      ended
    done
    is "$name hangs for $before s, suspended: the exit code" "$code" 4
    ok "$name hangs for $before s: … and where the results are kept" says "is kept in '"
    signal_server CONT
    ended
  done
}

is_tried () { compgen -G "$files/bids.db.*.try" >/dev/null; }
# The run ends while nodes bid: their trial files are removed.
bids_leave_nothing () {
  local name=$1
  if ! make_shim "$work/shim"; then
    skip "$name: a run that ends while nodes bid" "$why"
    return
  fi
  rm -f "$NAPS_HASTE"
  begin env "${shim[@]}" CURL_SHIM_TRY_MS=100 \
    "$satin" run -n 2 --workers 1 --interval 0.2 --checkpoint "$uri/bids.db" -- "${long[@]}"
  ok "$name: a run begins" wait_for $((20 * slow)) stands "$uri/bids.db"
  ok "$name: a node bids" wait_for $((20 * slow)) is_tried
  hasten
  ended
  is "$name: the run ends meanwhile" "$answer:$code" "$long_answer:0"
  is "$name: … and no file is left" "$(compgen -G "$files/bids.db.*")" ""
}

# main has returned, and the last publication waits for the store. Then the run is suspended, and its master dies.
dies_at_the_end () {
  local name=$1
  local master
  begin_long "$uri/dies.db" --name dies
  ok "$name: two nodes run" wait_for $((20 * slow)) up dies 2
  ok "$name: … and publish" wait_for $((20 * slow)) stands "$uri/dies.db"
  signal_server STOP
  hasten
  ok "$name: main returns" wait_for $((20 * slow)) test -e "$runs/dies/answer"
  kill -INT "$begun"
  ok "$name: it is being suspended" wait_for $((20 * slow)) grep -q suspending "$work/begun.words"
  master=$(master_of dies)
  kill -9 "$master"
  ok "$name: its master is dead" wait_for $((20 * slow)) gone "$master"
  signal_server CONT
  ended
  is "$name: main's answer stays the run's answer after the master's death" "$answer:$code" "$long_answer:0"
}

# not_let_in NAME COMMAND…: a run that the store must refuse, started with COMMAND before it.
not_let_in () {
  local name=$1
  shift
  try "$@" "$satin" run -n "${nodes:-1}" --insecure --checkpoint "$uri/never.db" -- "${fast[@]}"
  is "$name is reported at the start" "$code" 4
  ok "$name: … with the URI" says "checkpoint '${uri/:\/\/*@/:\/\/}/never.db'"
  is "$name: … without secrets" "$(grep -cE 'secret|wrong-word' <<<"$words")" 0
}
# A run with a checkpoint on this host cannot be resumed at a store that does not answer.
goes_nowhere () { # NAME
  rm -f "$NAPS_HASTE"
  begin "$satin" run --workers 1 --interval 0.2 --name here --checkpoint "$work/here.db" -- "${long[@]}"
  ok "$1: a run with a local checkpoint" wait_for $((20 * slow)) up here 1
  try "$satin" suspend here
  ended
  try "$satin" resume --insecure --checkpoint "$uri/moved.db" "$work/here.db"
  is "$1: it cannot be resumed there" "$code" 4
  hasten
}
only_insecure () { # NAME
  try "$satin" run --checkpoint "$uri/never.db" -- "${fast[@]}"
  is "$1: passwords are sent in clear only with --insecure" "$code" 4
  ok "$1: … and the message says so" says insecure
}

# Makes a home with a password for 127.0.0.1.
home_with () { # FOLDER LOGIN PASSWORD
  mkdir -p "$1"
  echo "machine 127.0.0.1 login $2 password $3" >"$1/.netrc"
  chmod 600 "$1/.netrc"
}
home_with "$work/ftp-home" anonymous secret
home_with "$work/dav-home" me secret
home_with "$work/wrong-home" me wrong-word
home_with "$work/wrong-ftp" anonymous wrong-word
mkdir "$work/empty"

test_sftp () {
  start_sftp "$work/sftp" || { skip sftp "$why"; return; }
  local HOME=$work/sftp/home agent
  files=$work/sftp/files
  whole_life sftp "$uri/none/run.db"
  try "$satin" run --checkpoint "$uri" -- "${fast[@]}"
  is "sftp: a folder is no place" "$code" 4
  ok "sftp: … and the message says that it is a folder" says "folder"
  stands_still sftp
  local logins; logins=$(grep -c "Accepted" "$work/sftp/log")
  try "${fast[@]}" --checkpoint "$uri/once.db"
  is "sftp: a program alone has an answer" "$answer" "$fast_answer"
  is "sftp: … and logs in once" "$(($(grep -c "Accepted" "$work/sftp/log") - logins))" 1
  not_let_in "sftp: an unknown host key" env HOME="$work/empty"
  mkdir -p "$work/other/.ssh" && cp "$HOME/.ssh/known_hosts" "$work/other/.ssh"
  not_let_in "sftp: no key to log in" env -u SSH_AUTH_SOCK HOME="$work/other"
  ssh-keygen -q -t ed25519 -N '' -f "$work/other/.ssh/id_ed25519"
  not_let_in "sftp: a key that may not log in" env -u SSH_AUTH_SOCK HOME="$work/other"
  ssh-keygen -q -t ecdsa -N '' -f "$work/other/.ssh/id_ecdsa"
  cat "$work/other/.ssh/id_ecdsa.pub" >>"$work/sftp/authorized"
  try env -u SSH_AUTH_SOCK HOME="$work/other" "$satin" run --checkpoint "$uri/second.db" -- "${fast[@]}"
  is "sftp: the second key may log in" "$answer" "$fast_answer"
  rm "$work/other/.ssh/id_"*
  if agent=$(ssh-agent -s 2>/dev/null); then
    eval "$agent" >/dev/null
    ssh-add -q "$HOME/.ssh/id_ed25519" 2>/dev/null
    HOME=$work/other try "$satin" run --checkpoint "$uri/agent.db" -- "${fast[@]}"
    is "sftp: a key that the agent has" "$answer" "$fast_answer"
    kill "$SSH_AGENT_PID"
    unset SSH_AUTH_SOCK SSH_AGENT_PID
  else skip "sftp: a key that the agent has" "there is no ssh-agent"; fi
  try "${fast[@]}" --checkpoint "${uri/@/:secret@}/x.db"
  is "a password in a URI is refused" "$code" 4
  ok "… and not repeated in the message" test "$(grep -c secret <<<"$words")" = 0
  signal_server STOP
  not_let_in "sftp: a silent server" env
  nodes=4 not_let_in "sftp: a silent server and four nodes" env
  goes_nowhere "sftp: a silent server"
  signal_server CONT
  hangs_at_the_start sftp
  hangs_at_the_end sftp
  dies_at_the_end sftp
  bids_leave_nothing sftp
  is_down sftp
}

test_ftp () {
  FTP_PASSWORD=secret start_ftp "$work/ftp" || { skip ftp "$why"; return; }
  local HOME=$work/ftp-home
  files=$work/ftp/root/files
  whole_life ftp "$uri/none/run.db"
  only_insecure ftp
  not_let_in "ftp: a wrong password" env HOME="$work/wrong-ftp"
  not_let_in "ftp: no password" env HOME="$work/empty"
}

test_ftps () {
  TLS=start FTP_PASSWORD=secret start_ftp "$work/ftps" || { skip ftps "$why"; return; }
  local HOME=$work/ftp-home
  files=$work/ftps/root/files
  not_let_in "ftps: a certificate of an unknown authority" env
  export CURL_CA_BUNDLE=$work/ftps/ca.pem
  one_life ftps
  ! is_long || later_lives ftps "$uri/none/run.db"
  not_let_in "ftps: a wrong password" env HOME="$work/wrong-ftp"
  unset CURL_CA_BUNDLE
}

test_http () { # NAME
  local name=$1 HOME=$work/dav-home
  files=$work/$name/root/files
  DAV_MORE=$(printf '  AuthType Basic\n  AuthName x\n  AuthUserFile %s/users\n  Require valid-user' "$work/$name")
  start_dav "$work/$name" || { skip "$name" "$why"; return; }
  echo "me:$(openssl passwd -apr1 secret)" >"$work/$name/users"
  chmod 644 "$work/$name/users"
  if [ "$name" = https ]; then
    not_let_in "$name: a certificate of an unknown authority" env
    export SSL_CERT_FILE=$work/https/ca.pem
  else only_insecure http; fi
  one_life "$name"
  if [ "$name" = http ] || is_long; then
    later_lives "$name" "$uri/none/run.db"
    ok "$name: … with the reason" says "no such folder"
  fi
  not_let_in "$name: a wrong password" env HOME="$work/wrong-home"
  not_let_in "$name: no password" env HOME="$work/empty"
  [ "$name" = https ] || { stands_still "$name"; is_down "$name"; }
  unset SSL_CERT_FILE
  if [ "$name" = https ]; then
    mkdir "$work/authorities"
    cp "$work/https/ca.pem" "$work/authorities/"
    openssl rehash "$work/authorities"
    try env SSL_CERT_DIR="$work/authorities" "$satin" run --checkpoint "$uri/folder.db" -- "${fast[@]}"
    is "https: a folder of authorities" "$answer" "$fast_answer"
  fi
}

test_s3 () {
  start_s3 "$work/s3" || { skip s3 "$why"; return; }
  files=$work/s3/data/satin
  whole_life s3 s3://none/run.db
  ok "s3: … with the reason" says "no such bucket"
  try env AWS_ENDPOINT_URL="${AWS_ENDPOINT_URL#http://}" "$satin" run --checkpoint "$uri/never.db" -- "${fast[@]}"
  is "s3: an endpoint without a scheme is not taken for http" "$code" 4
  ok "s3: … and the message says so" says "begin with https://"
  only_insecure "s3 at an endpoint of http"
  not_let_in "s3: a wrong key" env AWS_SECRET_ACCESS_KEY=wrong-word
  not_let_in "s3: no key" env -u AWS_SECRET_ACCESS_KEY HOME="$work/empty"
  mkdir -p "$work/aws/.aws"
  printf '[profile other]\naws_access_key_id = ONE\naws_secret_access_key = very/secret\nregion = here\nendpoint_url = %s\n' \
    "$AWS_ENDPOINT_URL" >"$work/aws/.aws/config"
  try env -u AWS_SECRET_ACCESS_KEY -u AWS_ACCESS_KEY_ID -u AWS_REGION -u AWS_ENDPOINT_URL AWS_PROFILE=other HOME="$work/aws" \
    "$satin" run --insecure --checkpoint "$uri/profile.db" -- "${fast[@]}"
  is "s3: a profile of ~/.aws" "$answer" "$fast_answer"
}

# The authorities that Amazon's tools trust.
test_s3_tls () {
  TLS=yes start_s3 "$work/s3s" || { skip "s3 with TLS" "$why"; return; }
  not_let_in "s3: a certificate of an unknown authority" env
  try env AWS_CA_BUNDLE="$work/s3s/ca.pem" "$satin" run --checkpoint "$uri/tls.db" -- "${fast[@]}"
  is "s3: the authorities in AWS_CA_BUNDLE" "$answer" "$fast_answer"
}

test_sftp
test_ftp
test_ftps
test_http http
TLS=yes test_http https
test_s3
test_s3_tls
finish
