import Freshness
public import HTTPCaching

/// Decides what to do with a read before anything is sent: the table of docs/contract.md, "Freshness", as a value.
public enum ReadPlan: Sendable, Equatable {
    /// Return the stored copy without asking the upstream.
    case serveStored(CacheStatus, offline: Bool, stale: Bool)
    /// Ask the upstream, for this reason. After `patience` the client gets the stored copy; nil if there is none.
    case ask(because: CacheStatus.Forward, patience: Duration?)
    /// The upstream requested a pause of this many seconds, and nothing is stored.
    case leaveAlone(seconds: Int)
    /// The upstream is known to be unreachable, and nothing is stored.
    case unreachable
    /// The client accepts a stored copy only, and there is none.
    case notStored

    /// What is known of the stored copy.
    public enum Stored: Sendable, Equatable {
        /// There is none.
        case nothing
        /// No response is stored, but the app has its own copy, this many seconds old.
        case bundled(age: Int)
        /// There is one. `timeToLive` is its remaining freshness in seconds, negative when stale.
        case copy(timeToLive: Int, isFresh: Bool)
    }

    /// `detail` of the `Cache-Status` of a copy that is served because of a pause.
    static let pauseDetail = "retry-after"

    /// Returns the plan.
    ///
    /// - Parameters:
    ///   - paused: The rest of a `Retry-After` in seconds.
    ///   - patience: How long a client waits before it gets the stored copy.
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
            switch cachePolicy {
            case .onlyIfCached: return .notStored
            case .useCache where !isReachable: return .unreachable
            case .useCache: if let paused { return .leaveAlone(seconds: paused) }
            case .revalidate: break
            }
            return .ask(because: .uriMiss, patience: nil)
        case .bundled(let age):
            if cachePolicy == .onlyIfCached { return .notStored }
            (timeToLive, isFresh, staleReason) = (-age, false, .uriMiss)
        case .copy(let rest, let fresh):
            (timeToLive, isFresh, staleReason) = (rest, fresh, .stale)
        }
        if cachePolicy == .revalidate {
            return .ask(because: isFresh ? .request : staleReason, patience: patience)
        }
        func hit(_ detail: String? = nil, offline: Bool = false, stale: Bool) -> ReadPlan {
            let cacheStatus = CacheStatus(.hit, timeToLive: timeToLive, detail: detail)
            return .serveStored(cacheStatus, offline: offline, stale: stale)
        }
        if !isReachable { return hit("offline", offline: true, stale: true) }
        if isFresh || cachePolicy == .onlyIfCached { return hit(stale: !isFresh) }
        if paused != nil { return hit(pauseDetail, stale: true) }
        return .ask(because: staleReason, patience: patience)
    }
}
