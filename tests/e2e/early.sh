#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Large checkpoints: resumed from a path and from each store; damaged ones; transfers that are interrupted. A store whose server
# is not installed is skipped with the reason.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/servers.sh"
trap 'stop_servers; leave' EXIT
export HEAVY_GO=$work/go HEAVY_LOG=$work/log
heavy=$SATIN_BIN/../tests/e2e/heavy
jobs=1800 bytes=5000
made=$work/made.db

# The run is suspended when all jobs but the gate are computed.
begin "$satin" run -n 1 --workers 2 --interval 0.5 --checkpoint "$made" -- "$heavy" $jobs $bytes
computed () { [ "$(stat -c %s "$HEAVY_LOG" 2>/dev/null || echo 0)" -eq $jobs ]; }
ok 'a run has computed all jobs but the gate' wait_for $((60 * slow)) computed
kill -INT "$begun"
ended
is 'it is suspended' "$code" 75
size=$(stat -c %s "$made")
ok 'its checkpoint is large' [ "$size" -gt $((8 << 20)) ]
touch "$HEAVY_GO"
try "$heavy" $jobs $bytes
right=$answer
ok 'a program alone knows the answer' [ "${right:-0}" -gt 0 ]

# NAME TARGET FILE OPTIONS…: resumes the checkpoint at TARGET, which is FILE on this host; nothing is computed again.
goes_on () {
  local name=$1 target=$2 file=$3
  shift 3
  mkdir -p "$(dirname "$file")"; cp "$made" "$file"; chmod 666 "$file"; : >"$HEAVY_LOG"
  try "$satin" resume "$@" "$target"
  is "$name: the answer" "$answer" "$right"
  is "$name: the exit code" "$code" 0
  is "$name: jobs computed again" "$(stat -c %s "$HEAVY_LOG")" 0
  try "$satin" inspect --insecure "$target"
  ok "$name: the checkpoint is finished" grep -q '^state  *finished,' "$work/answer"
}

# The same with a few wrong bytes in the middle of the file. The words of `with` are put before the command.
with=()
is_mended () {
  local name=$1 target=$2 file=$3 wrong
  shift 3
  cp "$made" "$file"; chmod 666 "$file"; : >"$HEAVY_LOG"
  printf 'wrong wrong wrong wrong' | dd of="$file" bs=1 seek=$((size / 2)) conv=notrunc status=none
  try "${with[@]}" "$satin" resume "$@" "$target"
  is "$name, damaged: the answer" "$answer" "$right"
  is "$name, damaged: the exit code" "$code" 0
  ok "$name, damaged: the damage is reported" grep -qE 'is damaged: .* rows (is|are) missing' "$work/words"
  wrong=$(stat -c %s "$HEAVY_LOG")
  ok "$name, damaged: few jobs are computed again" [ "$wrong" -le 3 ]
}

# The run is resumed at another place, where the first node finds the checkpoint.
moves_on () {
  local name=$1 target=$2
  cp "$made" "$work/from.db"; : >"$HEAVY_LOG"
  try "$satin" resume --insecure --checkpoint "$target" "$work/from.db"
  is "$name, from elsewhere: the answer" "$answer" "$right"
  is "$name, from elsewhere: the exit code" "$code" 0
  is "$name, from elsewhere: jobs computed again" "$(stat -c %s "$HEAVY_LOG")" 0
}
is_coming () { compgen -G "$XDG_STATE_HOME/satin/runs.*/checkpoint.copy.part" || compgen -G "$runs/*/*.part"; }

