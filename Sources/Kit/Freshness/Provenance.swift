public import Foundation
public import HTTPCaching

/// The origin of a response and its freshness. Only `Screens` turns it into `meta`, `Cache-Status` and `Age`.
public struct Provenance: Sendable, Equatable {
    /// The kinds of origin (docs/contract.md, "Envelope").
    public enum Source: String, Sendable, Codable {
        /// Fetched for this response.
        case upstream
        /// A stored copy of an upstream.
        case cache
        /// Data without an upstream.
        case local
    }

    /// The origin of the data.
    public var source: Source
    /// The upstream could not be reached. Implies ``stale``.
    public var offline: Bool
    /// The data is older than its freshness time.
    public var stale: Bool
    /// When the upstream last validated the data, by sending it or by a 304; nil for local data. `Age` counts from it.
    public var validatedAt: Date?
    /// When this content was first received; later validations do not change it. Nil if that is ``validatedAt``. A
    /// screen's `fetched_at`.
    public var contentFetchedAt: Date?
    /// How the cache handled the request; nil for local data.
    public var cacheStatus: CacheStatus?

    /// Creates the provenance of a response.
    public init(
        source: Source,
        offline: Bool = false,
        stale: Bool = false,
        validatedAt: Date? = nil,
        contentFetchedAt: Date? = nil,
        cacheStatus: CacheStatus? = nil
    ) {
        self.source = source
        self.offline = offline
        self.stale = stale || offline
        self.validatedAt = validatedAt
        self.contentFetchedAt = contentFetchedAt
        self.cacheStatus = cacheStatus
    }

    /// Data that has no upstream: lists, notes, documents, sessions.
    public static let local = Provenance(source: .local)
}
