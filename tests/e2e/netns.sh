# SPDX-License-Identifier: BSD-3-Clause
# Several hosts on one machine: network namespaces s1, s2 … with a wide-area network between them (wan.c). Usage in a script:
#
#   . "$(dirname "$0")/netns.sh"    before lib.sh: runs the script again in mount, network and process namespaces of its
#                                   own, which remove all that the script leaves behind; or skips the script
#   . "$(dirname "$0")/lib.sh"
#   wan_begin 5                     host N has the address 10.9.N.1; the script itself is on host 1
#   wan "delay * * 25 5" "cut 1 3"  orders to the network; wan returns when they are carried out
#   at 3 COMMAND…                   runs COMMAND on host 3. With `command = $(away 3)` in a file of sites, nodes on host 3
#                                   have the state and temporary folder $work/host3 and an empty environment
if [ -z "${SATIN_TEST_SPACE-}" ]; then
  space=(unshare --mount --net --pid --fork --mount-proc --kill-child)
  [ "$(id -u)" -eq 0 ] || space=(unshare --map-root-user "${space[@]:1}")
  for why in "no namespaces can be made here:true" "no ip and nsenter (packages iproute2, util-linux):ip -V; nsenter -V" \
    "no TUN device:test -c /dev/net/tun" "tests/e2e/wan is not built:test -x '${SATIN_BIN:-.}/../tests/e2e/wan'"; do
    if ! "${space[@]}" sh -c "${why#*:}" >/dev/null 2>&1; then
      echo "1..0 # SKIP ${why%%:*}"
      exit 0
    fi
  done
  SATIN_TEST_SPACE=$(id -u) exec "${space[@]}" bash "$0" "$@"
fi

wan_begin () # NUMBER: makes that many hosts; skips the whole script if the rights for it are missing
{
  wan_make "$1" && return
  sed 's/^/# /' "$work/wan.said" 2>/dev/null
  [ "$SATIN_TEST_SPACE" -eq 0 ] && return 1
  echo "1..0 # SKIP no network between namespaces can be made here without being root"
  exit 0
}

wan_make ()
{
  local i spaces=()
  mount -t tmpfs tmpfs /run && mkdir /run/netns || return
  for ((i = 1; i <= $1; i++)); do
    if [ "$i" -eq 1 ]; then ip netns attach s1 $$; else ip netns add "s$i"; fi || return
    mkdir "$work/host$i"
    spaces+=("s$i")
  done
  mkfifo "$work/wan.pipe"
  : >"$work/wan.said"
  "$SATIN_BIN/../tests/e2e/wan" "$work/wan.pipe" "${spaces[@]}" >"$work/wan.said" 2>&1 &
  wan_pid=$!
  disown
  wan_lines=1
  wait_for 5 wan_has_said && grep -qx ready "$work/wan.said"
}

wan_has_said () { [ "$(wc -l <"$work/wan.said")" -ge "$wan_lines" ]; }

wan () # LINE…
{
  local line
  for line in "$@"; do
    wan_lines=$((wan_lines + 1))
    echo "$line" 1<>"$work/wan.pipe"
    wait_for 5 wan_has_said && [ "$(sed -n "${wan_lines}p" "$work/wan.said")" = ok ] && continue
    echo "# the network does not know: $line"
    return 1
  done
}

# wan_cut N drops all packets between host N and the others; wan_join N ends that.
wan_cut () { wan "cut $1 *" "cut * $1"; }
wan_join () { wan "join $1 *" "join * $1"; }

at () # NUMBER COMMAND…
{
  local host=$1
  shift
  nsenter --net="/run/netns/s$host" -- "$@"
}

away () { echo "nsenter --net=/run/netns/s$1 -- $(bare "$work/host$1") sh -c"; }

# The process ids of the nodes on host NUMBER: they have the folder that `away` gives, and run PROGRAM.
nodes_on () # NUMBER PROGRAM
{
  local pid
  for pid in $(grep -lsF "TMPDIR=$work/host$1" /proc/[0-9]*/environ | sed 's,/proc/,,; s,/environ,,'); do
    [ "/proc/$pid/exe" -ef "$2" ] && echo "$pid"
  done
}
