import Foundation
import HTTPSemantics
import NIOCore

/// The text of `Date`, formatted once a second.
struct ServerDate {
    private(set) var text = ""
    private var validUntil = NIODeadline.distantPast

    /// Updates the text.
    /// - Parameters:
    ///   - now: the event loop's instant
    ///   - wall: the machine's time
    mutating func update(now: NIODeadline, wall: () -> Date = { Date() }) {
        guard now >= validUntil else { return }
        let date = wall()
        let seconds = date.timeIntervalSince1970
        text = HTTPDate.format(date)
        validUntil = now + .nanoseconds(Int64((seconds.rounded(.down) + 1 - seconds) * 1e9))
    }
}
