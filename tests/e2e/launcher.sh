#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The launcher, with nodes that are shell scripts. The launcher learns of a run only from files, so the scripts can play every
# way in which a run can end.
. "$(dirname "$0")/lib.sh"

cat >"$work/node" <<'END'
#!/bin/bash
# $1 is the part to play. The founder acts; the other nodes wait for the end.
folder=$SATIN_RUN_FOLDER founder=${SATIN_FOUNDER-}
join () { echo "unix:$folder/none" >"$folder/.$$"; mv "$folder/.$$" "$folder/node-$$.address"; }
end () { echo "$1" >"$folder/.$$"; ln "$folder/.$$" "$folder/end" 2>/dev/null; rm "$folder/.$$"; }
wait_for_end () { until [ -e "$folder/end" ]; do sleep 0.02; done; exit; }
wait_for_two () { until [ "$(ls "$folder"/*.doomed | wc -l)" -eq 2 ]; do sleep 0.02; done; }
figures () { echo '{"workers":2,"jobs":5,"work_s":0.25,"checkpoint_bytes":7,"saves":null}' >"$folder/node-$$.stats"; }
part=$1
case $part in *-refusal | silent) ;; *) join ;; esac
case $part in
  silent | deaf) exec sleep 60 ;;
  doomed) : >"$folder/$$.doomed" ;;
esac
if [ -n "$founder" ]; then
  case $part in
    answer) figures; printf 'two\nlines\n' >"$folder/answer"; echo hello >"$folder/answer.err"; end 0 ;;
    early-refusal) echo "satin: checkpoint 'x' is foreign" >&2; exit 3 ;;
    late-refusal | all-refusal)
      if [ "$part" = all-refusal ]; then
        until [ -s "$folder/gone" ]; do sleep 0.02; done
        while [ -e "/proc/$(cat "$folder/gone")" ]; do sleep 0.02; done
      fi
      echo "checkpoint 'x' is in use" >"$folder/error"; end 5; exit 5 ;;
    bad-input) echo "tsp: 'x' is empty" >"$folder/answer.err"; end 1 ;;
    mute) echo "[0.001] this node is master" >&2; end 12 ;;
    logged) echo "job /0/1 failed" >&2; end 6 ;;
    arguments) printf '%s|' "$@" >"$folder/answer"; pwd >>"$folder/answer"; end 0 ;;
    lonely | noting)
      until [ -s "$folder/gone" ]; do sleep 0.02; done
      # $2 is the file with the launcher's messages.
      until grep -q 'exit code 9' "$2"; do sleep 0.02; done
      echo fine >"$folder/answer"; end 0 ;;
    doomed) wait_for_two; kill -9 $$ ;;
    added) # plays a node that `satin add` started and that hears of the end late
      sleep 1.5 >/dev/null 2>&1 & echo unix:none >"$folder/node-$!.address"; echo $! >"$2"; end 75 ;;
  esac
  exit
fi
case $part in
  lonely | noting)
    [ "$part" = lonely ] && echo "no luck" >&2 || echo "[0.001] this node is master" >&2
     echo $$ >"$folder/.gone"; mv "$folder/.gone" "$folder/gone"; exit 9 ;;
  doomed) wait_for_two; kill -9 $$ ;;
  all-refusal) echo $$ >"$folder/.gone"; mv "$folder/.gone" "$folder/gone"; exit 5 ;;
  early-refusal | late-refusal) exec sleep 60 ;;
esac
figures
wait_for_end
END
chmod +x "$work/node"
no_folder () { [ -z "$(ls "$runs" 2>/dev/null)" ]; }

try "$satin" run -n 3 --stats "$work/stats" -- "$work/node" answer
is "the answer is copied to stdout" "$answer" $'two\nlines'
is "main's messages are copied to stderr" "$words" hello
is "done" "$code" 0
ok "nothing stays" no_folder
ok "figures are summed over the nodes" grep -q '"nodes": 3, "workers": 6, "jobs": 15,' "$work/stats"
ok "an unknown figure is null" grep -q '"saves": null' "$work/stats"

