#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Sites with `again = yes`: a node is replaced while the run goes on if it was killed, if its time is over, or if its host was
# away. A node that left on request is not replaced, and no node starts after the run is suspended. Batch jobs: slurm.sh.
. "$(dirname "$0")/lib.sh"
export TMPDIR=$work/tmp
mkdir "$TMPDIR" "$work/far"
away=$(bare "$work/far")
far_nodes () { grep -lsF "TMPDIR=$work/far" /proc/[0-9]*/environ | sed 's,/proc/,,; s,/environ,,'; }
# shellcheck disable=SC2046
trap 'kill -9 $(far_nodes) 2>/dev/null; leave' EXIT

: >"$work/tries"
cat >"$work/two" <<END
[site here]
nodes = 2
workers = 1
[site there]
hosts = a b
workers = 1
again = yes
command = $away sh -c
END
printf '[site here]\nnodes = 2\nworkers = 1\nagain = yes\n' >"$work/here"
# Sets here and there to the nodes of RUN at these sites that are up, one a line: NAME PID. One `satin status` answers for both:
# these functions are called often.
look_at () # RUN
{
  local name pid site state _
  here='' there=''
  while read -r name pid site state _; do
    [[ $state == up && $site =~ ^(here|there)$ ]] && printf -v "$site" '%s%s %s\n' "${!site}" "$name" "$pid"
  done < <("$satin" status "$1" 2>/dev/null)
}
at () { look_at "$1"; printf %s "${!2}"; } # RUN SITE
counts () { look_at "$1"; here=${here//[!$'\n']/} there=${there//[!$'\n']/}; [ "${#here}:${#there}" = "$2" ]; } # RUN HERE:THERE
one_of () { at "$1" "$2" | tail -n 1; }
lacks () { look_at "$1"; [[ $'\n'${!2} != *$'\n'"$3"$'\n'* ]]; } # RUN SITE NODE
said () { grep -c "$1" "$work/begun.words"; }

choose_heavy
begin "$satin" run --sites "$work/here" --name local -- "${heavy[@]}"
ok "two nodes of this host" wait_for $((20 * slow)) counts local 2:0
victim=$(one_of local here)
kill -9 "${victim#* }"
ok "the killed one is off the roster" wait_for $((20 * slow)) lacks local here "$victim"
ok "another one starts" wait_for $((30 * slow)) counts local 2:0
kill -9 "$(master_of local)"
ok "the master is killed: there are two again" wait_for $((30 * slow)) eval 'counts local 2:0 && [ "$(said "died (signal 9)")" -eq 2 ]'
finished
is "the answer" "$code:$answer" "0:$heavy_answer"
is "each replacement is reported" "$(grep -c "^satin: another node starts at site 'here' in [0-9]* s$" <<<"$words")" 2
ok "no process is left" wait_for 10 no_nodes

begin "$satin" run --sites "$work/two" --name two -- "${heavy[@]}"
ok "two nodes here and two there" wait_for $((20 * slow)) counts two 2:2
victim=$(at two here | grep -v " $(master_of two)$" | tail -n 1)
kill -9 "${victim#* }"
ok "again = no: the killed one is gone" wait_for $((20 * slow)) counts two 1:2
leaver=$(one_of two there)
try "$satin" leave two "${leaver% *}"
is "another one leaves on request" "$code" 0
ok "… and is gone" wait_for $((20 * slow)) counts two 1:1
victim=$(one_of two there)
kill -9 "${victim#* }"
ok "again = yes: the killed one is off the roster" wait_for $((20 * slow)) lacks two there "$victim"
# If the leaver or the killed node of the other site were replaced, they would have started before this one.
ok "… and is replaced, but neither the leaver nor the node of the other site is" wait_for $((30 * slow)) counts two 1:1
victim=$(one_of two there)
kill -TERM "${victim#* }"
ok "a node whose time is over leaves" wait_for $((20 * slow)) lacks two there "$victim"
ok "… and another one starts" wait_for $((30 * slow)) counts two 1:1
finished
is "the answer over two sites" "$code:$answer" "0:$heavy_answer"
is "… with two nodes started anew" "$(grep -c "^satin: another node starts at site 'there'" <<<"$words")" 2

# `satin add` replaces the nodes that it has added: its process stays as long as the run goes on.
cat >"$work/more" <<END
[site here]
nodes = 1
workers = 1
again = yes
[site there]
hosts = a
workers = 1
again = yes
command = $away sh -c
END
begin "$satin" run -n 1 -w 1 --name more --listen 127.0.0.1 -- "${heavy[@]}"
ok "one node" wait_for $((20 * slow)) up more 1
"$satin" add more --sites "$work/more" >"$work/more.answer" 2>"$work/more.words" &
adder=$!
ok "two are added" wait_for $((20 * slow)) counts more 1:1
for site in here there; do
  victim=$(one_of more $site)
  kill -9 "${victim#* }"
  ok "added: the killed one at '$site' is off the roster" wait_for $((20 * slow)) lacks more $site "$victim"
  ok "… and another one starts" wait_for $((30 * slow)) counts more 1:1
done
leaver=$(one_of more here)
try "$satin" leave more "${leaver% *}"
ok "added: one leaves on request" wait_for $((20 * slow)) lacks more here "$leaver"
victim=$(one_of more there)
kill -TERM "${victim#* }"
ok "added: the time of the other is over" wait_for $((20 * slow)) lacks more there "$victim"
ok "… it is replaced; the one that left is not" wait_for $((30 * slow)) counts more 0:1
finished
is "the answer with added nodes" "$code:$answer" "0:$heavy_answer"
is "… the launcher has started none" "$(grep -c 'another node starts' <<<"$words")" 0
wait "$adder"
is "… satin add has started three, and ends with the run" \
  "$?:$(sed 's/ in [0-9]* s$//' "$work/more.words" | sort | uniq -c | tr -s ' ')" \
  "0: 1 satin: another node starts at site 'here'
 2 satin: another node starts at site 'there'"
is "… and has named all five nodes" "$(grep -o "'here'$\|'there'$" "$work/more.answer" | sort | uniq -c | tr -s ' \n' ' ')" \
  " 2 'here' 3 'there' "

# All nodes are killed, the added ones, too: no node founds the run again, and no process waits for that.
begin "$satin" run -n 1 -w 1 --name nomore -- "${heavy[@]}"
ok "one node again" wait_for $((20 * slow)) up nomore 1
"$satin" add nomore --sites "$work/here" >/dev/null 2>"$work/more.words" &
adder=$!
ok "two are added to it" wait_for $((20 * slow)) counts nomore 2:0
# shellcheck disable=SC2046
kill -9 $(our_nodes)
ended
is "all are killed: the run is over" "$code" 1
wait "$adder"
is "… and satin add ends, too" "$?:$(grep -c '^satin: no member of the run is left$' "$work/more.words")" 1:1
ok "… no process is left" no_nodes

# A host that does not answer for a while is tried at longer and longer intervals; that is reported once.
cat >"$work/absent" <<END
[site here]
workers = 1
listen = 127.0.0.1
[site there]
hosts = a
workers = 1
again = yes
command = sh -c 'echo try >>$work/tries; [ -e $work/back ] || { echo no route >&2; exit 255; }; exec $away sh -c "\$1"' - {run}
END
tries () { [ "$(wc -l <"$work/tries")" -ge "$1" ]; }
begin "$satin" run --sites "$work/absent" --name absent -- "${heavy[@]}"
ok "a host that does not answer is tried again and again" wait_for $((40 * slow)) tries 3
: >"$work/back"
ok "… until it does" wait_for $((60 * slow)) counts absent 1:1
finished
is "the answer with that host" "$code:$answer" "0:$heavy_answer"
is "… one message for the host and one for all tries" "$words" \
  "satin: host 'a' of site 'there' is left out: no route
satin: site 'there' is tried again in 2 s, then at longer intervals, up to 10 minutes"

# A run that is stopped gets no node.
begin "$satin" run --sites "$work/here" --name stops --checkpoint "$work/c.db" -- "${heavy[@]}"
ok "two nodes with a checkpoint" wait_for $((20 * slow)) counts stops 2:0
logs () { find "$runs/stops" -name 'node-*.log' 2>/dev/null | wc -l; }
kill -9 "$(other_of stops)"
ok "one is killed" wait_for $((20 * slow)) eval '[ "$(said "another node starts")" -eq 1 ]'
try "$satin" suspend stops
ended
is "the run is suspended" "$code" 75
ok "no node starts after that" no_nodes
begin "$satin" resume "$work/c.db" --sites "$work/here" --name stops
ok "resumed: two nodes are up" wait_for $((20 * slow)) counts stops 2:0
kill -9 "$(other_of stops)"
ok "… and a killed one is replaced" wait_for $((30 * slow)) eval '[ "$(logs)" -eq 3 ] && counts stops 2:0'
finished
is "… its answer" "$code:$answer" "0:$heavy_answer"

# All nodes are gone: the run ends, and no node founds it again.
begin "$satin" run --sites "$work/here" --name all -- "${heavy[@]}"
ok "two nodes once more" wait_for $((20 * slow)) counts all 2:0
# shellcheck disable=SC2046
kill -9 $(our_nodes)
ended
is "all nodes are killed: the run is over" "$code:$(grep -c '^satin: all nodes are gone' <<<"$words")" 1:1
ok "… and no process is left" no_nodes

printf '[site a]\nnodes = 2\nagain = maybe\n' >"$work/wrong"
try "$satin" run --sites "$work/wrong" -- "${heavy[@]}"
is "a value that is neither yes nor no" "$code:$words" "2:satin: '$work/wrong': site 'a': again takes yes or no, not 'maybe'"
try "$satin" run --dry-run --sites "$work/here" -- "${heavy[@]}"
is "--dry-run shows it" "$(grep -c 'workers 1, again: ' <<<"$answer")" 2

. "$(dirname "$0")/servers.sh"
# shellcheck disable=SC2046
trap 'kill -9 $(far_nodes) 2>/dev/null; stop_servers; leave' EXIT
if start_sftp "$work/ssh"; then
  cat >"$work/ssh.conf" <<END
Host other
  HostName 127.0.0.1
  Port $(sed -n 's/^Port //p' "$work/ssh/config")
  IdentityFile $work/ssh/home/.ssh/id_ed25519
  UserKnownHostsFile $work/ssh/home/.ssh/known_hosts
END
  cat >"$work/ssh.sites" <<END
[site here]
workers = 1
listen = 127.0.0.1
[site there]
hosts = other
workers = 1
options = -F $work/ssh.conf
setup = TMPDIR=$work/far; export TMPDIR
again = yes
END
  begin "$satin" run --sites "$work/ssh.sites" --name ssh -- "${heavy[@]}"
  ok "ssh: two nodes are up" wait_for $((20 * slow)) counts ssh 1:1
  victim=$(one_of ssh there)
  kill -9 "${victim#* }"
  ok "ssh: one is killed" wait_for $((20 * slow)) lacks ssh there "$victim"
  ok "ssh: another one starts" wait_for $((30 * slow)) counts ssh 1:1
  finished
  is "ssh: the answer" "$code:$answer" "0:$heavy_answer"
else
  skip "ssh" "${why:-no sshd}"
fi
finish
