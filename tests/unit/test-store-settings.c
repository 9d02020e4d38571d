/* SPDX-License-Identifier: BSD-3-Clause */
/* What nodes on other hosts are told about stores. */
#include "folder/store-settings.h"

#include <string.h>

static void
forget (void)
{
  static const char *const names[]
      = { "CURL_CA_BUNDLE",   "SSL_CERT_FILE", "AWS_REGION",          "AWS_DEFAULT_REGION",
          "AWS_ENDPOINT_URL", "AWS_PROFILE",   "AWS_ENDPOINT_URL_S3", "AWS_ACCESS_KEY_ID",
          "SSL_CERT_DIR",     "AWS_CA_BUNDLE" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_unsetenv (names[i]);
}

static void
test_no_secret_is_written (void)
{
  forget ();
  g_setenv ("AWS_ACCESS_KEY_ID", "one", TRUE);
  g_setenv ("AWS_SECRET_ACCESS_KEY", "two", TRUE);
  g_setenv ("AWS_SESSION_TOKEN", "three", TRUE);
  g_setenv ("AWS_REGION", "here", TRUE);
  g_setenv ("AWS_PROFILE", "", TRUE);
  g_setenv ("CURL_CA_BUNDLE", "/some/where.pem", TRUE);
  g_autofree char *text = store_settings_write ();
  g_assert_cmpstr (text, ==, "CURL_CA_BUNDLE=/some/where.pem\nAWS_REGION=here\n");
}

static void
test_what_is_said_here_goes_first (void)
{
  forget ();
  g_setenv ("AWS_REGION", "here", TRUE);
  store_settings_take ("AWS_REGION=there\nAWS_PROFILE=work\n");
  g_assert_cmpstr (g_getenv ("AWS_REGION"), ==, "here");
  g_assert_cmpstr (g_getenv ("AWS_PROFILE"), ==, "work");
  g_setenv ("AWS_REGION", "", TRUE); /* an empty value has no effect */
  store_settings_take ("AWS_REGION=there\n");
  g_assert_cmpstr (g_getenv ("AWS_REGION"), ==, "there");
}

/* Each setting is a line: a value with a line break would add another setting. */
static void
test_a_value_says_one_thing (void)
{
  forget ();
  g_setenv ("AWS_PROFILE", "x\nCURL_CA_BUNDLE=/dev/null", TRUE);
  g_setenv ("AWS_REGION", "here", TRUE);
  g_autofree char *text = store_settings_write ();
  g_assert_cmpstr (text, ==, "AWS_REGION=here\n");
}

/* A file counts if it is here, too; any other value always does. */
static void
test_only_files_that_are_here (void)
{
  static const struct
  {
    const char *name;
    gboolean is_file;
  } all[] = { { "CURL_CA_BUNDLE", TRUE },       { "SSL_CERT_FILE", TRUE },
              { "SSL_CERT_DIR", TRUE },         { "AWS_CA_BUNDLE", TRUE },
              { "SATIN_KNOWN_HOSTS", TRUE },    { "SATIN_SSH_KEY", TRUE },
              { "AWS_REGION", FALSE },          { "AWS_DEFAULT_REGION", FALSE },
              { "AWS_ENDPOINT_URL_S3", FALSE }, { "AWS_ENDPOINT_URL", FALSE },
              { "AWS_PROFILE", FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    {
      g_autofree char *missing = g_strconcat (all[i].name, "=/no/such/thing\n", NULL),
                      *present = g_strconcat (all[i].name, "=/dev/null\n", NULL);
      g_unsetenv (all[i].name);
      store_settings_take (missing);
      g_assert_cmpstr (g_getenv (all[i].name), ==, all[i].is_file ? NULL : "/no/such/thing");
      g_unsetenv (all[i].name);
      store_settings_take (present);
      g_assert_cmpstr (g_getenv (all[i].name), ==, "/dev/null");
      g_autofree char *written = store_settings_write ();
      g_assert_nonnull (strstr (written, present));
      g_unsetenv (all[i].name);
    }
}

static void
test_anything_else_is_passed_over (void)
{
  forget ();
  store_settings_take ("AWS_ACCESS_KEY_ID=x\nLD_AUDIT=/tmp/x.so\n=\nAWS_REGION\nAWS_REGION=\n");
  g_assert_null (g_getenv ("AWS_ACCESS_KEY_ID"));
  g_assert_null (g_getenv ("LD_AUDIT"));
  g_assert_null (g_getenv ("AWS_REGION"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/store-settings/no-secret-is-written", test_no_secret_is_written);
  g_test_add_func ("/store-settings/what-is-said-here-goes-first",
                   test_what_is_said_here_goes_first);
  g_test_add_func ("/store-settings/a-value-says-one-thing", test_a_value_says_one_thing);
  g_test_add_func ("/store-settings/only-files-that-are-here", test_only_files_that_are_here);
  g_test_add_func ("/store-settings/anything-else-is-passed-over",
                   test_anything_else_is_passed_over);
  return g_test_run ();
}
