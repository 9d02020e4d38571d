#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Bad input of every kind: one message that says what is wrong and where, and the right exit code. Nothing is left behind.
. "$(dirname "$0")/lib.sh"

bad () # NAME CODE COMMAND…
{
  local name=$1 wanted=$2
  shift 2
  try "$@"
  is "$name: exit code" "$code" "$wanted"
  ok "$name: one sentence" one_line
  is "$name: nothing on stdout" "$answer" ""
}

fib=$SATIN_BIN/fib
bad "no nodes" 2 "$satin" run -n 0 -- "$fib" 5
bad "nodes that are no number" 2 "$satin" run -n x -- "$fib" 5
bad "a number with a letter behind" 2 "$satin" run -n 2x -- "$fib" 5
bad "no workers" 2 "$satin" run -w 0 -- "$fib" 5
bad "an unknown option" 2 "$satin" run --frobnicate -- "$fib" 5
bad "no program" 2 "$satin" run -n 2
bad "an interval of 0" 2 "$satin" run --interval 0 -- "$fib" 5
bad "a name that is a path" 2 "$satin" run --name ../x -- "$fib" 5
bad "no verb" 2 "$satin"
bad "an unknown verb" 2 "$satin" frobnicate
is "the verb is named" "$words" "satin: unknown verb 'frobnicate' (see \`satin --help\`)"
bad "a misspelt verb" 2 "$satin" stauts
is "the right one is named" "$words" "satin: unknown verb 'stauts'; did you mean 'status'? (see \`satin --help\`)"
bad "an abbreviated verb" 2 "$satin" help susp
is "the whole one is named" "$words" "satin: unknown verb 'susp'; did you mean 'suspend'? (see \`satin --help\`)"
bad "a misspelt option" 2 "$satin" status --jsn
is "the right option is named" "$words" "satin: unknown option '--jsn'; did you mean '--json'? (see \`satin status --help\`)"
bad "a misspelt option with a value" 2 "$satin" run --checkpiont=x -- "$fib" 5
ok "the right option is named, too" grep -qF "unknown option '--checkpiont'; did you mean '--checkpoint'?" <<<"$words"
bad "an option without its value" 2 "$satin" run -n
is "the message says so" "$words" "satin: option '-n' needs a value (see \`satin run --help\`)"
bad "a value of an option that has none" 2 "$satin" run --tcp=1 -- "$fib" 5
bad "a value after a letter that is no number" 2 "$satin" run -n2x -- "$fib" 5
is "its value is named" "$words" "satin: -n takes a number from 1 to 1024, not '2x' (see \`satin run --help\`)"
bad "a flag with a value behind it" 2 "$satin" log -fx nobody
try "$satin" run -n2 -w1 -- "$fib" 10
is "values may follow their letters directly" "$code:$answer" "0:55"
try "$satin" run "$fib" -w1 10
is "… and among the program's arguments" "$code:$answer" "0:55"
try "$fib" -w2 10
is "a program alone takes -w too" "$code:$answer" "0:55"
bad "a program alone without workers" 2 "$fib" -w 0 10
try "$satin" help run
is "help of a verb" "$code:$words:$(grep -c -e '^  -n, --nodes=' <<<"$answer")" "0::1"
is "… is what the verb's --help prints" "$answer" "$("$satin" run --help)"
try "$satin" -V
is "-V is the version" "$answer" "$("$satin" version)"

# A file that cannot be written is reported before anything is computed, with plain quotes in every locale.
for locale in C C.UTF-8; do
  refused="satin: stats file '$work/nö/x': cannot write in the folder '$work/nö': No such file or directory"
  bad "$locale: figures of a program alone in no folder" 1 env LC_ALL=$locale "$fib" 5 --stats "$work/nö/x"
  is "$locale: … and the message says why" "$words" "$refused"
  bad "$locale: of a run" 1 env LC_ALL=$locale "$satin" run --stats "$work/nö/x" -- "$fib" 5
  is "$locale: … and says why" "$words" "$refused"
  bad "$locale: of a run, among the program's arguments" 1 env LC_ALL=$locale "$satin" run -- "$fib" 5 --stats "$work/nö/x"
  is "$locale: … and says why, too" "$words" "$refused"
  bad "$locale: sites in no folder" 2 env LC_ALL=$locale "$satin" run --sites "$work/nö/x" -- "$fib" 5
  ok "$locale: GLib's quotes are plain" grep -qF "Failed to open file '$work/nö/x'" <<<"$words"
