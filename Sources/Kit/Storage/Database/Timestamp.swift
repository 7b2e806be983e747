package import Foundation

// Times are stored as INTEGER milliseconds since 1970-01-01 UTC: exact to compare and to index, and finer than the
// whole seconds that HTTP knows. Fractions of a millisecond are cut off, so a stored time is never later than the true
// one, and an age never too small.
extension Date {
    /// Milliseconds since 1970-01-01 UTC. The hundredth compensates for the rounding of `Double`, which would lose a
    /// millisecond on each way through the database.
    package var millisecondsSince1970: Int64 {
        Int64(exactly: (timeIntervalSince1970 * 1000 + 0.01).rounded(.down))
            ?? (timeIntervalSince1970 > 0 ? .max : .min)
    }

    /// Creates the instant of a stored number.
    package init(millisecondsSince1970 milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }
}
