/* SPDX-License-Identifier: BSD-3-Clause */
/* Satin: divide-and-conquer programs in C (and C++) on machines that come and go.
 *
 * A job is a function of its arguments that may spawn other jobs and wait for them. Whatever is
 * spawned may run on another thread or another machine, and may run twice when a machine is lost;
 * hence the five laws: a job is pure, steady (child k of the same job is always the same job), a
 * pruned job returns the whole best value, main may run again elsewhere, and across a spawn, sync
 * or poll a job owns nothing but plain locals, since an abort may end it there.
 *
 * Members, arguments and results: int8_t … uint64_t, double, SatinBytes, SatinShared, SatinText,
 * any SATIN_RECORD or SATIN_LIST, and (as members and arguments) fixed arrays of them, written
 * (type, name, COUNT). int, long and the like differ between machines and do not compile. How the
 * words work stands in satin-frame.h: nothing there is meant to be used by name. */
#pragma once

#include "satin-type.h"

G_BEGIN_DECLS
#pragma GCC visibility push(default)

typedef struct SatinRun SatinRun; /* one run of a program: what main was given */
typedef struct SatinJob SatinJob; /* a job: its name, types and code; `name_job` is the object */

/* SATIN_RECORD (Name, (type, member), (type, member, COUNT) …)
 * A struct of 1 to 32 members together with its portable encoding. At file scope, in any file. */
#define SATIN_RECORD(Name, ...) SATIN_RECORD_ (Name, __VA_ARGS__)

/* SATIN_JOB (name, Result, (type, argument) …) { body }
 * A job of 0 to 8 arguments, passed by value; an array argument comes as a const pointer to the
 * job's own copy. The body returns Result, and does not call setjmp itself (a function that it
 * calls may). Everything that it spawned must be synced before it returns; otherwise the program
 * ends with a sentence that names the job. Defines the object `name_job`. */
#define SATIN_JOB(name, ...) SATIN_JOB_ (name, __VA_ARGS__)

/* The same in two halves, for headers and mutual recursion: SATIN_JOB_DECLARE (name, Result, …);
 * once before use, in any file; SATIN_JOB_DEFINE (name, Result, …) { body }, same words, once. */
#define SATIN_JOB_DECLARE(name, ...) SATIN_JOB_DECLARE_ (name, __VA_ARGS__)
#define SATIN_JOB_DEFINE(name, ...) SATIN_DEFINE_ (name, __VA_ARGS__)

/* Inside a job: starts `job` with these arguments. It may run elsewhere. *dest (of exactly the
 * job's result type) is filled by the next satin_sync, not before. SatinBytes in the arguments are
 * borrowed: the spawn takes its own reference. */
#define satin_spawn(job, ...) SATIN_SPAWN_ (job, __VA_ARGS__)

/* Inside a job: returns when all that it spawned is done and every dest is filled. SatinBytes that
 * come with the results are borrowed until the job returns. */
#define satin_sync() satin_sync_ (satin_frame_)

/* Inside a job: waits until one more of the spawned jobs has finished, fills its dest and returns
 * its number (int32_t): 0 for the first spawned since the last satin_sync …; a satin_call is not
 * counted. -1: none is left. The order may differ between two runs: spawn nothing, and return
 * nothing, that depends on it. satin_sync fills what has not been handed out. A child that this
 * thread runs itself is not interrupted: others that finish come after it. */
#define satin_sync_next() satin_sync_next_ (satin_frame_)

/* Inside a job: forgets all spawned jobs whose dest is not filled; none will be. What of them runs,
 * here or elsewhere, ends at its next sync or poll, and what it finds from then on does not count.
 * The job goes on, may spawn again, and the next satin_sync_next numbers from 0 again. */
#define satin_abort() satin_abort_ (satin_frame_)

/* Inside a long job without spawns: a poll, to be said every millisecond or so; costs a load and a
 * compare. Lets the job be aborted and suspended, and its node be saved. gboolean, FALSE; in a job
 * that was aborted the poll does not return. */
#define satin_aborted() satin_aborted_ (satin_frame_)

