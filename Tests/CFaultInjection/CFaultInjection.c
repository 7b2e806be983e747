#define _GNU_SOURCE
#include "CFaultInjection.h"

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum { scope_limit = 64, descriptor_limit = 65536 };

struct scope {
    atomic_int is_open, kinds, error, is_lasting;
    atomic_long at, calls, failed;
    char folder[PATH_MAX];
    size_t length;
};

static struct scope scopes[scope_limit];
static atomic_int open_scopes;
/// Number of the scope that a descriptor belongs to, plus one.
static atomic_uchar owners[descriptor_limit];

int larder_fault_open(const char *folder) {
    for (int i = 0; i < scope_limit; i++) {
        int expected = 0;
        // 2: being set up, and seen by nobody yet.
        if (!atomic_compare_exchange_strong(&scopes[i].is_open, &expected, 2)) continue;
        strncpy(scopes[i].folder, folder, sizeof scopes[i].folder - 1);
        scopes[i].length = strlen(folder);
        scopes[i].kinds = 0;
        scopes[i].is_open = 1;
        atomic_fetch_add(&open_scopes, 1);
        return i;
    }
    return -1;
}

void larder_fault_arm(int scope, int kinds, long at, int error, int lasting) {
    struct scope *it = &scopes[scope];
    it->kinds = 0;
    it->at = at;
    it->error = error;
    it->is_lasting = lasting;
    it->calls = 0;
    it->failed = 0;
    it->kinds = kinds;
}

long larder_fault_disarm(int scope) {
    scopes[scope].kinds = 0;
    return scopes[scope].calls;
}

long larder_fault_count(int scope) { return scopes[scope].failed; }

void larder_fault_close(int scope) {
    scopes[scope].kinds = 0;
    for (int i = 0; i < descriptor_limit; i++) {
        unsigned char owner = (unsigned char)(scope + 1);
        atomic_compare_exchange_strong(&owners[i], &owner, 0);
    }
    atomic_fetch_sub(&open_scopes, 1);
    scopes[scope].is_open = 0;
}

/// The scope of a path, plus one; 0 where there is none.
static int scope_of_path(const char *path) {
    if (atomic_load_explicit(&open_scopes, memory_order_relaxed) == 0 || path == NULL) return 0;
    for (int i = 0; i < scope_limit; i++) {
        struct scope *it = &scopes[i];
        if (it->is_open != 1 || strncmp(path, it->folder, it->length) != 0) continue;
        if (path[it->length] == '/' || path[it->length] == 0) return i + 1;
    }
    return 0;
}

static int scope_of_descriptor(int descriptor) {
    if (descriptor < 0 || descriptor >= descriptor_limit) return 0;
    return atomic_load_explicit(&owners[descriptor], memory_order_relaxed);
}

/// Counts a call. Where it shall fail, sets errno and returns 1.
static int fails(int scope, int kind) {
    if (scope == 0) return 0;
    struct scope *it = &scopes[scope - 1];
    if ((it->kinds & kind) == 0) return 0;
    long call = atomic_fetch_add(&it->calls, 1) + 1;
    if (it->at == 0 || (it->is_lasting ? call < it->at : call != it->at)) return 0;
    atomic_fetch_add(&it->failed, 1);
    errno = it->error;
    return 1;
}

static int opened(const char *path, int flags, int mode) {
    int scope = scope_of_path(path);
    // A file that is there already needs no space.
    int creates = scope != 0 && (flags & O_CREAT) != 0 && syscall(SYS_faccessat, AT_FDCWD, path, F_OK) != 0;
    if (fails(scope, creates ? larder_fault_writing : larder_fault_reading)) return -1;
    int descriptor = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    if (descriptor >= 0 && descriptor < descriptor_limit) owners[descriptor] = (unsigned char)scope;
    return descriptor;
}

#define MODE(flags, mode)                   \
    int mode = 0;                           \
    if (flags & (O_CREAT | __O_TMPFILE)) {  \
        va_list list;                       \
        va_start(list, flags);              \
        mode = va_arg(list, int);           \
        va_end(list);                       \
    }

