package import Foundation

/// The origin of a response and its freshness. Only `Screens` turns it into `meta`, `Cache-Status` and `Age`.
package struct Provenance: Sendable, Equatable {
    /// The kinds of origin (docs/contract.md, "Envelope").
    package enum Source: String, Sendable, Codable {
        /// An upstream, whether the data was fetched for this response or stored before.
        case upstream
        /// Data that is shipped with the program, because the upstream has never responded.
        case bundled
        /// Data without an upstream.
        case local
    }

    /// The origin of the data.
    package var source: Source
    /// The upstream could not be reached. Implies ``stale``.
    package var offline: Bool
    /// The data is older than its freshness time.
    package var stale: Bool
    /// Whether the upstream has sent or validated the data for this response, and not for an earlier one.
    package var isValidatedNow: Bool
    /// When the upstream last validated the data, by sending it or by a 304; nil for local data. `Age` counts from it.
    package var validatedAt: Date?
    /// When this content was first received; later validations do not change it. Nil if that is ``validatedAt``. A
    /// screen's `fetched_at`.
    package var contentFetchedAt: Date?
    /// How the cache handled the request; nil for local data.
    package var cacheStatus: CacheStatus?
    /// The end of the pause because of which the upstream was not asked (`Retry-After`); nil if there is none.
    package var pausedUntil: Date?

    /// Creates the provenance of a response.
    package init(
        source: Source,
        offline: Bool = false,
        stale: Bool = false,
        validatedAt: Date? = nil,
        contentFetchedAt: Date? = nil,
        cacheStatus: CacheStatus? = nil,
        isValidatedNow: Bool = false,
        pausedUntil: Date? = nil
    ) {
        self.source = source
        self.offline = offline
        self.stale = stale || offline
        self.validatedAt = validatedAt
        self.contentFetchedAt = contentFetchedAt
        self.cacheStatus = cacheStatus
        self.isValidatedNow = isValidatedNow
        self.pausedUntil = pausedUntil
    }

    /// Returns the age of the data in seconds; nil for local data. If the clock was set back behind
    /// ``validatedAt``, the distance to it.
    package func age(at now: Date) -> Int? {
        validatedAt.map { Int(abs(now.timeIntervalSince($0))) }
    }

    /// Data that has no upstream: lists, notes, documents, sessions.
    package static let local = Provenance(source: .local)
}
