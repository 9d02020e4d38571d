/* SPDX-License-Identifier: BSD-3-Clause */
/* The sphereflake, a scene of any size. */
#pragma once

#include <glib.h>

#define BALLS_DEPTH_MAX 6 /* 597,871 balls */

/* A ball on a floor, with nine balls of a third of its size on it, nine on each of these, and so on
 * for `depth` levels; as NFF text. (transfer full) */
GBytes *balls_nff (int depth);
