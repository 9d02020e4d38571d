/* SPDX-License-Identifier: BSD-3-Clause */
/* See folder-names.h. */
#include "folder-names.h"

#include <string.h>

#define LAUNCHER FOLDER_BY_LAUNCHER
#define NODE FOLDER_BY_NODE
#define VERB FOLDER_BY_VERB
#define ALL (LAUNCHER | NODE | VERB)

/* clang-format off */
static const FolderName table[] = {
  /* the run */
  { FOLDER_RUN_FILE, FOLDER_NAME_WHOLE, LAUNCHER | VERB, ALL, FOLDER_TO_FAR,
    "what the run is of and how it is to go (folder-run.c); `save --to` adds the checkpoint" },
  { FOLDER_FILE_CREDENTIAL, FOLDER_NAME_WHOLE, LAUNCHER, ALL, FOLDER_TO_FAR,
    "64 hex digits that members and verbs prove to have" },
  { FOLDER_KEY_FILE, FOLDER_NAME_WHOLE, LAUNCHER, ALL, FOLDER_TO_FAR,
    "the private key and certificate of the run, for TLS" },
  { FOLDER_SITES, FOLDER_NAME_WHOLE, LAUNCHER, LAUNCHER, FOLDER_STAYS_HERE,
    "the file of --sites, for `satin add --site`" },
  { FOLDER_COPY, FOLDER_NAME_WHOLE, LAUNCHER | NODE, NODE, FOLDER_STAYS_HERE,
    "the founder's copy of the checkpoint at a URI; files of its name with an end lie beside it" },
  { FOLDER_FILE_ID, FOLDER_NAME_WHOLE, NODE, ALL, FOLDER_FROM_FOUNDER,
    "the id of the run, which a resumed one has from its checkpoint" },
  { FOLDER_BUILD, FOLDER_NAME_WHOLE, NODE, LAUNCHER, FOLDER_FROM_FOUNDER,
    "the build of the program that the run began with" },
  { FOLDER_FOUNDER, FOLDER_NAME_STEM, NODE, LAUNCHER | NODE, FOLDER_STAYS_HERE,
    "the N-th process that is to found the run: its number (claim.c)" },
  { FOLDER_SUSPEND, FOLDER_NAME_WHOLE, VERB, LAUNCHER, FOLDER_STAYS_HERE,
    "empty: the launcher is to suspend the run, since no node listens yet" },
  /* the end of the run, in the order of writing */
  { FOLDER_FILE_ANSWER_CODE, FOLDER_NAME_WHOLE, NODE, ALL, FOLDER_FROM_FAR,
    "what main returned" },
  { FOLDER_FILE_ANSWER, FOLDER_NAME_WHOLE, NODE, ALL, FOLDER_FROM_FAR,
    "what main wrote on standard output" },
  { FOLDER_FILE_ANSWER_ERR, FOLDER_NAME_WHOLE, NODE, LAUNCHER | VERB, FOLDER_FROM_FAR,
    "what main wrote on standard error" },
  { FOLDER_FILE_ERROR, FOLDER_NAME_WHOLE, LAUNCHER | NODE, ALL, FOLDER_FROM_FAR,
    "the one sentence why the run ended so" },
  { FOLDER_FILE_END, FOLDER_NAME_WHOLE, LAUNCHER | NODE, ALL, FOLDER_FROM_FAR,
    "the exit code: the run has ended" },
  { FOLDER_FILE_SHOWN, FOLDER_NAME_WHOLE, LAUNCHER | VERB, LAUNCHER | VERB, FOLDER_STAYS_HERE,
    "empty: its maker shows the answer" },
  /* a process */
  { FOLDER_NODE_PROCESS, FOLDER_NAME_SUFFIX, LAUNCHER | NODE, ALL, FOLDER_STAYS_HERE,
    "its mark and host; touched while it lives (folder-live.c)" },
  { FOLDER_NODE_STAYS, FOLDER_NAME_SUFFIX, LAUNCHER | VERB, ALL, FOLDER_STAYS_HERE,
    "the mark of a process that reads the folder until the end" },
  { FOLDER_NODE_ADDRESS, FOLDER_NAME_SUFFIX, NODE, ALL, FOLDER_FROM_FAR,
    "where the node listens, one address a line" },
  { FOLDER_NODE_SOCKET, FOLDER_NAME_SUFFIX, NODE, ALL, FOLDER_STAYS_HERE,
    "its Unix socket, here or in a folder of a shorter name" },
  { FOLDER_NODE_LOG, FOLDER_NAME_SUFFIX, LAUNCHER | NODE, ALL, FOLDER_STAYS_HERE,
    "what it or the process that leads to it wrote; it is there when the node was started" },
  { FOLDER_NODE_ERR, FOLDER_NAME_SUFFIX, NODE, LAUNCHER, FOLDER_STAYS_HERE,
    "what its main has written on standard error so far" },
  { FOLDER_NODE_STATS, FOLDER_NAME_SUFFIX, NODE, LAUNCHER | VERB, FOLDER_FROM_FAR,
    "its figures, as JSON" },
  { FOLDER_NODE_TROUBLE, FOLDER_NAME_SUFFIX, NODE, LAUNCHER | VERB, FOLDER_FROM_FAR,
    "sentences for people to read at once" },
  { FOLDER_NODE_UNFIT, FOLDER_NAME_SUFFIX, NODE, NODE, FOLDER_STAYS_HERE,
    "why it cannot found the run" },
  /* other hosts */
  { RELAY_PEERS, FOLDER_NAME_WHOLE, LAUNCHER, NODE, FOLDER_TO_FAR,
    "in a far node's folder: the addresses of members" },
  { RELAY_FOUNDER, FOLDER_NAME_WHOLE, LAUNCHER, NODE, FOLDER_TO_FAR,
    "in a far node's folder: it is to found the run" },
  { RELAY_STORES, FOLDER_NAME_WHOLE, LAUNCHER, NODE, FOLDER_TO_FAR,
    "in a far node's folder: what the launcher's environment says of stores" },
  { FOLDER_BATCH, FOLDER_NAME_STEM, LAUNCHER, LAUNCHER, FOLDER_STAYS_HERE,
    "a folder with the files of a batch job, whose names are batch.h's" },
};
/* clang-format on */

const FolderName *
folder_names (guint *n)
{
  *n = G_N_ELEMENTS (table);
  return table;
}

/* The suffix of node-PID.SUFFIX. (nullable) */
static const char *
suffix_of (const char *file)
{
  if (!g_str_has_prefix (file, FOLDER_NODE))
    return NULL;
  const char *digits = file + strlen (FOLDER_NODE);
  gsize n = strspn (digits, G_CSET_DIGITS);
  return n > 0 && digits[n] == '.' ? digits + n + 1 : NULL;
}

const FolderName *
folder_names_find (const char *file)
{
  const char *suffix = suffix_of (file);

  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    switch (table[i].kind)
      {
      case FOLDER_NAME_WHOLE:
        if (strcmp (table[i].name, file) == 0)
          return &table[i];
        break;
      case FOLDER_NAME_STEM:
        if (g_str_has_prefix (file, table[i].name) && file[strlen (table[i].name)] != '\0')
          return &table[i];
        break;
      case FOLDER_NAME_SUFFIX:
        if (g_strcmp0 (table[i].name, suffix) == 0)
          return &table[i];
        break;
      }
  return NULL;
}
