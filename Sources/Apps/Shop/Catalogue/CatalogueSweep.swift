import Foundation

/// Follows the parts of the catalogue's unfiltered list as they are read, and tells when all of it was seen. Pure.
///
/// A product that was not in it may be gone. That is no proof: the upstream pages by offset, and moves rows while it is
/// read.
struct CatalogueSweep: Sendable {
    /// Longest time from the first part to the last one, in seconds.
    static let maximumDuration: TimeInterval = 600
    /// Most products that are followed.
    static let maximumCount = 100_000

    private var startedAt: Date?
    /// Position up to which everything was seen.
    private var reached = 0
    private var seen: Set<Int> = []

    /// Takes a part that is fresh.
    ///
    /// - Parameters:
    ///   - ids: The ids of its rows in order, nil for a row without one.
    ///   - limit: Number of rows that were requested.
    /// - Returns: The ids of all products if this part completes the list.
    mutating func take(_ ids: [Int?], offset: Int, limit: Int, at now: Date) -> Set<Int>? {
        if offset == 0 { (startedAt, reached, seen) = (now, 0, []) }
        guard let startedAt, now.timeIntervalSince(startedAt) <= Self.maximumDuration, offset <= reached,
            ids.count <= limit, seen.count <= Self.maximumCount
        else { return nil }
        seen.formUnion(ids.compactMap { $0 })
        reached = max(reached, offset + ids.count)
        guard ids.count < limit else { return nil }
        self.startedAt = nil
        return seen
    }
}
