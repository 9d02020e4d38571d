#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The promises of storage/places/place.h, with servers on loopback. A store whose server is not installed is skipped with the
# reason. With `all`: ftps, too.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/servers.sh"
place=$(dirname "$SATIN_BIN")/tests/e2e/place-check
top=$(mktemp -d /tmp/satin-place-XXXXXX)
export TMPDIR=$top
export HOME=$top/home
mkdir -p "$HOME"
trap 'stop_servers; rm -rf "$top"' EXIT
number=0

tap () { # STATUS TEXT
  number=$((number + 1))
  if [ "$1" -eq 0 ]; then echo "ok $number - $2"; else echo "not ok $number - $2"; sed 's/^/# /' "$top/said"; fi
}
skip () { number=$((number + 1)); echo "ok $number - $1 # SKIP $2"; }

promises () { # NAME [FOLDER]: checks the place at $uri, which is FOLDER on this host
  "$place" "$uri/a.db" >"$top/said" 2>&1; tap $? "$1 keeps all promises"
  [ "$1" != sftp ] && ! is_long || { "$place" "$uri/with a blank~.db" >"$top/said" 2>&1; tap $? "$1, a name with a blank"; }
  if [ -n "${2-}" ]; then
    mkdir -p "$2"; : >"$2/empty.db"; chmod 666 "$2/empty.db"
    timeout 60 "$place" --count 1 "$uri/empty.db" >"$top/said" 2>&1 && [ "$("$place" --show "$uri/empty.db" 2>>"$top/said")" = 1 ]
    tap $? "$1: an empty file counts as no file and can be replaced"
  fi
  [ "$1" != s3rver ] || { skip "$1: none of three writers loses the update of another" "s3rver ignores conditions"; return; }
  local pids=() good=0
  for _ in 1 2 3; do "$place" --count 4 "$uri/number" >>"$top/said" 2>&1 & pids+=($!); done
  for pid in "${pids[@]}"; do wait "$pid" || good=1; done
  [ "$good" -eq 0 ] && [ "$("$place" --show "$uri/number" 2>>"$top/said")" = 12 ]
  tap $? "$1: none of three writers loses the update of another"
}

