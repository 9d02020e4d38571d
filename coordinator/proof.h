/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides whose rows a checkpoint has. Each row bears a proof under a seal (storage/rowsum.h). The
 * seal is made of three things: a token of the user's key for one command line, the program's
 * identity and the run's id. So a row's proof is right only in files of one run of one user.
 *
 * The means of proof of a process are set once, before any thread opens a file, and never change. A
 * process that sets nothing asks for no proof: unit tests of rows do so, no program of Satin's. All
 * other functions: any thread. */
#pragma once

#include "coordinator/identity.h"

#include "storage/sql.h"

typedef struct
{
  /* (nullable) the token of this process's own run; copied. */
  const char *token;
  /* (nullable) makes the token for any command line, where the user's key is at hand. (transfer
   * full) (nullable). */
  char *(*token_of) (char *const *argv);
  /* TRUE: this file of format 1 bears the user's mark of that format. */
  gboolean (*bears_old_mark) (const Identity *found);
  gboolean trusts; /* the user said --trust: rows of others are used */
} ProofRules;

void proof_set_rules (const ProofRules *rules);

/* FALSE: this process cannot prove its own run's rows, since the user has no key. */
gboolean proof_is_possible (void);
/* Rows that are written to `sql` are this user's, of this run. Without a key they bear no proof. */
void proof_seal (Sql *sql, const Identity *identity);
/* Finds out who wrote the rows of an open file and of its delta (nullable), and sets `origin` of
 * both. In a file whose origin is OWN only rows with a proof are valid from here on. `run`
 * (nullable): the run's id if the file has lost it. */
void proof_find (Sql *file, Sql *delta, const char *run);
/* FALSE: rows of such an origin may not be used; COORDINATOR_ERROR_UNUSABLE says so. */
gboolean proof_allows (SqlOrigin origin, const char *target, GError **error);
/* (transfer full) (nullable): what people are told when such rows are used; NULL: nothing. */
char *proof_warning (SqlOrigin origin, const char *target);
