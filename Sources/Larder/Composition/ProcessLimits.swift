import CMalloc
import Foundation
import NIOCore

/// Large blocks of memory: bodies of upstreams, and the values decoded from them.
enum LargeBlocks {
    /// Blocks from this size on are mapped separately, in bytes.
    static let smallest: Int32 = 1 << 20

    /// Largest free part at the end of a heap that is kept, in bytes: eight pieces of a body.
    static let kept: Int32 = 2 << 20

    /// Makes the allocator give large blocks back to the system when they are freed (`mallopt(3)`).
    ///
    /// By default glibc raises the size from which on blocks are mapped to that of each such block that is freed, up to
    /// 32 MiB. After a few large responses all further blocks would be allocated from its heaps, of which each thread
    /// has another, and would never be returned.
    ///
    /// Free memory at the end of a heap is kept up to ``kept``. With glibc's 128 KiB each piece of a large body would
    /// be returned when it is freed, and the system would have to clear the next one page by page.
    ///
    /// - Returns: Whether the allocator has accepted it.
    @discardableResult
    static func giveBack() -> Bool {
        mallopt(M_MMAP_THRESHOLD, smallest) == 1 && mallopt(M_TRIM_THRESHOLD, kept) == 1
    }
}

/// The limit of open files of this process (`RLIMIT_NOFILE`).
enum OpenFileLimit {
    /// Descriptors for everything but clients: the database, files of requests, upstreams, pipes of programs.
    static let reserved = 128

    /// Raises the soft limit to the hard one, which needs no privilege. The usual soft limit of 1024 exists for
    /// programs that use select(2). Child processes get limits of their own.
    static func raise() {
        guard var limit = current, limit.rlim_cur < limit.rlim_max else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// Returns how many of the wanted connections may be open, so that clients cannot use up the descriptors that
    /// serving them needs.
    ///
    /// - Parameter files: Largest number of open files; nil if it is not known.
    static func connections(_ wanted: Int, files: Int? = current.map { Int(clamping: $0.rlim_cur) }) -> Int {
        guard let files else { return wanted }
        return min(wanted, max(files - reserved, files / 4, 1))
    }

    private static var current: rlimit? {
        var limit = rlimit()
        return getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 ? limit : nil
    }
}

/// Number of processors that this process may use.
enum ProcessorCount {
    /// The smallest limit of the machine, of its control group and of the process (`taskset`, `docker run
    /// --cpuset-cpus`). It is the number of event loops: two that share a processor alternate in slices of
    /// milliseconds, and requests on the other one wait that long.
    static var available: Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        return min(System.coreCount, allowed(in: status) ?? .max)
    }

    /// Returns the number of processors in `Cpus_allowed` of proc_pid_status(5), a mask in hexadecimal digits with
    /// commas; nil if there is none.
    static func allowed(in status: String) -> Int? {
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("Cpus_allowed:") }) else {
            return nil
        }
        let count = line.dropFirst("Cpus_allowed:".count).compactMap(\.hexDigitValue).reduce(0) {
            $0 + $1.nonzeroBitCount
        }
        return count > 0 ? count : nil
    }
}
