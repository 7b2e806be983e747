import Foundation
import Freshness
import HTTPCaching
import NIOCore
import ResponseStore

/// What a read depends on apart from the store.
public struct ReadWitness: Sendable {
    /// Holds until the reachability or the stored response changes, or any stored response if its URL is not known yet.
    let unchanged: ChangeToken
    /// Holds until any stored response is removed.
    let unremoved: ChangeToken
}

/// What a read depends on.
struct ReadSnapshot {
    let witness: ReadWitness
    let now: Date
    /// The same instant on the monotonic clock.
    let instant: NIODeadline
    let copy: StoredCopy
    let isReachable: Bool
    let pause: Reachability.Pause?
}

/// What a read can be served with without a request.
struct StoredCopy {
    /// What is known of the stored response; nil for the app's bundled copy.
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
                provenance: .stored(
                    source,
                    at: $0,
                    contentFetchedAt: metadata?.contentTime,
                    cacheStatus,
                    offline: offline,
                    stale: stale
                )
            )
        }
    }
}
