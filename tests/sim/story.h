/* SPDX-License-Identifier: BSD-3-Clause */
/* The story of one simulated run: what a reader wants to know of it as lines, and commands that
 * decide when the faults of its plan strike. tests/scenarios/README says what a line looks like.
 * The functions with a Sim do nothing in a run without a story. */
#pragma once

#include "sim-private.h"

typedef enum
{
  STORY_UNTIL, /* go on until a line contains `text`, after the one that the last such found */
  STORY_FAULT, /* the next fault of the plan strikes the node that is called `text` */
  STORY_END    /* go on until the run is over */
} StoryKind;

typedef struct
{
  StoryKind kind;
  char *text;
  gboolean skips; /* the lines before the one that is found are left out */
  guint section;  /* the lines that follow belong to it, counted from 0 */
  guint at;       /* the line of the file, for messages */
} StoryCommand;

typedef struct
{
  guint section;
  gboolean skipped; /* it is left out */
  gboolean lost;    /* a message that never arrived */
  char *text;
} StoryLine;

struct Story
{
  GArray *commands;   /* of StoryCommand, in their order */
  guint next;         /* the command that is carried out now */
  guint seen;         /* lines that a command has looked at */
  guint n_faults;     /* that have struck */
  GHashTable *hidden; /* names of messages, and other words, whose lines are left out */
  GArray *lines;      /* of StoryLine */
  GHashTable *sent;   /* messages under way: order of the Happen to number of the line */
  GHashTable *dials;  /* number of the process and of its dial to the process that is dialled */
  guint64 rosters[SIM_NODES_MAX]; /* of each process, as many as were looked at */
  char *wrong;                    /* a command that could not be carried out; NULL: none */
};

void story_init (Story *story);
void story_clear (Story *story);
/* Hides a word or shows it again. FALSE: there is no such word. */
gboolean story_hide (Story *story, const char *word, gboolean hidden);

/* Carries out the commands that are due, between two happenings. */
void story_go_on (Sim *sim);
/* `order`: of the Happen that will deliver it; 0: it is lost at once. */
void story_sent (Sim *sim, const Process *from, const Process *to, const GPtrArray *parts,
                 guint64 order);
/* This Happen comes to nothing. */
void story_lost (Sim *sim, const Happen *happen);
void story_event (Sim *sim, const Process *process, const NodeEvent *event);
void story_effect (Sim *sim, const Process *process, const NodeEffect *effect);
void story_job (Sim *sim, const Process *process, const char *verb, guint32 job);
void story_started (Sim *sim, const Process *process);
void story_ended (Sim *sim, const Process *process, FaultKind how);