done
try "$satin" run -- "$fib" 5 --stats "$work/figures.json"
ok "--stats among the program's arguments works" grep -q '"jobs"' "$work/figures.json"
bad "a program that is not there" 1 "$satin" run -- "$work/absent"
bad "a program that is a folder" 1 "$satin" run -- "$work"
echo hello >"$work/plain"
bad "a program that is a plain file" 1 "$satin" run -- "$work/plain"
bad "a program that is not a Satin program" 1 "$satin" run -n 3 -- /bin/true
bad "a program that fails" 1 "$satin" run -n 3 -- /bin/false
bad "a checkpoint in no folder" 4 "$satin" run --checkpoint "$work/no/such/file" -- "$fib" 5
bad "a checkpoint below a file" 4 "$satin" run --checkpoint "$work/plain/file" -- "$fib" 5
bad "solo: a checkpoint in no folder" 4 "$fib" 5 --checkpoint "$work/no/such/file"
bad "a run that is not there" 1 "$satin" suspend nobody
bad "the status of an unknown run" 1 "$satin" status nobody
bad "a checkpoint that is not there" 4 "$satin" resume "$work/absent.satin"

# Instance files.
: >"$work/empty.tsp"
head -c 5000 "$satin" >"$work/binary.tsp"
mkdir "$work/folder.tsp"
printf 'NAME: x\nTYPE: TSP\nDIMENSION: 5\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 0 1\n' >"$work/cut.tsp"
for kind in absent empty binary folder cut; do
  bad "tsp: $kind instance" 1 "$SATIN_BIN/tsp" "$work/$kind.tsp"
done
for kind in absent empty binary folder; do
  for app in clique puzzle15 knapsack jobshop qap sat raytrace; do
    bad "$app: $kind file" 1 "$SATIN_BIN/$app" "$work/$kind.tsp"
  done