/* Inside a job: runs `job` here and now and is its result: satin_call (job, args…). It counts as a
 * child like any spawned one, and its result is kept like theirs. */
#define satin_call(job, ...) SATIN_CALL_ (job, __VA_ARGS__)

/* For functions that a job calls, a recursive search for example: the job says
 * `SatinHere here = satin_here ();` and passes it to them, by value. It is valid until the job's
 * next spawn, call, sync or keep, on the job's own thread. satin_poll (here) and satin_fail_here
 * (here, "…", …) are satin_aborted and satin_fail there; law 5 is for these functions, too. */
#define satin_here() satin_here_ (satin_frame_)
#define satin_poll(here) satin_poll_here_ (here)
#define satin_fail_here(here, ...) satin_fail_ ((here).stack, (here).self, (here).head, __VA_ARGS__)

/* satin_fail ("…", …), as printf. Inside a job: it cannot have a result, so the run ends with exit
 * code 6, and a message that names the job's path and arguments. The checkpoint stays. Does not
 * return. In a job that was aborted nothing fails. */
#define satin_fail(...) satin_fail_now_ (satin_frame_, __VA_ARGS__)

/* For a long sequence of phases in one job, an iterated simulation for example:
 *
 *   SATIN_KEEPS (State);
 *   State state = { initial }; satin_recall (&state);
 *   for (; state.step < steps; satin_keep (&state))
 *     {
 *       spawn what the state says; satin_sync ();
 *       state = what came of it; state.step++;
 *     }
 *
 * SATIN_KEEPS (Type); stands in the job before the other two and says what it keeps: a SATIN_RECORD
 * or any other type that may travel. */
#define SATIN_KEEPS(Type) SATIN_KEEPS_ (Type)

/* Before the job's first spawn or call. TRUE: this job was lost in the middle and runs again;
 * *state (Type *) is what it kept last. FALSE: nothing was kept, and *state is as it was. May wait
 * for another node. SatinBytes in it are borrowed until the next satin_keep or the job's end. */
#define satin_recall(state) SATIN_RECALL_ (state)

/* satin_keep (state). After a sync, with nothing spawned since: *state (const Type *, copied)
 * stands for all that the finished phases computed, and what they hold is released: from now on
 * only the SatinBytes and SatinShared in the state and in the job's arguments are valid. Costs
 * little more than the copy, so keep after each phase. It is a poll too, like satin_aborted. */
#define satin_keep(...) SATIN_KEEP_ (__VA_ARGS__)

/* Hands fresh bytes, (transfer full), to the running job, which owns them until it returns; outside
 * a job, in main, they live until the process ends. Returns them, now borrowed. Any thread. */
SatinBytes satin_bytes (GBytes *fresh);

/* SATIN_LIST (Name, Type)
 * A list: an array of any length (up to 2^32-1) of a type that may travel, and that may travel
 * itself: struct { const Type *at; uint64_t n; GBytes *held; }. Borrowed like SatinBytes. `held`
 * owns the items, and a part of them is a list too: (Name){ list.at + 10, 5, list.held }. NULL:
 * they are the program's own, as in (Name){ array, 3 }; a spawn, satin_root, satin_keep or
 * satin_improve copies them; no result is such. File scope. */
#define SATIN_LIST(Name, Type) SATIN_LIST_ (Name, Type)

/* satin_list (Name, items, n): a copy of `n` items at `items` (const Type *; NULL: they are zero),
 * owned by the running job until it returns; outside a job until the process ends. Any thread.
 * satin_join (Name, a, b): a list of the items of both, owned likewise. satin_items (Name, list) ->
 * Type *: the items of a list that satin_list made, to be written before it goes anywhere. */
#define satin_list(Name, items, n) satin_list_##Name (items, n)
#define satin_join(Name, a, b) satin_join_##Name (a, b)
#define satin_items(Name, list) satin_items_##Name (list)

/* SatinText: text in UTF-8 of any length; a struct with `text`, const char *, that ends with a NUL,
 * and `held`, as in a list. satin_text makes one as printf does, owned like satin_list's; what is
 * not UTF-8 is replaced. Any thread. */
