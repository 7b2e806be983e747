public import HTTPCaching

/// What to do with a read, decided before anything is sent. Pure: design/screens.md 1.5 as a table.
public enum ReadPlan: Sendable, Equatable {
    /// Answer the stored copy and ask nobody.
    case serveStored(CacheStatus, offline: Bool, stale: Bool)
    /// Ask the upstream, for this reason. `patience` is how long the client waits before it is given the stored copy,
    /// nil where there is none to give.
    case ask(because: CacheStatus.Forward, patience: Duration?)
    /// The upstream asked to be left alone for so many seconds and nothing is stored.
    case leaveAlone(seconds: Int)
    /// The client wants a stored copy only and there is none.
    case notStored

    /// What is known about the stored copy.
    public enum Stored: Sendable, Equatable {
        /// There is none.
        case nothing
        /// Nothing was ever fetched, but the program brings a copy, this many seconds old.
        case bundled(age: Int)
        /// There is one. `timeToLive` is its remaining freshness in seconds, negative when stale.
        case copy(timeToLive: Int, isFresh: Bool)
    }

    /// The table of design/screens.md 1.5. `paused` is the rest of a `Retry-After` in seconds.
    public static func plan(
        stored: Stored,
        cachePolicy: CachePolicy,
        isReachable: Bool,
        paused: Int?,
        patience: Duration
    )
        -> ReadPlan
    {
        let timeToLive: Int
        let isFresh: Bool
        let staleReason: CacheStatus.Forward
        switch stored {
        case .nothing:
            if cachePolicy == .onlyIfCached { return .notStored }
            if let paused, cachePolicy == .useCache { return .leaveAlone(seconds: paused) }
            return .ask(because: .uriMiss, patience: nil)
        case .bundled(let age):
            if cachePolicy == .onlyIfCached { return .notStored }
            (timeToLive, isFresh, staleReason) = (-age, false, .uriMiss)
        case .copy(let rest, let fresh):
            (timeToLive, isFresh, staleReason) = (rest, fresh, .stale)
        }
        switch cachePolicy {
        case .revalidate:
            return .ask(because: isFresh ? .request : staleReason, patience: patience)
        case .onlyIfCached, .useCache:
            if !isReachable {
                return .serveStored(
                    CacheStatus(.hit, timeToLive: timeToLive, detail: "offline"),
                    offline: true,
                    stale: true
                )
            }
            if isFresh {
                return .serveStored(CacheStatus(.hit, timeToLive: timeToLive), offline: false, stale: false)
            }
            if cachePolicy == .onlyIfCached {
                return .serveStored(CacheStatus(.hit, timeToLive: timeToLive), offline: false, stale: true)
            }
            if paused != nil {
                return .serveStored(
                    CacheStatus(.hit, timeToLive: timeToLive, detail: "retry-after"),
                    offline: false,
                    stale: true
                )
            }
            return .ask(because: staleReason, patience: patience)
        }
    }
}
