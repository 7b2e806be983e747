import Database

/// How much may be cached: stored responses with their bodies, and page lists. Sessions, apps' rows and secrets are not
/// cached data and count for nothing here.
public struct CacheBudget: Sendable, Equatable {
    /// No limit.
    public static let unlimited = CacheBudget(bytes: .max)

    /// The most that is kept, in bytes as ``ResponseStore/Total`` counts them: bodies, header fields and keys. What
    /// SQLite needs around them comes on top.
    public let bytes: Int

    /// A budget of so many bytes.
    public init(bytes: Int) {
        self.bytes = max(0, bytes)
    }

    /// Eviction that has begun goes on to here, so that the next answer does not begin it again: nine tenths.
    public var lowWaterMark: Int { bytes / 10 * 9 }

    /// Whether something has to go.
    public func isExceeded(by total: Int) -> Bool { total > bytes }

    /// Bytes to free once something has to go; 0 when enough is free.
    public func excess(of total: Int) -> Int { max(0, total - lowWaterMark) }

    /// Whether a response of this size is worth storing. One above the low-water mark would push out everything else,
    /// and then be the next to go itself.
    public func admits(_ size: Int) -> Bool { size <= lowWaterMark }
}