# TERM: prints the milliseconds that it took, and those for which it chose to wait
put () { "$place" --put run1 "$1" "$uri/locked.db" 2>>"$top/said"; }
# A writer waits ten seconds for a lock of another writer (place-lock.c), most of them by choice.
quick () { local took; took=$(put "$1") && { [ "${took% *}" -lt 5000 ] || [ "${took#* }" -lt 2500 ]; }; }
patient () { local took; took=$(put "$1") && [ "${took% *}" -ge 10000 ] && [ "${took#* }" -lt 10500 ]; }
# Locks of dead writers of this host, who died at different requests; and a lock of another host, as if made by a run's
# coordinator in term 1.
locks () { # NAME FILES [slow]
  local n left=0 good=0 lock=$2/locked.db.lock
  of_term_1 () { mkdir -p "$lock/satin-by-00000000-1-1-1-run1-1"; chmod 777 "$lock" "$lock"/*; }
  put 1 >/dev/null
  for n in 3 4 5 6 7 8 9; do
    { SATIN_CRASH_AT=request:$n "$place" --put run1 1 "$uri/locked.db"; } >/dev/null 2>&1
    [ -d "$lock" ] && left=$((left + 1))
    quick 1 || { good=1; echo "after a death at request $n: $(put 1) ms" >>"$top/said"; }
  done
  tap $good "$1: no writer waits for a dead process of this host"
  [ "$left" -ge 1 ]; tap $? "$1: … at least one of which had a lock"
  of_term_1; quick 2; tap $? "$1: no writer waits for the coordinator of an earlier term"
  [ ! -e "$lock" ]; tap $? "$1: … and releases its lock"
  [ -z "${3-}" ] || { of_term_1; patient 1; tap $? "$1: a writer waits ten seconds for another host's lock"; }
}

refused () { # NAME WORDS: place-check must fail, with WORDS in its message and without the password
  ! "$place" "$uri/a.db" >"$top/said" 2>&1 && grep -q "$2" "$top/said" && ! grep -q secret "$top/said"
  tap $? "$1"
}

if start_sftp "$top/sftp"; then
  HOME=$top/sftp/home promises sftp "$top/sftp/files"
  HOME=$top/sftp/home locks sftp "$top/sftp/files" slow
  mkdir -p "$top/other/.ssh"
  HOME=$top/other refused "sftp: an unknown host is not trusted" known_hosts
  cp "$top/sftp/home/.ssh/known_hosts" "$top/other/.ssh/"
  ssh-keygen -q -t ed25519 -N '' -f "$top/other/.ssh/id_ed25519"
  HOME=$top/other refused "sftp: a key that may not log in" "cannot"
else skip sftp "$why"; fi
if start_ftp "$top/ftp"; then promises ftp "$top/ftp/root/files"; locks ftp "$top/ftp/root/files"; else skip ftp "$why"; fi
# Each transfer by ftps takes libcurl a fifth of a second, so ftps is left to `make stores`.
[ "${1-}" = all ] && for how in yes start; do
  if TLS=$how start_ftp "$top/ftps-$how"; then
    CURL_CA_BUNDLE=$top/ftps-$how/ca.pem promises "ftps ($how)"
    refused "ftps ($how): a certificate of an unknown authority" certificate
  else skip ftps "$why"; fi
done
if start_dav "$top/dav"; then promises http "$top/dav/root/files"; locks http "$top/dav/root/files"; else skip http "$why"; fi
if TLS=yes start_dav "$top/davs"; then
  if is_long; then CURL_CA_BUNDLE=$top/davs/ca.pem promises https; fi
  CURL_CA_BUNDLE=$top/davs/ca.pem "$place" --count 1 "$uri/number" >"$top/said" 2>&1; tap $? "https: a certificate of a given authority"
  refused "https: a certificate of an unknown authority" certificate
else skip https "$why"; fi
if DAV_MORE=$(printf '  AuthType Basic\n  AuthName x\n  AuthUserFile %s/users\n  Require valid-user' "$top/auth") start_dav "$top/auth"; then
  echo "me:$(openssl passwd -apr1 secret)" >"$top/auth/users"; chmod 644 "$top/auth/users"
  refused "http: no password" "credentials"
  echo "machine 127.0.0.1 login me password secret" >"$HOME/.netrc"
  "$place" "$uri/a.db" >"$top/said" 2>&1; tap $? "http: a password from .netrc"
  rm "$HOME/.netrc"
else skip "http with a password" "$why"; fi
if start_s3 "$top/s3"; then
  promises s3 "$top/s3/data/satin/files"
  AWS_SECRET_ACCESS_KEY=secret refused "s3: a wrong key" credentials
  AWS_REGION=elsewhere refused "s3: another region" credentials
else skip s3 "$why"; fi
if start_s3rver "$top/s3rver"; then promises s3rver; else skip s3rver "$why"; fi
# Every call of libcurl fails once.
fails () { # NAME STEP
  env "${shim[@]}" "$(dirname "$place")/place-fail" "$uri/fails.db" "$2" >"$top/said" 2>&1
  tap $? "$1: whichever call fails, one of the two files is there"
  [ "$(awk '{ n += $2 } END { print n + 0 }' "$top/said")" -ge 50 ]; tap $? "$1: … and many calls can fail"
}
if make_shim "$top/shim"; then
  stop_servers
  if start_dav "$top/dav2"; then fails http 1; else skip "http, failing" "$why"; fi
  if start_sftp "$top/sftp2"; then HOME=$top/sftp2/home fails sftp 9; else skip "sftp, failing" "$why"; fi
else skip "calls of libcurl that fail" "$why"; fi
uri=gopher://h refused "an unknown scheme" "schemes are"
uri=sftp:/ refused "a URI without a host" "URI"
uri=sftp://u:secret@h refused "a password in a URI" netrc
uri='s3://b/k?x=1' refused "a query" "does not name a file"
uri='sftp://h/a%22b%22c' refused "quotes" "quotes, backslashes"
uri='sftp://h/a%2Fb' refused "a slash that is part of a name" "%2F cannot be used"
echo "1..$number"
