# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # plans.sh and runs.sh share them
# The sizes of the runs of make plans. Sourced by plans.sh, which sets SIZE: tiny (make check), full or night. A command is
# NAME|WORDS|ANSWER. ANSWER is the first line that it prints; '=' means the answer of the program alone with one worker.

apps=$source/apps
sleep_nodes=8 sleep_workers=2 sleep_ms=100 sleep_depth=10 fewer_nodes=6
# Paper 001's TSP takes 1106 s, with intervals of 1, 2 and 5 minutes, which are 5, 11 and 27 % of the run.
share_often=0.05 share_middle=0.11 share_seldom=0.27
sleep_lanes=3 # runs of sleep at once
sent_kinds="jobs results keepers saves offers shared other" # of --stats: sent_…_bytes
interval_others='0.5 2 5' # seconds; --interval of the command interval_command, besides auto
interval_command=0
# Paper 001's TSP takes 1106 s, its Raytracer 322 s with a file of 12 MB. "balls" writes nearly as much in a few seconds.
suspend_commands=(
  "tsp random95|tsp $apps/tsp/random95.tsp --upper 7166|length 7166"
  "raytrace classic|raytrace --balls 3 --size 2000x2000 --classic|rays 20857647 checksum 0ce968e5031af981"
  "raytrace balls|raytrace --balls 5 --size 2000x2000|="
)
suspend_every=(1 3 1) # in each round, or in each third one
overhead_commands=(
  "tsp random80|tsp $apps/tsp/random80.tsp --upper 7401|length 7401"
  "uts T3L|uts T3L|nodes 111345631 depth 17844 leaves 89076904"
  "nqueens 16|nqueens 16|14772512"
  "integrate 1e-12|integrate --epsilon 1e-12|="
  "life bar|life $apps/life/bar.rle 1000|generation 1000 population 712868"
  "life bar, borders + 1 MB|life $apps/life/bar.rle 1000 --border 1000000|generation 1000 population 712868"
  "life bar, + 1 MB, each 4th kept|life $apps/life/bar.rle 1000 --border 1000000 --keep 4|generation 1000 population 712868"
)
case $SIZE in
  full) ;;
  night)
    # The same crash in a run four times as long, in which the fixed costs of a crash weigh a fourth.
    sleep_depth=12 interval_others='1 20'
    overhead_commands=(
      "tsp random80|tsp $apps/tsp/random80.tsp --upper 7401|length 7401"
      "uts T1L|uts T1L|nodes 102181082 depth 13 leaves 81746377"
      "uts T3L|uts T3L|nodes 111345631 depth 17844 leaves 89076904"
      "nqueens 17|nqueens 17|95815104"
      "integrate 1e-13|integrate --epsilon 1e-13|="
      "life bar|life $apps/life/bar.rle 2000|="
      "qap random14|qap $apps/qap/random14.dat|cost 430330"
    )
    # Paper 000's instance, if SATIN_DATA has it.
    if [ -e "${SATIN_DATA-}/qap/nug22.dat" ]; then
      overhead_commands[0]="qap nug22|qap $SATIN_DATA/qap/nug22.dat|cost 3596"
    fi
    ;;
  tiny)
    sleep_lanes=1 sleep_nodes=4 sleep_workers=1 sleep_ms=50 sleep_depth=9 fewer_nodes=3 share_often='' share_seldom=''
    suspend_every=(1)
    suspend_commands=("tsp random75|tsp $apps/tsp/random75.tsp --upper 6954|length 6954")
    overhead_commands=("uts T1|uts T1|nodes 4130071 depth 10 leaves 3305118")
    interval_others=''
    ;;
  *) stop "SIZE is tiny, full or night, not '$SIZE'" ;;
esac
work_s=$(awk -v ms=$sleep_ms -v depth=$sleep_depth 'BEGIN { printf "%.3f", ms * 2 ^ depth / 1000 }')
sleep_answer="leaves $((1 << sleep_depth))"
