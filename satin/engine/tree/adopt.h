/* SPDX-License-Identifier: BSD-3-Clause */
/* What others hold, seen from the stacks: which frames have something known below (the watch list),
 * which slots are marked as lent to a holder, and who is told that he holds in vain. */
#pragma once

#include "trace.h"

/* A slot that this thread has claimed (or a private one of its own): is it held elsewhere? TRUE: it
 * waits for the holder now, under a new loan number, and ENGINE_ADOPT was raised. */
gboolean adopt_claimed (Engine *engine, Stack *stack, SatinSlot_ *slot);
/* Owner: the same for child `number` of a frame on the watch list, raised quietly: mailbox_tell has
 * to follow before anything else runs. `finished` (set when TRUE): the holder has the result and
 * need only send it. */
gboolean adopt_child (Stack *stack, KnownNode *parent, SatinSlot_ *slot, guint32 number,
                      gboolean *finished);

/* Waits in the first slot of a frame, a kept one, for what somebody holds under this digest at the
 * path of the frame's job. FALSE: nobody does; the slot is untouched. TRUE: ENGINE_ADOPT was
 * raised; the caller waits. Owner. */
gboolean adopt_kept (Stack *stack, SatinSlot_ *slot, SatinSlot_ *job, const Digest *digest);

/* Owner: a job begins at the bottom or on top of a waiting frame. */
void watch_begin (Stack *stack, SatinSlot_ *job);
/* Owner: it has ended; `self` runs on (NULL: the stack is empty). If it is not `finished` but was
 * left, nobody is told that he holds in vain. */
void watch_end (Stack *stack, SatinSlot_ *self, gboolean finished);
/* The same for all jobs above `self`, which are finished. */
void watch_settle (Stack *stack, SatinSlot_ *self);
/* Owner: a child of a watched frame starts; after it has returned call watch_settle. */
void watch_child (Stack *stack, SatinSlot_ *child, guint32 number);
/* Owner: the node if `self` is watched, else NULL. */
KnownNode *watch_node (Stack *stack, SatinSlot_ *self);
/* Owner: news came; `self` runs and its children end at `top`. */
void watch_news (Stack *stack, SatinSlot_ *self, SatinSlot_ *top);

/* The slot of this path has just got its result: tells who holds it or something below it in vain.
 */
void adopt_cover (Engine *engine, const char *path);
/* Owner: the job has recalled a state that stands for its children with numbers less than
 * `children`: tells who holds them, or something below them, in vain. */
void adopt_cover_phases (Stack *stack, SatinSlot_ *job, guint32 children);
