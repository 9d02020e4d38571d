/* SPDX-License-Identifier: BSD-3-Clause */
/* The roots, one after the other: each is a slot like any other, whose lender is main at the
 * master. A root runs here, or is adopted from its holder (a master that was falsely accused, or
 * the checkpoint). Finished roots stay among the held jobs, as the finished children of a running
 * job stay in its slots: a main that begins again at the next master gets them from there or from
 * the checkpoint. Driver's thread. */
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
  Loan *job;     /* owned: the last one that main asked for */
  guint64 loan;  /* its loan number, if another node holds it */
  guint64 asked; /* roots so far: no two have the same number */
  guint64 held;  /* its number among the held jobs; 0: it is not held here */
} Root;

void root_init (Node *node);
/* Main asks for a root, under its path. The root before is finished, or main begins again. */
void root_want (Node *node, const Loan *job);
/* Starts a waiting root if it can start now. Called after each event. */
void root_go_on (Node *node);
void root_result (Node *node, const Result *result);
/* The adopted root came back: run it here, or look for the next holder. */
void root_back (Node *node);
/* The engine gave it back unrun. */
void root_unrun (Node *node);
/* A node holds the job at this path. */
void root_heard (Node *node, const char *path, const Holder *holder);
void root_deposed (Node *node);
void root_check (Node *node);