int open(const char *path, int flags, ...) {
    MODE(flags, mode)
    return opened(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    MODE(flags, mode)
    return opened(path, flags | O_LARGEFILE, mode);
}

int close(int descriptor) {
    if (descriptor >= 0 && descriptor < descriptor_limit) owners[descriptor] = 0;
    return (int)syscall(SYS_close, descriptor);
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
    if (fails(scope_of_descriptor(descriptor), larder_fault_writing)) {
        // A disk that gets full takes a part first.
        int error = errno;
        if (count > 1) syscall(SYS_write, descriptor, bytes, count / 2);
        errno = error;
        return -1;
    }
    return syscall(SYS_write, descriptor, bytes, count);
}

static ssize_t written(int descriptor, const void *bytes, size_t count, off_t offset) {
    if (fails(scope_of_descriptor(descriptor), larder_fault_writing)) {
        int error = errno;
        if (count > 1) syscall(SYS_pwrite64, descriptor, bytes, count / 2, offset);
        errno = error;
        return -1;
    }
    return syscall(SYS_pwrite64, descriptor, bytes, count, offset);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) { return written(descriptor, bytes, count, offset); }
ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off_t offset) { return written(descriptor, bytes, count, offset); }

ssize_t read(int descriptor, void *bytes, size_t count) {
    if (fails(scope_of_descriptor(descriptor), larder_fault_reading)) return -1;
    return syscall(SYS_read, descriptor, bytes, count);
}

ssize_t pread(int descriptor, void *bytes, size_t count, off_t offset) {
    if (fails(scope_of_descriptor(descriptor), larder_fault_reading)) return -1;
    return syscall(SYS_pread64, descriptor, bytes, count, offset);
}

ssize_t pread64(int descriptor, void *bytes, size_t count, off_t offset) { return pread(descriptor, bytes, count, offset); }

/// Files of a scope are not brought to the disk: no test takes the power away, and thousands of steps take seconds so.
static int synchronized(int descriptor, long call) {
    int scope = scope_of_descriptor(descriptor);
    if (fails(scope, larder_fault_writing)) return -1;
    return scope == 0 ? (int)syscall(call, descriptor) : 0;
}

int fsync(int descriptor) {
    return synchronized(descriptor, SYS_fsync);
}

int fdatasync(int descriptor) {
    return synchronized(descriptor, SYS_fdatasync);
}

int ftruncate(int descriptor, off_t length) {
    if (fails(scope_of_descriptor(descriptor), larder_fault_writing)) return -1;
    return (int)syscall(SYS_ftruncate, descriptor, length);
}

int ftruncate64(int descriptor, off_t length) { return ftruncate(descriptor, length); }

/// Returns the error instead of setting errno, as POSIX wants it.
int posix_fallocate(int descriptor, off_t offset, off_t length) {
    if (fails(scope_of_descriptor(descriptor), larder_fault_writing)) return errno;
    return syscall(SYS_fallocate, descriptor, 0, offset, length) == 0 ? 0 : errno;
}

int posix_fallocate64(int descriptor, off_t offset, off_t length) { return posix_fallocate(descriptor, offset, length); }

int rename(const char *from, const char *to) {
    if (fails(scope_of_path(to), larder_fault_writing)) return -1;
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int link(const char *from, const char *to) {
    if (fails(scope_of_path(to), larder_fault_writing)) return -1;
    return (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int unlink(const char *path) {
    if (fails(scope_of_path(path), larder_fault_removing)) return -1;
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int mkdir(const char *path, mode_t mode) {
    if (fails(scope_of_path(path), larder_fault_writing)) return -1;
    return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

// The system call concerns one thread; the function of libc would concern the process.
int larder_become_nobody(void) { return (int)syscall(SYS_setresuid, 65534, 65534, 0); }
int larder_become_root(void) { return (int)syscall(SYS_setresuid, 0, 0, 0); }

#else
int larder_become_nobody(void) { return -1; }
int larder_become_root(void) { return -1; }
// Elsewhere shared libraries do not take the executable's functions; the tests that need this are left out there.
int larder_fault_open(const char *folder) { return -1; }
void larder_fault_arm(int scope, int kinds, long at, int error, int lasting) {}
long larder_fault_disarm(int scope) { return 0; }
long larder_fault_count(int scope) { return 0; }
void larder_fault_close(int scope) {}
#endif
