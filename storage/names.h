/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers that stand in a result for its node's id and for its job's name and type: the columns
 * n of the tables node and job. A file has thousands of results for each of these. A node's number
 * is the next free one. A job's number is made of its name and type, so all files of a program
 * agree, and with the program at hand a file that lost its table job can be read. Used by one
 * thread. */
#pragma once

#include "storage/sql.h"

typedef struct Names Names;

/* Reads the tables of the file; rows that do not verify are skipped. `sql` is borrowed. */
Names *names_new (Sql *sql, GError **error);
void names_free (Names *names);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Names, names_free)

/* The number of a node or of a job with its type; inside a transaction a new one gets a row. */
gboolean names_number_node (Names *names, const char *id, gint64 *number, GError **error);
gboolean names_number_job (Names *names, const char *name, const char *type, gint64 *number,
                           GError **error);
/* FALSE: no such node. */
gboolean names_find_node (Names *names, const char *id, gint64 *number);
/* Gives the program's jobs, for a file that lost some; NULL-terminated arrays of the same
 * length. */
void names_expect (Names *names, const char *const *job_names, const char *const *job_types);
/* (nullable): the node or job with that number; lives as long as `names`. A file may have lost
 * it. */
const char *names_node (Names *names, gint64 number);
gboolean names_job (Names *names, gint64 number, const char **name, const char **type);
