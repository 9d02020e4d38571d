#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Coordinators that die at a step of a publication (SATIN_CRASH_AT, storage/README), of a base or a delta, by each scheme. After
# each death the file at the URI can be opened and holds all rows that were reported as published there. `make check` tries a
# few steps. `all`, optionally with the schemes to try, tries every step of every request, which takes many minutes.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/servers.sh"
check=$SATIN_BIN/../tests/e2e/delta-check
trap 'stop_servers; leave' EXIT
export TMPDIR=$work/tmp
mkdir "$TMPDIR"
export FROM=300000 # a base of this many bytes may have a delta
base=6000 each=30 times=2
more=${1-} schemes=("${@:2}")

found () { timeout 60 "$check" "$file" 2>&1; }
told () { tail -n 1 "$work/answer" | cut -d' ' -f1; }
# A dead writer's lock may stay. The next writer on this host takes it at once (place.sh).

# NAME POINT N: one death, and a check of the file that it leaves. FALSE if the point was not reached.
die () {
  local now
  SATIN_CRASH_AT=$2:$3 try "$check" "$file" "$rows" "$each" "$times" end
  said=$(told | grep -x '[0-9]*' || echo "$said")
  rows=$((rows + each * times)) n_tried=$((n_tried + 1))
  now=$(found)
  if [[ ! $now =~ ^[0-9]+$ ]] || [ "$now" -lt "$said" ]; then
    echo "# $1: $2:$3: told $said, found $now"
    n_bad=$((n_bad + 1))
  else
    said=$now
  fi
  [ "$code" = 137 ] && n_dead=$((n_dead + 1))
  [ "$code" = 137 ]
}

begin_scheme () { # NAME
  file=$uri/dies.db rows=$base n_bad=0 n_dead=0 n_tried=0
  try "$check" "$file" 0 "$base" 1
  said=$(told | grep -x '[0-9]*' || echo 0)
  is "$1: the rows before the first death" "$said" "$base"
}

end_scheme () { # NAME MINIMUM: checks the file; at least MINIMUM deaths must have happened
  is "$1: all published rows are there after each of $n_dead deaths" "$n_bad" 0
  ok "$1: … which are enough" [ "$n_dead" -ge "$2" ]
  try "$check" "$file" "$rows" "$each" 1 end
  is "$1: a last coordinator publishes all rows" "$(found)" "$(told)"
  is "$1: … in one file" "$(find "$files" -name 'dies.db*' ! -name '*.tmp' ! -name '*.try*' | wc -l)" 1
}

some_deaths () { # NAME POINT:N…
  local name=$1 at
  shift
  begin_scheme "$name"
  for at in "$@"; do die "$name" "${at%:*}" "${at#*:}"; done
  end_scheme "$name" $#
}

all_deaths () { # NAME
  local point n
  begin_scheme "$1"
  for point in $(grep -rhoE 'crash_point \("[a-z-]+"\)' "$SATIN_SOURCE/storage" "$SATIN_SOURCE/coordinator" \
      | sed 's/.*("//; s/").*//' | sort -u); do
    n=1
    while die "$1" "$point" $n; do n=$((n + 1)); done
    echo "# $1: $point: $((n - 1))"
  done
  end_scheme "$1" 20
}

wanted () { [ -z "$more" ] || [ ${#schemes[@]} -eq 0 ] || [[ " ${schemes[*]} " == *" $1 "* ]]; }
deaths () { # NAME POINT:N…: these points; all points if `all` was given
  if [ -n "$more" ]; then all_deaths "$1"; else some_deaths "$@"; fi
}

if wanted file && [ -n "$more" ]; then
  mkdir "$work/files"
  uri=$work/files files=$work/files
  deaths file
fi
if wanted sftp; then
  if start_sftp "$work/sftp"; then
    files=$work/sftp/files
    HOME=$work/sftp/home deaths sftp send-delta:1 sent-delta:1 send:1 sent:1 read-back:1 \
      remove-delta:1 removed-delta:1 request:4 sending:4 requested:17 request:25
  else skip sftp "$why"; fi
fi
if wanted ftp && [ -n "$more" ]; then
  if start_ftp "$work/ftp"; then files=$work/ftp/root/files; deaths ftp; else skip ftp "$why"; fi
fi
if wanted ftps && [ -n "$more" ]; then
  if TLS=start start_ftp "$work/ftps"; then
    files=$work/ftps/root/files
    CURL_CA_BUNDLE=$work/ftps/ca.pem deaths ftps
  else skip ftps "$why"; fi
fi
if wanted http && [ -n "$more" ]; then
  if start_dav "$work/dav"; then files=$work/dav/root/files; deaths http; else skip http "$why"; fi
fi
if wanted https; then
  if TLS=yes start_dav "$work/davs"; then
    files=$work/davs/root/files
    CURL_CA_BUNDLE=$work/davs/ca.pem deaths https sending:4 request:21 read-back:1
  else skip https "$why"; fi
fi
if wanted s3; then
  if start_s3 "$work/s3"; then files=$work/s3/data/satin/files; deaths s3 sending:4 requested:10 remove-delta:1; else skip s3 "$why"; fi
fi
is 'no temporary file of a dead coordinator is left' "$(find "$TMPDIR" -name 'satin-??????' | wc -l)" 0
finish
