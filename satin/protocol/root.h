/* SPDX-License-Identifier: BSD-3-Clause */
/* The root: a slot like any other, whose lender is main at the master. It is run here, or adopted
 * from whoever holds it (a master that was falsely accused, the checkpoint). Driver's thread. */
#pragma once

#include "held.h"
#include "known.h"
#include "loans.h"

typedef enum
{
  ROOT_NONE,
  ROOT_WAITING, /* for the checkpoint to be opened */
  ROOT_RUNNING,
  ROOT_ADOPTED, /* its slot stands among the loans */
  ROOT_DONE
} RootState;

typedef struct
{
  RootState state;
  gboolean again; /* another node was master before this one */
  Loan *job;      /* owned */
  guint64 held;
} Root;

void root_done (Node *node);
void root_want (Node *node, const Loan *job);
/* Waiting: can it start now? Looked at after each event. */
void root_go_on (Node *node);
void root_result (Node *node, const Result *result);
/* The adopted root came back: run it here, or look for the next holder. */
void root_back (Node *node);
/* The engine gave it back unrun. */
void root_unrun (Node *node);
/* Somebody has finished it. */
void root_heard (Node *node, const Holder *holder);
void root_deposed (Node *node);