try "$satin" run -n 3 -- "$work/node" early-refusal
is "a founder that refuses before it has joined gives the code" "$code" 3
is "and the message" "$words" "satin: checkpoint 'x' is foreign"
ok "the other nodes are ended" no_nodes
try "$satin" run -n 3 -- "$work/node" late-refusal
is "a refusal by file gives the code" "$code" 5
is "and the message, once" "$words" "satin: checkpoint 'x' is in use"
ok "nothing stays of a refusal" no_folder
try "$satin" run -n 2 -- "$work/node" all-refusal
is "a node that refuses before the founder does is no crash" "$code:$words" "5:satin: checkpoint 'x' is in use"
ok "nothing stays of their refusals" no_folder
try "$satin" run -n 2 -- "$work/node" bad-input
is "a main that fails gives its code" "$code" 1
is "and its messages" "$words" "tsp: 'x' is empty"
ok "nothing stays of that either" no_folder
try "$satin" run -n 2 -- "$work/node" mute
is "a main that fails without a message gives its code" "$code" 12
is "and one sentence" "$words" "satin: the program ended with exit code 12 and said nothing"
try "$satin" run -n 2 --name poison -- "$work/node" logged
is "a failed job gives 6" "$code" 6
ok "the message in the log is shown" grep -qx "job /0/1 failed" <<<"$words"
ok "the logs stay" [ -d "$runs/poison" ]
ok "and are named" grep -q "$runs/poison" <<<"$words"

cd "$work" || exit 1
try "$satin" run -- ./node arguments "" "a b" -- --name x
is "arguments and folder arrive as they are" "$answer" "arguments||a b|--|--name|x|$work"

try "$satin" run -n 2 -- "$work/node" lonely "$work/words"
is "a run goes on without a node that ends" "$answer" fine
ok "its end is reported with its last message" grep -q "ended (exit code 9): no luck; 1 goes on" <<<"$words"
try "$satin" run -n 2 -- "$work/node" noting "$work/words"
ok "lines of the log are not taken for a last message" grep -q "ended (exit code 9); 1 goes on" <<<"$words"
try "$satin" run -n 2 --name dead -- "$work/node" doomed
is "a run without nodes is an error" "$code" 1
is "each death is reported" "$(grep -c "died (signal 9)" <<<"$words")" 2
ok "the folder of the dead stays" [ -d "$runs/dead" ]
try "$satin" run -n 1 --name dead -- "$work/node" answer
is "its name can be used again" "$code" 0
try "$satin" suspend dead
is "a run that has ended cannot be suspended" "$code" 1

try "$satin" run -n 1 -- "$work/node" added "$work/added"
is "a suspended run ends with 75" "$code" 75
ok "when the added nodes are gone, too" gone "$(cat "$work/added")"

# No node answers, so the suspension cannot take place. An interrupt after it kills the nodes.
begin "$satin" run -n 2 --name deaf -- "$work/node" deaf
deaf_are_up () { [ "$(find "$runs" -path '*/deaf/*' -name 'node-*.address' | wc -l)" -eq 2 ]; }
ok "two nodes that do not listen" wait_for $((10 * slow)) deaf_are_up
kill -TERM "$begun"
ok "the launcher tries to suspend it" wait_for $((10 * slow)) grep -q suspending "$work/begun.words"
kill -INT "$begun"
ended
is "a second signal quits" "$code" 1
ok "and kills" wait_for $((5 * slow)) no_nodes
# No node has joined, so the launcher has nothing to wait for.
begin "$satin" run -n 2 --name deaf -- "$work/node" silent
two_sleep () { [ "$(for pid in $(our_nodes); do cat "/proc/$pid/comm"; done | grep -cx sleep)" -eq 2 ]; }
ok "two nodes that do not join" wait_for $((10 * slow)) two_sleep
kill -TERM "$begun"
ended
is "a run that has not begun is suspended at once" "$code" 75
ok "and no process is left" wait_for $((5 * slow)) no_nodes
try "$satin" run -n 2 -- "$work/node" silent
is "a program that does not join in time is no Satin program" "$code" 1
ok "in one line" one_line

longest=$(printf 'x%.0s' {1..64})
try "$satin" run --name "$longest" -- "$work/node" answer
is "a name may be 64 letters long" "$code" 0
try "$satin" run --name "${longest}x" -- "$work/node" answer
is "but no longer" "$code" 2
finish
