import Foundation
import Synchronization

/// A date that only moves forward.
final class LatestDate: Sendable {
    private let date: Mutex<Date>

    init(_ date: Date) { self.date = Mutex(date) }

    /// Whether it is before `other`.
    func isBefore(_ other: Date) -> Bool { date.withLock { $0 < other } }

    /// Moves the date forward.
    ///
    /// - Returns: False if it is not before `other`.
    @discardableResult
    func advance(to other: Date) -> Bool {
        date.withLock { date in
            guard other > date else { return false }
            date = other
            return true
        }
    }
}