SatinText satin_text (const char *format, ...) G_GNUC_PRINTF (1, 2);

/* Large bytes that many jobs read, the plane of a simulation for example, and that need not travel
 * with each of them: gives *bytes (transfer none) the name SatinShared, a small value that may
 * travel, but not in a SATIN_CONST or SATIN_BEST. Equal bytes have equal names. The name is
 * borrowed, like SatinBytes, until the running job returns; outside a job it lives until the
 * process ends. Any thread; takes the time of a SHA-256 of the bytes. */
SatinShared satin_share (SatinBytes bytes);

/* Inside a job: the bytes of a SatinShared, borrowed until the job returns (after a satin_keep:
 * until that). May wait for another node that has them: a job that was aborted ends here. NULL for
 * NULL. What main is to get goes there as SatinBytes. */
#define satin_shared(shared) satin_shared_ (satin_frame_, shared)

/* Loops. Both words define a job (int64_t from, int64_t to, int64_t grain, …) that cuts the range
 * [from, to) into halves down to `grain` and runs the halves as jobs. Up to five arguments of your
 * own follow. Spawn it, call it, make it the root. A grain of 0: about 2,048 pieces, whatever the
 * machine (law 2); give a larger one where an item takes less than a microsecond, or 1 where few
 * items take long.
 *
 * SATIN_REDUCE (name, Result, MERGE, (type, argument) …) { body }
 * The body returns what the piece [from, to) comes to; it may be empty. Result MERGE (Result a,
 * Result b) is associative and unites two neighbours, a before b. The pieces depend on the range
 * and the grain alone, so a sum of doubles is the same to the last bit on any nodes.
 *
 * SATIN_FOR (name, List, Type, (type, argument) …) { body }
 * The body returns the Type for the index `i`; the job's result is the List of them, in order,
 * where SATIN_LIST (List, Type). Each index is a poll.
 *
 * Both bodies are plain functions, so they spawn nothing; what is large goes to them as SatinShared
 * or by a SATIN_CONST. */
#define SATIN_REDUCE(name, Result, ...) SATIN_REDUCE_ (name, Result, __VA_ARGS__)
#define SATIN_FOR(name, List, ...) SATIN_FOR_EACH_ (name, List, __VA_ARGS__)

/* Inside a job: runs such a loop here and now and is its result: (name, from, to, grain, args…). */
#define satin_for(job, ...) SATIN_CALL_ (job, __VA_ARGS__)
#define satin_reduce(job, ...) SATIN_CALL_ (job, __VA_ARGS__)

/* SATIN_CONST (Type, name): one immutable value that every node has before any job starts. At file
 * scope. SATIN_CONST_DECLARE (Type, name); makes one that another file defines known here. */
#define SATIN_CONST(Type, name) SATIN_CONST_ (Type, name)
#define SATIN_CONST_DECLARE(Type, name) SATIN_CONST_DECLARE_ (Type, name)

/* satin_publish (run, name, value). In main, before the first satin_root: gives the constant its
 * value, const Type *value (copied). Publishing the same value again does nothing. */
#define satin_publish(run, name, ...) SATIN_PUBLISH_ (run, name, __VA_ARGS__)

/* The published value: const Type *, valid until the process ends. Any thread. Before it is
 * published the program ends with a sentence that names the constant. */
#define satin_const(name) ((const satin_const_##name *)satin_const_value_ (&name##_const))

/* SATIN_BEST (Type, name, MERGE, initial…)
 * One improving value, replicated to all nodes; `initial` is an initialiser. const Type *MERGE
 * (const Type *a, const Type *b) returns the better of the two: a total order (equal cost: the
 * smaller solution). What a job reads may lag behind and never goes back; it is a hint, never the
 * answer. At file scope. */
#define SATIN_BEST(Type, name, MERGE, ...) SATIN_BEST_ (Type, name, MERGE, __VA_ARGS__)
#define SATIN_BEST_DECLARE(Type, name) SATIN_BEST_DECLARE_ (Type, name)

