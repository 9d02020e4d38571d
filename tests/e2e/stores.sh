#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Stores that are full, read-only, refuse or answer 503 for a while: the run goes on, reports it once, publishes again when the
# store works, and gives its answer; also with a store that is broken to the end. A store whose server is not installed is
# skipped with the reason. `all` tests more stores.
# A mount of this script is visible only in its own mount namespace and ends with it.
if [ -z "${SATIN_TEST_SPACE-}" ] && [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
  SATIN_TEST_SPACE=1 exec unshare -m bash "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/servers.sh"
disk=$work/disk
trap 'stop_servers; mountpoint -q "$disk" && umount -l "$disk"; leave' EXIT
export NAPS_HASTE=$work/haste
long=("$SATIN_BIN/../tests/e2e/naps" 300 11) long_answer=2048
more=${1-}

stands () { "$satin" inspect --insecure "$1" >/dev/null 2>&1; }
has_end () { "$satin" inspect --insecure "$1" 2>/dev/null | grep -q '^state  *finished,'; }
generation () { sqlite3 "$files/${1##*/}" "SELECT value FROM run WHERE key = 'generation'" 2>/dev/null || echo 0; }
newer () { [ "$(generation "$1")" -gt "$2" ]; }
said () { grep -q "^satin: checkpoint '.*$1" "$work/begun.words"; }
# The message was printed at most once a minute.
said_once () { [ "$(grep -c "checkpoint '.*$1" <<<"$words")" -le $((1 + (SECONDS - began) / 60)) ]; }
begin_long () { # FILE OPTIONS…
  local file=$1
  shift
  rm -f "$NAPS_HASTE"
  began=$SECONDS
  begin "$satin" run -n 2 --workers 1 --interval 0.2 --insecure --checkpoint "$file" "$@" -- "${long[@]}"
}

# comes_back NAME FILE WORDS BREAK MEND: the commands BREAK and MEND break and mend the store; WORDS are in the message.
comes_back () {
  local name=$1 file=$2 wanted=$3 break=$4 mend=$5 before
  begin_long "$file"
  ok "$name: a run begins" wait_for $((20 * slow)) stands "$file"
  $break
  ok "$name: it is reported" wait_for $((90 * slow)) said "$wanted"
  $mend
  before=$(generation "$file")
  ok "$name: when the store works again, the run publishes again" wait_for $((60 * slow)) newer "$file" "$before"
  touch "$NAPS_HASTE"
  ended
  is "$name: the answer" "$answer" "$long_answer"
  is "$name: the exit code" "$code" 0
  ok "$name: it was reported once" said_once "$wanted"
  ok "$name: the checkpoint is finished" has_end "$file"
}

# The store stays broken to the end: the answer is printed; the results of a suspended run are kept on this host, and it ends
# with 4.
to_the_end () {
  local name=$1 file=$2 wanted=$3 break=$4 mend=$5 kept
  begin_long "$file"
  ok "$name, to the end: a run begins" wait_for $((20 * slow)) stands "$file"
  $break
  touch "$NAPS_HASTE"
  ended
  $mend
  is "$name, to the end: the answer is given" "$answer" "$long_answer"
  is "$name, to the end: the exit code" "$code" 0
  ok "$name, to the end: it is reported" grep -q "checkpoint '.*$wanted" <<<"$words"
  begin_long "${file%.db}-2.db" --name ends
  ok "$name, suspended: a run begins" wait_for $((20 * slow)) stands "${file%.db}-2.db"
  $break
  try "$satin" suspend ends
  ended
  $mend
  is "$name, suspended: it ends with 4" "$code" 4
  kept=$(sed -n "s/.*is kept in '\\([^']*\\)'.*/\\1/p" <<<"$words" | head -n 1)
  ok "$name, suspended: the message says where the results are kept" test -s "$kept"
  touch "$NAPS_HASTE"
  try "$satin" resume "$kept"
  is "$name, suspended: a resume from there gives the answer" "$answer" "$long_answer"
}

# at_the_start NAME BREAK MEND: the store is broken from the start of the run.
at_the_start () {
  rm -f "$NAPS_HASTE"
  $2
  try "$satin" run -n 2 --insecure --checkpoint "$uri/never.db" -- "${long[@]}"
  $3
  is "$1: at the start the run ends with 4" "$code" 4
  ok "$1: … and names the URI" grep -q "checkpoint '${uri/:\/\/*@/:\/\/}/never.db'" <<<"$words"
}

go_down () { touch "$work/dav/down"; }
come_up () { rm "$work/dav/down"; }
read_only () { chmod 555 "$files"; }
writable () { chmod 777 "$files"; }
fill () { dd if=/dev/zero of="$disk/filler" bs=4k 2>/dev/null; }
room () { rm "$disk/filler"; }
fault () { echo "$1" >"$work/s3/fault"; }
s3_down () { fault down; }
s3_refuse () { fault refuse; }
s3_full () { fault full; }
s3_good () { rm "$work/s3/fault"; }

down=$(printf '  Require all granted\n  Options +FollowSymLinks\n  RewriteEngine on\n  RewriteCond %s/dav/down -f\n  RewriteRule .* - [R=503,L]' "$work")
if DAV_MORE=$down start_dav "$work/dav"; then
  files=$work/dav/root/files
  comes_back 503 "$uri/down.db" "503" go_down come_up
  at_the_start read-only read_only writable
  if [ -n "$more" ]; then
    to_the_end 503 "$uri/ends.db" "503" go_down come_up
    comes_back read-only "$uri/locked.db" "cannot write" read_only writable
    to_the_end read-only "$uri/locked-ends.db" "cannot write" read_only writable
  fi
else skip "503 and read-only" "$why"; fi

if start_s3 "$work/s3"; then
  files=$work/s3/data/satin/files
  to_the_end "s3, full" "$uri/full.db" "full" s3_full s3_good
  if [ -n "$more" ]; then
    comes_back "s3, 503" "$uri/down.db" "503" s3_down s3_good
    comes_back "s3, refusing" "$uri/refuse.db" "refuses" s3_refuse s3_good
    at_the_start "s3, refusing" s3_refuse s3_good
    at_the_start "s3, 503" s3_down s3_good
  fi
else skip "s3, full" "$why"; fi

mkdir "$disk"
if [ -z "${SATIN_TEST_SPACE-}" ] || ! mount -t tmpfs -o size=800k,mode=777 tmpfs "$disk" 2>/dev/null; then
  skip full "no tmpfs can be mounted here"
elif start_sftp "$work/sftp"; then
  files=$disk
  rmdir "$work/sftp/files" && ln -s "$disk" "$work/sftp/files"
  export HOME=$work/sftp/home
  comes_back full "$uri/full.db" "cannot write" fill room
  [ -z "$more" ] || to_the_end full "$uri/full-ends.db" "cannot write" fill room
  # A host whose key is only in /etc/ssh/ssh_known_hosts, as on a cluster.
  mkdir -p "$work/other/.ssh" "$work/etc"
  cp "$HOME/.ssh/id_ed25519" "$work/other/.ssh"
  cp "$HOME/.ssh/known_hosts" "$work/etc/ssh_known_hosts"
  if mount --bind "$work/etc" /etc/ssh 2>/dev/null; then
    rm -f "$disk"/*.db
    touch "$NAPS_HASTE"
    HOME=$work/other try "$satin" run -n 1 --checkpoint "$uri/known.db" -- "${long[@]}"
    is "sftp: a host that /etc/ssh/ssh_known_hosts knows" "$answer:$code" "$long_answer:0"
    sed -i 's/ssh-ed25519 .*/ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIJa0cO0Nn3fVx3oXkYJ1mJtq7bW1cF4kq3mWm8Xl1Qx/' "$work/etc/ssh_known_hosts"
    HOME=$work/other try "$satin" run -n 1 --checkpoint "$uri/known-2.db" -- "${long[@]}"
    is "sftp: … with another key there" "$code" 4
    umount /etc/ssh
  else skip "sftp: a host that only the machine knows" "nothing can be mounted on /etc/ssh"; fi
  stop_servers
  touch "$NAPS_HASTE"
  if SFTP_OPTIONS='-P mkdir' start_sftp "$work/sftp"; then
    try "$satin" run -n 1 --checkpoint "$uri/plain.db" -- "${long[@]}"
    is "sftp: a server on which no folder can be made" "$answer:$code" "$long_answer:0"
  else skip "sftp: a server on which no folder can be made" "$why"; fi
  # A node that is in its trial when the run ends may leave the trial file; the next writer removes it (place-sweep.c).
  is "full: no unfinished file is left" "$(find "$disk" -name '*.tmp' ! -name '*.try.*' -printf '%f %s ')" ""
else skip full "$why"; fi
finish
