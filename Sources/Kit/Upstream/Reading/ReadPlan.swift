import Concurrency
import Foundation
import HTTP
import HTTPTypes
import NIOCore
import Storage

/// Decides about a read before anything is sent: the table of docs/architecture.md, "The plan of a read", as a value.
enum ReadPlan: Sendable, Equatable {
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

    enum Stored: Sendable, Equatable {
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
    static func plan(
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

/// The state that a read depends on apart from the store.
package struct ReadToken: Sendable {
    /// Holds until the reachability or the stored response changes, or any stored response if its URL is not known yet.
    let unchanged: ChangeToken
    /// Holds until any stored response is removed.
    let unremoved: ChangeToken

    var holds: Bool { unchanged.holds && unremoved.holds }
}

/// The state that a read depends on.
struct ReadSnapshot: Sendable {
    let readToken: ReadToken
    let now: Date
    /// The same instant on the monotonic clock.
    let instant: NIODeadline
    let copy: StoredCopy
    let target: TargetRules.Target
    let isReachable: Bool
    let pause: Reachability.Pause?
}

/// A read up to the decision whether to ask the upstream.
package struct PlannedRead {
    let resource: Resource
    let snapshot: ReadSnapshot
    let plan: ReadPlan

    /// Whether a read may continue from here: nothing was stored, and nothing has been since. Otherwise it needs the
    /// whole response.
    var isCurrent: Bool { snapshot.copy.metadata == nil && snapshot.readToken.holds }
}

/// A copy that can be served without a request.
struct StoredCopy: Sendable {
    /// Metadata of the stored response; nil for the app's bundled copy.
    let metadata: StoredResponseMetadata?
    /// The stored response; nil also if only the metadata was read.
    let response: CachedResponse?
    let source: Provenance.Source
    /// When it was last validated; nil if there is no copy.
    let validatedAt: Date?

    init(of resource: Resource, _ metadata: StoredResponseMetadata?, _ response: CachedResponse? = nil) {
        self.metadata = metadata
        self.response = response
        source = metadata == nil ? resource.bundledSource : .upstream
        validatedAt = metadata?.responseTime ?? resource.bundledAt
    }

    func result(_ cacheStatus: CacheStatus, offline: Bool, stale: Bool) -> ReadResult? {
        validatedAt.map {
            ReadResult(
                response: response,
                provenance: Provenance(
                    source: source,
                    offline: offline,
                    stale: stale,
                    validatedAt: $0,
                    contentFetchedAt: metadata?.contentTime,
                    cacheStatus: cacheStatus
                )
            )
        }
    }
}

extension Provenance {
    /// Returns the provenance of a stored copy that is served in place of a failed request.
    ///
    /// - Parameters:
    ///   - error: Why the request failed.
    ///   - source: Whether the copy is a response of the upstream, or bundled.
    ///   - storedAt: When the copy was last validated.
    ///   - contentFetchedAt: When its content was first received; nil if that is `storedAt`.
    ///   - reason: Why the request was forwarded.
    /// - Returns: Nil if the failure is news that no copy may hide.
    static func serveStale(
        for error: UpstreamError,
        source: Source = .upstream,
        storedAt: Date,
        contentFetchedAt: Date? = nil,
        because reason: CacheStatus.Forward
    ) -> Provenance? {
        let detail: String
        let cause = error.cause
        switch cause {
        case .unreachable: detail = error.wasSent ? "unreachable" : "offline"
        case .failing: detail = "stale-if-error"
        case .badResponse, .forbiddenTarget: detail = "bad-response"
        case .storageFailed(let isFull): detail = isFull ? "storage-full" : "storage-failed"
        case .rejected, .notStored, .known: return nil
        }
        let isOffline = if case .unreachable = cause { true } else { false }
        return Provenance(
            source: source,
            offline: isOffline,
            stale: true,
            validatedAt: storedAt,
            contentFetchedAt: contentFetchedAt,
            cacheStatus: error.wasSent
                ? CacheStatus(.forward(reason), forwardStatus: error.status?.code, detail: detail)
                : CacheStatus(.hit, detail: detail)
        )
    }
}
