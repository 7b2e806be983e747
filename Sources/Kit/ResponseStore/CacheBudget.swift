import Database

/// The limit of the cache: stored responses with their bodies, and page lists. Sessions, rows of apps and secrets do
/// not count.
public struct CacheBudget: Sendable, Equatable {
    /// No limit.
    public static let unlimited = CacheBudget(bytes: .max)

    /// The limit in bytes as ``ResponseStore/Total`` counts them: bodies, header fields and keys, without the overhead
    /// of SQLite.
    public let bytes: Int

    /// Creates a budget in bytes.
    public init(bytes: Int) {
        self.bytes = max(0, bytes)
    }

    /// Eviction continues until this is reached, so that the next response does not start it again: nine tenths.
    public var lowWaterMark: Int { bytes / 10 * 9 }

    /// Returns whether something has to be evicted.
    public func isExceeded(by total: Int) -> Bool { total > bytes }

    /// Returns the bytes to free once the budget is exceeded; 0 if enough is free.
    public func excess(of total: Int) -> Int { max(0, total - lowWaterMark) }

    /// Returns whether a response of this size may be stored. One above the low-water mark would evict everything else
    /// and be the next to be evicted.
    public func admits(_ size: Int) -> Bool { size <= lowWaterMark }
}
