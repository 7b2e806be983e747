import Foundation

/// The limit of open files of this process (`RLIMIT_NOFILE`).
enum OpenFileLimit {
    /// Descriptors for everything but clients: the database, files of requests, upstreams, pipes of programs.
    static let reserved = 128

    /// Raises the soft limit to the hard one, which needs no privilege: the usual soft limit of 1024 is for programs
    /// that use select(2). Programs that are started have limits of their own.
    static func raise() {
        guard var limit = current, limit.rlim_cur < limit.rlim_max else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// Returns how many of the wanted connections may be open, so that clients cannot take the descriptors with which
    /// they are served.
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
