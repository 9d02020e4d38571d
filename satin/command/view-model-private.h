/* SPDX-License-Identifier: BSD-3-Clause */
/* The data of view-model.c, which view-model-json.c writes. */
#pragma once

#include "view-model.h"

/* What a node did in a moment. Digits are the share of its workers that were busy, in ninths. */
typedef enum
{
  DID_NOT_EXIST = ' ',
  DID_NOT_TELL = '?',
  DID_IDLE = '0',
  DID_WORK = '9',
  DID_GO = 'x'
} Did;

typedef struct
{
  char *id, *host, *site, *roles;
  double pid, workers, busy, risk_s; /* busy, risk_s: -1: not reported */
  gboolean is_gone, is_seen;
  gint64 left_us;
  GString *did; /* a Did for each moment */
} Lane;

typedef struct
{
  gint64 at_us;
  double done, one_s, all_s, busy, workers, up; /* NAN: not known */
} Moment;

typedef struct
{
  gint64 at_us;
  char *kind, *node, *detail;
} Seen;

struct ViewModel
{
  char *name, *facts, *sentence, *left;
  ViewState state;
  GPtrArray *lanes;  /* of Lane, in the order in which they appeared */
  GHashTable *by_id; /* id -> Lane */
  GArray *moments;   /* of Moment; the last one is now */
  gint64 step_us, now_us;
  GPtrArray *seen;      /* of Seen */
  guint64 n_seen, more; /* more: number of nodes without a lane */
  char *master, *coordinator;
  gboolean is_changed; /* a tick cannot express the last change */
};
