#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The network on which other tests run (wan.c): it delays, loses, cuts and refuses packets as ordered, and does nothing else.
. "$(dirname "$0")/netns.sh"
. "$(dirname "$0")/lib.sh"

# Prints the milliseconds until host B refuses a connection from host A; 0 if there is no reply within SECONDS.
knock () # A B [SECONDS]
{
  local before code
  before=$(date +%s%N)
  at "$1" timeout "${3:-5}" bash -c "exec 3<>/dev/tcp/10.9.$2.1/9" 2>/dev/null
  code=$?
  [ $code -ne 124 ] && echo $((($(date +%s%N) - before) / 1000000 + 1)) || echo 0
}
answers () { [ "$(knock "$1" "$2" "${3-}")" -gt 0 ]; }
silent () { [ "$(knock "$1" "$2" 1)" -eq 0 ]; }

ok "three hosts" wan_begin 3 || finish
ok "each reaches each" eval 'answers 1 2 && answers 2 3 && answers 3 1'
ok "this is host 1" eval 'ip -o -4 address show wan0 | grep -q "10\.9\.1\.1/16"'
ok "orders" wan "delay 1 2 100" "delay 2 1 50 50"
took=$(knock 1 2)
ok "delay: both ways count" [ "$took" -ge 150 ]
quick () { [ "$(knock 3 2)" -lt 150 ]; } # on a busy machine it may take longer
ok "delay: of one pair only" wait_for 20 quick
wan "delay * * 0" "cut 1 2"
ok "cut: nothing arrives there" silent 1 2
ok "cut: replies in that direction do not arrive, either" silent 2 1
ok "cut: the other host is reached" answers 1 3
wan "join 1 2"
ok "join" answers 1 2
wan_cut 3
ok "a host that is cut off" eval 'silent 3 1 && silent 2 3'
wan_join 3
ok "and joined" eval 'answers 3 1 && answers 2 3'
wan "wall 1 2"
ok "wall: one way" eval 'silent 1 2 && answers 2 1'
wan "open 1 2" "loss * * 100"
ok "loss of all" silent 1 2
wan "loss * * 0" "rate 1 2 8" # 8 kbit/s: 60 bytes take 60 ms
took=$(knock 1 2)
ok "rate" [ "$took" -ge 50 ]
ok "an unknown order is refused" eval '! wan "flood 1 2" >/dev/null'
finish