done
says () # NAME APP TEXT SENTENCE: APP refuses a file with TEXT, and SENTENCE is in the message
{
  printf '%b' "$3" >"$work/bad.text"
  bad "$1" 1 "$SATIN_BIN/$2" "$work/bad.text"
  ok "$1: it says why" grep -qF "$4" <<<"$words"
}
says "a graph that is cut off" clique 'p edge 4 3\ne 1 2\ne 2 3\n' "ends after 2 of 3"
says "a graph without vertices" clique 'p edge 0 0\n' "number of vertices"
says "a graph that is too large" clique 'p edge 4000000000 1\ne 1 2\n' "number of vertices"
says "more edges than fit in memory" clique 'p edge 4096 2147483647\n' "ends after 0"
says "an edge to an unknown vertex" clique 'p edge 2 1\ne 1 3\n' "a vertex"
says "an edge before the first line" clique 'e 1 2\np edge 2 1\n' "before its"
says "garbage after a graph" clique 'p edge 2 1\ne 1 2\nand more\n' "no line of a graph"
says "a board of 15 tiles" puzzle15 '1 2 3 4 5 6 7 8 9 10 11 12 13 14 0\n' "has 16 tiles"
says "a tile that is there twice" puzzle15 '0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 14\n' "twice"
says "a board of the wrong parity" puzzle15 '0 2 1 3 4 5 6 7 8 9 10 11 12 13 14 15\n' "no moves"
says "a board that is missing" puzzle15 '79 42 540860\n' "ends before"
bad "a board that is not there" 1 "$SATIN_BIN/puzzle15" "$SATIN_SOURCE/apps/puzzle15/korf.txt" 2
bad "no board" 2 "$SATIN_BIN/puzzle15"
says "a knapsack without capacity" knapsack '2\n' "ends where"
says "a knapsack that is cut off" knapsack '2 10\n1 1\n2\n' "a weight"
says "more items than fit in memory" knapsack '2000000000 1\n' "number of items"
says "a number with too many digits" knapsack '1 99999999999999999999999\n1 1\n' "too many digits"
says "numbers with too many digits together" knapsack '2 1\n1 1000000000000000000.5\n1 0.123456789\n' "digits"
says "an item of negative weight" knapsack '1 5\n1 -1\n' "a weight is expected"
says "an incomplete packing after the items" knapsack '2 5\n1 1\n2 2\n1\n' "ends early"
says "garbage after the items" knapsack '1 5\n1 1\nmore\n' "behind the end"
says "a job shop that is cut off" jobshop '2 2\n0 3 1 4\n1 2\n' "a machine is expected"
says "a job that is twice on a machine" jobshop '1 2\n0 3 0 4\n' "job 1 is twice on machine 0"
says "garbage after a job shop" jobshop '1 1\n0 3\nmore\n' "behind the last job"
says "more jobs than fit in memory" jobshop '2000000000 1\n' "number of jobs"
says "more facilities than fit in memory" qap '2000000000\n0\n' "number of facilities"
says "no facilities" qap '0\n' "number of facilities"
says "a matrix that is cut off" qap '2\n0 1\n1 0\n0 5\n5' "element 2 of row 2 of matrix 2"
says "a matrix of words" qap '2\n0 1\n1 x\n0 5\n5 0\n' "line 3: element 2 of row 2 of matrix 1 is expected"
says "flows too large together" qap '2\n0 2000000000\n1 0\n0 2000000000\n5 0\n' "too large together"
says "a number that is too large" qap '2\n0 99999999999999999999\n' "must lie between"
says "garbage after the matrices" qap '1\n0\n0\nmore\n' "behind the two matrices"
bad "no instance" 2 "$SATIN_BIN/qap"
bad "an unknown option of qap" 2 "$SATIN_BIN/qap" --upper
says "a formula without its line" sat '1 2 0\n' "p cnf"
says "a formula that is cut off" sat 'p cnf 2 2\n1 2 0\n' "ends after 1 of 2"
says "a formula that is cut off within a clause" sat 'p cnf 2 2\n1 2 0\n1 2' "ends after 1 of 2"
says "a literal of an unknown variable" sat 'p cnf 2 1\n3 0\n' "a literal"
says "more variables than fit in memory" sat 'p cnf 2000000000 1\n1 0\n' "number of variables"
says "garbage after the clauses" sat 'p cnf 2 1\n1 2 0\n1 0\n' "more stands here"
says "garbage after the end" sat 'p cnf 2 1\n1 2 0\n%\n0\nx\n' "behind the end"
bad "no formula" 2 "$SATIN_BIN/sat"
bad "no knapsack" 2 "$SATIN_BIN/knapsack" a b
printf 'c DOS\r\np cnf 3 3\r\n1 -2 0 2\r\n0\r\n-3 -1 0\r\n%%\r\n0\r\n\r\n' >"$work/dos.cnf"
try "$SATIN_BIN/sat" "$work/dos.cnf"
is "a formula with DOS line ends" "$answer" $'s SATISFIABLE\nv 1 2 -3 0'
printf '# DOS\r\n3 104\r\n\r\n# flows\r\n0 5 2 5 0 3\r\n2 3 0\r\n\r\n0 8 1\r\n8 0 9\r\n1 9 0\r\n\032' >"$work/dos.dat"
try "$SATIN_BIN/qap" "$work/dos.dat"
is "a quadratic assignment with DOS line ends" "$answer" $'cost 94\nplacing 3 1 2'
printf '2\n1 3\n0 2\n5 -1\n4 7\n' >"$work/two.dat"
try "$SATIN_BIN/qap" "$work/two.dat"
is "a quadratic assignment with asymmetric matrices" "$answer" $'cost 16\nplacing 1 2'
printf 'p cnf 0 0\n' >"$work/none.cnf"
try "$SATIN_BIN/sat" "$work/none.cnf"
is "an empty formula" "$answer" $'s SATISFIABLE\nv 0'
printf 'p cnf 2 2\n1 2 0 0\n' >"$work/lost.cnf"
try "$SATIN_BIN/sat" "$work/lost.cnf"
is "an empty clause" "$answer" "s UNSATISFIABLE"
printf '3 \r\n5\r\n\r\n4 9\r\n3 0\r\n2.5 5\r\n0 0 0\r\n' >"$work/dos.knap"
try "$SATIN_BIN/knapsack" "$work/dos.knap"
is "a knapsack with DOS line ends" "$answer" $'value 5.5\nitems 2 3'
view='v\nfrom 0 -9 0\nat 0 0 0\nup 0 0 1\nangle 45\nhither 1\nresolution 8 8\n'
says "a scene without a view" raytrace 'b 0 0 1\n' "angle is missing"
says "a view without a size" raytrace 'v\nfrom 1 0 0\nangle 9\n' "resolution is missing"
says "a view without a direction" raytrace "${view}at 0 -9 0\n" "no direction"
says "a view in the direction of its top" raytrace "${view}up 0 1 0\n" "no direction"
says "a view of 360 degrees" raytrace "${view}angle 360\n" "angle of view"
says "a picture that is too large" raytrace "${view}resolution 99999999 1\n" "width in pixels"
says "a body without a surface" raytrace "${view}s 0 0 0 1\n" "before any surface"
says "a sphere that is cut off" raytrace "${view}f 1 1 1 1 1 1 0 0\ns 0 0 0" "radius is expected"
says "a sphere without a centre" raytrace "${view}f 1 1 1 1 1 1 0 0\ns nan 0 0 1" "centre is expected"
says "a polygon of two corners" raytrace "${view}f 1 1 1 1 1 1 0 0\np 2\n1 1 1\n2 2 2\n" "number of corners"
says "more corners than fit in memory" raytrace "${view}f 1 1 1 1 1 1 0 0\np 60000000\n1 1 1\n" "a corner"
says "a cone that is flat" raytrace "${view}f 1 1 1 1 1 1 0 0\nc 0 0 0 1 0 0 0 0\n" "where its base is"
says "a word of another format" raytrace "${view}f 1 1 1 1 1 1 0 0\ntorus 1\n" "line 9: 'torus' is no word"
bad "a cone of the classic" 1 "$SATIN_BIN/raytrace" --classic "$SATIN_SOURCE/apps/raytrace/things.nff"
bad "no scene" 2 "$SATIN_BIN/raytrace"
bad "two scenes" 2 "$SATIN_BIN/raytrace" a b
bad "a picture of size 0" 2 "$SATIN_BIN/raytrace" --balls 1 --size 0x5
bad "too many levels of balls" 2 "$SATIN_BIN/raytrace" --balls 60
bad "a picture in no folder" 1 "$SATIN_BIN/raytrace" --balls 1 --size 9 --png "$work/no/such.png"
printf '%b' "# DOS\r\n${view//\\n/\\r\\n}f 1 1 1 1 1 1 0 0\r\ns 0 0 0 3\r\n\032" >"$work/dos.nff"
try "$SATIN_BIN/raytrace" "$work/dos.nff"
is "a scene with DOS line ends" "$(tail -n 1 <<<"$answer")" "eye 81 hits 37 reflected 37 refracted 0 shadow 0"
printf '%b' "$view" >"$work/empty.nff"
try "$SATIN_BIN/raytrace" "$work/empty.nff"
is "an empty scene" "$(tail -n 1 <<<"$answer")" "eye 81 hits 0 reflected 0 refracted 0 shadow 0"
says_life () # NAME TEXT SENTENCE
{
  printf '%b' "$2" >"$work/bad.rle"
  bad "$1" 1 "$SATIN_BIN/life" "$work/bad.rle" 3
  ok "$1: it says why" grep -qF "$3" <<<"$words"
}
for kind in absent empty binary folder; do
  bad "life: $kind file" 1 "$SATIN_BIN/life" "$work/$kind.tsp" 3
