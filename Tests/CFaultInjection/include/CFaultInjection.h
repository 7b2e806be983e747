// System calls on files that fail when a test says so.
//
// The functions of libc that read, write, name and remove files are defined here once more. In the executable of the tests
// these take the place of libc's, for SQLite (a shared library, whose calls are bound to the executable's functions first) as
// for Swift. So faults come from below SQLite and below Larder's own functions alike, and nothing in them knows of it.
// Only paths below the folder of an open scope are concerned; all other calls go straight to the kernel.
#pragma once

enum larder_fault_kinds {
    /// Calls that may need room or write: open with O_CREAT, write, fsync, ftruncate, posix_fallocate, rename, link, mkdir.
    larder_fault_writing = 1,
    /// Calls that read: open without O_CREAT, read.
    larder_fault_reading = 2,
    /// unlink.
    larder_fault_removing = 4,
};

/// Watches the files below a folder that are opened from now on. Returns a scope, or -1 if there are too many.
int larder_fault_open(const char *folder);
/// Lets the call number `at` (from 1) of these kinds fail with `error`; if `lasting`, those behind it as well. 0 only counts.
void larder_fault_arm(int scope, int kinds, long at, int error, int lasting);
/// Ends the faults. Returns how many calls were counted since they were armed.
long larder_fault_disarm(int scope);
/// Number of calls that have failed since they were armed.
long larder_fault_count(int scope);
void larder_fault_close(int scope);

/// Takes the rights of root from the calling thread, and from no other; returns 0, or -1 if that is not possible.
int larder_become_nobody(void);
/// Gives the calling thread the rights of root again.
int larder_become_root(void);