/* SATIN_BEST_SHOW (name, function)
 * How people see the best value, in `satin status` for example: char *function (const Type *value)
 * returns a short text in UTF-8 for g_free; NULL: nothing is to be seen yet. It is called now and
 * then, by a thread of Satin's, and changes nothing. At file scope. */
#define SATIN_BEST_SHOW(name, function) SATIN_BEST_SHOW_ (name, function)

/* The best value known here, by value. Any thread. SatinBytes in it live until the process ends. */
#define satin_best(name) (*(const satin_best_##name *)satin_best_value_ (&name##_best))

/* satin_improve (name, value): merges *value (const Type *, copied) into it. Any thread. */
#define satin_improve(name, ...) SATIN_IMPROVE_ (name, __VA_ARGS__)

/* satin_root (run, job, &result, args…) -> gboolean. In main, any number of times, one after the
 * other: runs the job with all below it and fills result; SatinBytes in it are borrowed until main
 * returns. A main that runs again gets the results of finished roots at once. So root k is always
 * the same: it depends on main's arguments, inputs and the results before alone. FALSE: the run was
 * suspended or ended elsewhere, and then main returns satin_stopped (run) at once. */
#define satin_root(run, job, ...) SATIN_ROOT_ (run, job, __VA_ARGS__)

/* The exit code that main has to return after satin_root gave FALSE. */
int satin_stopped (SatinRun *run);

/* In main, before the first satin_root: reads a file once for the whole run; every later main, on
 * any machine, gets the same bytes. Returns them, (transfer none), until the run ends; NULL and
 * `error` when the file cannot be read, or is no regular file and this is a run of nodes. */
GBytes *satin_input (SatinRun *run, const char *path, GError **error);

/* SATIN_APP ("name", "USAGE", main_function)
 * Defines main (). int main_function (SatinRun *run, int argc, char **argv) gets the arguments
 * without Satin's own options and returns the exit code. The jobs are all that the program and its
 * libraries define by SATIN_JOB; no two have one name. (A list of them behind main_function, as
 * earlier versions wanted it, keeps the checkpoints of such a program valid.) */
#define SATIN_APP(name, usage, ...) SATIN_APP_ (name, usage, __VA_ARGS__)

/* A program with a main of its own; SATIN_APP is these two words around main_function. satin_open
 * takes Satin's options out of argv (NULL: there are none) and begins a run, or goes on from its
 * checkpoint. NULL and a SATIN_ERROR: its code is one of satin(1)'s exit codes. The words with
 * `run` are for the thread that opened it. Alone Satin takes no signal, prints nothing and ends no
 * process; the checkpoint has the roots' results; after satin_close another run may be opened. A
 * process that `satin run` started is the run's: satin_open returns in the master's alone, and what
 * that prints until it exits is the answer; in the others it serves the run, and ends with it.
 * More: A MAIN OF ITS OWN in satin(7). (int *argc, char ***argv, GError **error) -> SatinRun * */
#define satin_open(argc, argv, error) satin_open_ (SATIN_LAYOUT_, argc, argv, error)
#define SATIN_ERROR (g_quark_from_static_string ("satin"))

/* Ends the run and frees it, with what its results and inputs lend; jobs that still run end at
 * their next sync or poll, and are waited for. Returns 0, or the exit code of a run that stopped.
 */
int satin_close (SatinRun *run);

/* Asks the run to save what is finished and to stop: satin_root returns FALSE, satin_stopped 75.
 * Any thread between satin_open and satin_close; not in a signal handler. */
void satin_suspend (SatinRun *run);

/* Why the last run stopped, in one sentence, until the next satin_open; NULL: it did not. */
const char *satin_reason (void);

/* SATIN_APP_VERSION (n), n from 1 to 2^32-1, once in a program, at file scope. All builds that
 * state n compute the same results, so each may go on with a run or checkpoint of another. Raise n
 * whenever a job may return something else. Without it only the very build that began may go on. */
#define SATIN_APP_VERSION(n) SATIN_APP_VERSION_ (n)

#pragma GCC visibility pop
G_END_DECLS

#include "satin-frame.h"
#include "satin-words.h"

#include "satin-types.h"

#include "satin-macros.h"