done
says_life "a pattern in a file that is not text" '!\0000' "not text"
says_life "a pattern that is cut off" 'x = 3, y = 3\nbob$2bo$3o' "line 2: the file ends before its '!'"
says_life "a pattern of an unknown rule" 'x = 1, y = 1, rule = B3/S23/4\no!' "not of Life's kind"
says_life "a rule that fills the plane" 'x = 1, y = 1, rule = B03/S23\no!' "would fill"
says_life "a pattern of other cells" 'x = 1, y = 1\n2oC!' "no cell"
says_life "more cells than fit in memory" 'x = 1, y = 1\n99999999999999999999o!' "more than"
says_life "too many rows" 'x = 1, y = 1\n999999999$o!' "larger than"
says_life "a number without a cell" 'x = 1, y = 1\no3!' "before the '!'"
bad "no pattern" 2 "$SATIN_BIN/life"
bad "no generation" 2 "$SATIN_BIN/life" "$SATIN_SOURCE/apps/life/gun.rle"
bad "a generation before the first" 2 "$SATIN_BIN/life" "$SATIN_SOURCE/apps/life/gun.rle" -1
bad "--every 0" 2 "$SATIN_BIN/life" "$SATIN_SOURCE/apps/life/gun.rle" 9 --every 0
bad "--keep 0" 2 "$SATIN_BIN/life" "$SATIN_SOURCE/apps/life/gun.rle" 9 --keep 0
bad "--border without a number" 2 "$SATIN_BIN/life" "$SATIN_SOURCE/apps/life/gun.rle" 9 --border
printf '#N DOS\r\n#C ! o$\r\n\r\nx = 3 , y=3,rule=23/3\r\n2o1b\r\n$2\r\no2$o!\r\nafter it\r\n' >"$work/dos.rle"
try "$SATIN_BIN/life" "$work/dos.rle" 0 --rle "$work/out.rle"
is "a pattern with DOS line ends" "$answer" "generation 0 population 5"
is "and the pattern that is written" "$(cat "$work/out.rle")" $'x = 2, y = 4, rule = B3/S23\n2o$2o2$o!'
printf 'bo$2bo$3o!' >"$work/bare.rle"
try "$SATIN_BIN/life" "$work/bare.rle" 4000
is "a pattern without its first line" "$answer" "generation 4000 population 5"
printf '!' >"$work/none.rle"
try "$SATIN_BIN/life" "$work/none.rle" 8 --every 4
is "an empty pattern" "$answer" $'generation 0 population 0\ngeneration 4 population 0\ngeneration 8 population 0'
bad "no graph" 2 "$SATIN_BIN/clique"
printf 'c DOS\r\n\r\np col 3 3\r\ne 1 2\r\ne 2 3\r\ne 1 3\r\n\032' >"$work/dos.clq"
try "$SATIN_BIN/clique" "$work/dos.clq"
is "a graph with DOS line ends" "$answer" $'clique 3\nvertices 1 2 3'
printf '0 1 2 3\r 4 5 6 7 8 9 10 11 12 13 14 15\r\n' >"$work/dos.txt"
try "$SATIN_BIN/puzzle15" "$work/dos.txt"
is "a board that is solved" "$(head -n 1 <<<"$answer")" "length 0 nodes 1"

