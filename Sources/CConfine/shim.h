#pragma once
// System calls that glibc has no functions for, and such as Swift cannot call, for their variable arguments.
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
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

// Numbers from 424 on are the same on all architectures: asm-generic/unistd.h.
static inline int larder_landlock_create_ruleset(const void *attributes, unsigned long size, unsigned int flags) {
  return (int)syscall(444, attributes, size, flags);
}

static inline int larder_landlock_add_rule(int ruleset, int kind, const void *attributes) {
  return (int)syscall(445, ruleset, kind, attributes, 0);
}

static inline int larder_landlock_restrict_self(int ruleset) {
  return (int)syscall(446, ruleset, 0);
}

// Descriptors that the program would inherit beside its standard streams; before Linux 5.11 they stay.
static inline void larder_close_others_on_exec(void) {
  syscall(436, 3U, ~0U, 1U << 2);
}

// Whoever started this process takes it along, however it ends.
static inline int larder_end_with_parent(void) {
  return prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static inline int larder_set_no_new_privileges(void) {
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

// Fails with EFAULT if the kernel knows filters of system calls, and changes nothing.
static inline int larder_try_call_filter(void) {
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, 0, 0, 0);
}

static inline int larder_set_call_filter(const struct sock_filter *instructions, unsigned short count) {
  struct sock_fprog program = {count, (struct sock_filter *)instructions};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

// The architecture whose numbers of system calls this file has; 0 for one that it does not know.
static inline unsigned int larder_architecture(void) {
#if defined(__x86_64__) && defined(__LP64__)
  return AUDIT_ARCH_X86_64;
#elif defined(__aarch64__) && defined(__AARCH64EL__)
  return AUDIT_ARCH_AARCH64;
#elif defined(__riscv) && __riscv_xlen == 64
  return AUDIT_ARCH_RISCV64;
#else
  return 0;
#endif
}

// System calls that no program of a job needs, and that reach files, processes or kernel interfaces beyond those that
// Landlock covers; -1 behind the last.
static inline int larder_refused_call(int index) {
  static const int calls[] = {
    // Peers: Unix sockets by their paths, UDP, and all else that is no TCP.
    SYS_connect, SYS_sendmsg, SYS_sendmmsg,
    // Mode, owner, times and attributes of files, whatever the path.
    SYS_fchmod, SYS_fchmodat, SYS_fchown, SYS_fchownat, SYS_utimensat,
    SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr,
    // Truncation by path, which Landlock denies from version 3 on; links and devices, by which a result could be the
    // name of a file of others.
    SYS_truncate, SYS_symlinkat, SYS_mknodat,
    // Names of files, as others change them.
    SYS_inotify_init1, SYS_inotify_add_watch, SYS_fanotify_init, SYS_fanotify_mark,
    SYS_name_to_handle_at, SYS_open_by_handle_at,
    // Other processes of the same user.
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, SYS_tkill, SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo, SYS_setpriority, SYS_ioprio_set, SYS_sched_setaffinity, SYS_sched_setattr,
    SYS_sched_setparam, SYS_sched_setscheduler, SYS_migrate_pages, SYS_move_pages,
    424 /* pidfd_send_signal */, 438 /* pidfd_getfd */, 440 /* process_madvise */, 448 /* process_mrelease */,
    // Memory, semaphores and queues that other processes have under a number or a name.
    SYS_shmget, SYS_shmat, SYS_shmctl, SYS_semget, SYS_semctl, SYS_semop, SYS_semtimedop, SYS_msgget, SYS_msgctl,
    SYS_msgsnd, SYS_msgrcv, SYS_mq_open, SYS_mq_unlink, SYS_add_key, SYS_request_key, SYS_keyctl,
    // Interfaces of the kernel that have been its weak ones.
    SYS_io_setup, 425 /* io_uring_setup */, 426 /* io_uring_enter */, 427 /* io_uring_register */, SYS_bpf,
    SYS_perf_event_open, SYS_userfaultfd, SYS_personality,
    // Namespaces and mounts.
    SYS_unshare, SYS_setns, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, 428 /* open_tree */,
    429 /* move_mount */, 430 /* fsopen */, 431 /* fsconfig */, 432 /* fsmount */, 433 /* fspick */,
    442 /* mount_setattr */,
    // The machine, should Larder be root.
    SYS_acct, SYS_quotactl, 443 /* quotactl_fd */, SYS_swapon, SYS_swapoff, SYS_reboot, SYS_kexec_load,
    SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_syslog, SYS_settimeofday, SYS_clock_settime,
    SYS_clock_adjtime, SYS_adjtimex, SYS_sethostname, SYS_setdomainname, SYS_vhangup,
#ifdef SYS_kexec_file_load
    SYS_kexec_file_load,
#endif
    // Older forms, which newer architectures do not have.
#ifdef SYS_chmod
    SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat, SYS_symlink, SYS_mknod, SYS_inotify_init,
    SYS_iopl, SYS_ioperm, SYS_modify_ldt,
#endif
    -1,
  };
  return calls[index];
}
