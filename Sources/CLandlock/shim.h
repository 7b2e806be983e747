#pragma once
// System calls that glibc has no functions for, and such as Swift cannot call, for their variable arguments. Numbers: asm-generic/unistd.h, the same on all architectures.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// glibc shows it to those who ask for GNU's extensions; asm-generic/fcntl.h.
#ifndef O_PATH
#define O_PATH 010000000
#endif

// A descriptor that names a file and opens nothing.
static inline int larder_open_path(const char *path) {
  return open(path, O_PATH | O_CLOEXEC);
}

static inline int larder_landlock_create_ruleset(const void *attributes, unsigned long size, unsigned int flags) {
  return (int)syscall(444, attributes, size, flags);
}

static inline int larder_landlock_add_rule(int ruleset, int kind, const void *attributes) {
  return (int)syscall(445, ruleset, kind, attributes, 0);
}

static inline int larder_landlock_restrict_self(int ruleset) {
  return (int)syscall(446, ruleset, 0);
}

// Whoever started this process takes it along, however it ends.
static inline int larder_end_with_parent(void) {
  return prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static inline int larder_set_no_new_privileges(void) {
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}