bad "tsp on nodes: empty instance" 1 "$satin" run -n 2 -- "$SATIN_BIN/tsp" "$work/empty.tsp"
bad "tsp on nodes: absent instance, with a checkpoint" 1 \
  "$satin" run -n 2 --checkpoint "$work/tsp.satin" -- "$SATIN_BIN/tsp" "$work/absent.tsp"

# Standard input and pipes: a program alone reads them, nodes cannot.
hello=$SATIN_SOURCE/apps/life/gun.rle
try sh -c "'$SATIN_BIN/life' '$hello' 30"
generation=$answer
try sh -c "'$SATIN_BIN/life' /dev/stdin 30 <'$hello'"
is "standard input of a program alone" "$code:$answer" "0:$generation"
try sh -c "'$SATIN_BIN/life' /dev/stdin 30 --checkpoint '$work/stdin.db' <'$hello'"
is "… with a checkpoint" "$code:$answer" "0:$generation"
is "… which keeps it" "$(sqlite3 "$work/stdin.db" "SELECT count (*) FROM constant WHERE name = 'input//dev/stdin'")" 1
try sh -c "'$satin' run -n 2 -- '$SATIN_BIN/life' /dev/stdin 30 <'$hello'"
is "standard input of nodes is refused" "$code:$answer" "1:"
ok "… with the reason" grep -q "'/dev/stdin' is not a regular file" <<<"$words"
mkfifo "$work/fifo"
try "$satin" run -n 2 -- "$SATIN_BIN/life" "$work/fifo" 30
is "a pipe, too" "$code:$answer" "1:"
ok "… with the reason, too" grep -q "fifo' is not a regular file" <<<"$words"
finish
