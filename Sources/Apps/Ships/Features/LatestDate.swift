import Foundation
import Synchronization

/// A date that only moves forward.
final class LatestDate: Sendable {
    private let date: Mutex<Date>

    init(_ date: Date) { self.date = Mutex(date) }

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
