/* SPDX-License-Identifier: BSD-3-Clause */
/* Satin: divide-and-conquer programs in C (and C++) on machines that come and go. */
#pragma once

#include "satin-type.h"

G_BEGIN_DECLS

typedef struct SatinRun SatinRun;
typedef struct SatinJob SatinJob;
typedef struct SatinBest_ SatinBest_;
typedef struct SatinConst_ SatinConst_;

/* The public words (SATIN_RECORD, SATIN_JOB, …) come here. */

G_END_DECLS