goes_on path "$work/here.db" "$work/here.db"
is_mended path "$work/wrong.db" "$work/wrong.db"
# The processes and all their descendants: a session of sshd has up to three processes.
tree_of () { local pid; for pid in "$@"; do echo "$pid"; tree_of $(children_of "$pid"); done; }
if start_sftp "$work/sftp"; then
  export HOME=$work/sftp/home
  goes_on sftp "$uri/a.db" "$work/sftp/files/a.db"
  goes_on 'sftp, two nodes' "$uri/b.db" "$work/sftp/files/b.db" -n 2 --workers 1
  moves_on sftp "$uri/e.db"
  is_mended sftp "$uri/c.db" "$work/sftp/files/c.db"
  # The time that a node has to join (courier.c) does not include the transfer of the file.
  if make_shim "$work/shim"; then
    with=(env "${shim[@]}" CURL_SHIM_GET_MS=9000)
    is_mended 'sftp, slowly' "$uri/i.db" "$work/sftp/files/i.db"
    with=()
  else skip 'sftp, slowly, damaged' "$why"; fi

  # The server's processes are killed during the transfer.
  cp "$made" "$work/sftp/files/d.db"
  for _ in 1 2 3 4 5 6 7; do cat "$made"; done >>"$work/sftp/files/d.db"
  cp "$work/sftp/files/d.db" "$work/large.db"
  # The transfer is slow enough to be seen on a busy machine before it ends.
  slowly=()
  make_shim "$work/shim" && slowly=(env "${shim[@]}" CURL_SHIM_RATE=4000000)
  : >"$HEAVY_LOG"
  begin "${slowly[@]}" "$satin" resume "$uri/d.db"
  until is_coming >/dev/null || gone "$begun"; do rest_us 2000; done
  # shellcheck disable=SC2046
  kill -KILL $(tree_of $(children_of "$server_pid"))
  ended
  is 'an interrupted transfer: the exit code' "$code" 4
  ok '… is reported in one line' [ "$(wc -l <"$work/begun.words")" -eq 1 ]
  ok '… that names the place' grep -q "^satin: checkpoint 'sftp://.*d.db': cannot read it: " "$work/begun.words"
  is '… and nothing was computed' "$(stat -c %s "$HEAVY_LOG")" 0
  ok '… and no process is left' wait_for $((10 * slow)) no_nodes

  # A process that the shell starts in the background ignores interrupts until it has installed a handler.
  hears_interrupts () { gone "$1" || grep -q '^SigCgt:.*[2367abef]$' "/proc/$1/status"; }
  # The server is stopped during the transfer: an interrupt ends the transfer at once, in the launcher and in a node.
  stalls () { # NAME: interrupted, it ends
    local name=$1
    for _ in 1 2 3 4 5; do # without a shim the transfer may end first: then the test is repeated
      until is_coming >/dev/null || gone "$begun"; do rest_us 2000; done
      tree=$(tree_of "$server_pid")
      # shellcheck disable=SC2086
      kill -STOP $tree
      is_coming >/dev/null && break
      # shellcheck disable=SC2086
      kill -CONT $tree
      ended
      cp "$work/large.db" "$work/sftp/files/d.db"
      slowly "${slow_command[@]}"
    done
    wait_for $((10 * slow)) hears_interrupts "$begun"
    kill -INT "$begun" 2>/dev/null
    ended
    # shellcheck disable=SC2086
    kill -CONT $tree
    ok "$name, interrupted: it ends while the server is still stopped" [ "$code" -lt 128 ]
    ok '… and no process is left' wait_for $((10 * slow)) no_nodes
  }
  slowly () { slow_command=("$@"); begin "${slowly[@]}" nice -n 19 "$@"; }
  slowly "$satin" resume "$uri/d.db"
  stalls 'a resume whose transfer stalls'
  is '… suspended' "$code" 75
  is '… in one sentence' "$words" "satin: suspended: \`satin resume $uri/d.db\` goes on"
  slowly "$satin" run -n 1 --checkpoint "$uri/d.db" -- "$heavy" $jobs $bytes
  stalls 'a run whose transfer stalls'
  is '… suspended' "$code" 75

  # A launcher that is killed before the run has a folder leaves its temporary folder. A later launcher removes that.
  begin "${slowly[@]}" "$satin" resume "$uri/d.db"
  until is_coming >/dev/null || gone "$begun"; do rest_us 1000; done
  kill -KILL "$begun" 2>/dev/null
  ended
  mkdir "$runs.living" "$runs.killed"
  touch "$runs.killed/checkpoint.copy"
  touch -d '5 minutes ago' "$runs".*
  exec 8<"$runs.living"
  flock -n 8
  wait_for $((10 * slow)) no_nodes
  goes_on 'after a kill' "$uri/h.db" "$work/sftp/files/h.db"
  is 'the folder of the killed launcher is removed, a locked one is not' "$(cd "$runs/.." && echo runs.*)" runs.living
  exec 8<&-
  rmdir "$runs.living"

  # A verb that only reads the checkpoint removes its copy when it is interrupted. The copy of a killed one is removed by the
  # next reader. Folders that are not a copy of Satin stay.
  cp "$work/large.db" "$work/sftp/files/d.db" # a run begun before the launcher was killed may have ended there
  mkdir "$work/tmp"
  copies () { (cd "$work/tmp" && echo *); }
  looks () { # NAME SIGNAL COMMAND…
    local name=$1 signal=$2
    shift 2
    for _ in 1 2 3 4 5; do # without a shim the transfer may end first: then the test is repeated
      TMPDIR=$work/tmp slowly env --default-signal=INT "$@"
      until compgen -G "$work/tmp/satin-copy-*/checkpoint*" >/dev/null || gone "$begun"; do rest_us 2000; done
      kill "-$signal" "$begun" 2>/dev/null
      ended
      [ "$code" -eq 0 ] || break
      rm -f "$work/merged.db"
    done
    is "$name ends by the signal" "$code" $((128 + $(kill -l "$signal")))
  }
  looks 'an inspect that is interrupted' INT "$satin" inspect "$uri/d.db"
  is '… leaves nothing' "$(copies)" '*'
  looks 'a merge that is told to end' TERM "$satin" merge "$work/merged.db" "$uri/d.db" "$uri/c.db"
  is '… leaves nothing' "$(copies)" '*'
  looks 'an inspect that is killed' KILL "$satin" inspect "$uri/d.db"
  mkdir "$work/tmp/satin-copy-living" "$work/tmp/satin-copy-ours"
  touch -d '5 minutes ago' "$work/tmp"/*
  exec 8<"$work/tmp/satin-copy-living"
  flock -n 8
  TMPDIR=$work/tmp try "$satin" inspect "$uri/a.db"
  is 'the next inspect succeeds' "$code" 0
  is '… and removes what the killed inspect left' "$(copies)" 'satin-copy-living satin-copy-ours'
  exec 8<&-

  # The checkpoint is removed during the transfer. A node that looks after that finds nothing to begin with. A node that has the
  # file goes on, and publishes it again.
  is_long && tries=5 || tries=2
  for ((; tries > 0; tries--)); do
    cp "$made" "$work/sftp/files/g.db"; : >"$HEAVY_LOG"
    begin "$satin" resume "$uri/g.db"
    until is_coming >/dev/null || gone "$begun"; do rest_us 2000; done
    rm "$work/sftp/files/g.db"
    ended
    if [ "$code" = 4 ]; then
      is 'removed: one message' "$words" "satin: there is no checkpoint at '$uri/g.db'"
    else
      is 'removed after a node had it: the answer' "$answer" "$right"
      ok '… and the checkpoint is there again' [ -s "$work/sftp/files/g.db" ]
    fi
    is '… and nothing was computed' "$(stat -c %s "$HEAVY_LOG")" 0
  done
else
  skip sftp "$why"
fi
if start_ftp "$work/ftp"; then goes_on ftp "$uri/a.db" "$work/ftp/root/files/a.db" --insecure; else skip ftp "$why"; fi
if start_dav "$work/dav"; then goes_on http "$uri/a.db" "$work/dav/root/files/a.db" --insecure; else skip http "$why"; fi
if start_dav "$work/fixed"; then
  cp "$made" "$work/fixed/root/files/a.db"; chmod 555 "$work/fixed/root/files"; : >"$HEAVY_LOG"
  try "$satin" resume --insecure "$uri/a.db"
  is 'read-only: the exit code' "$code" 4
  ok '… and the message says why' grep -q "^satin: checkpoint '$uri/a.db': cannot write it: " <<<"$words"
  is '… and nothing was computed' "$(stat -c %s "$HEAVY_LOG")" 0
  ok '… and no process is left' wait_for $((10 * slow)) no_nodes
else skip 'read-only' "$why"; fi
if start_s3 "$work/s3"; then moves_on s3 "$uri/a.db"; else skip s3 "$why"; fi
finish
