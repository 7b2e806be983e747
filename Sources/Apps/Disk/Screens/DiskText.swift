import Foundation
import Screens

/// Formats sizes and times.
enum DiskText {
    private static let kilobyte = 1024.0

    /// Returns a size for lists: KB, MB or GB (powers of 1024) with two decimals, or `Unknown size`.
    static func size(_ bytes: Int?) -> Text {
        guard let bytes else { return .unknownSize }
        let size = Double(bytes)
        if size < kilobyte * kilobyte { return .kilobytes(decimal(size / kilobyte)) }
        if size < kilobyte * kilobyte * kilobyte { return .megabytes(decimal(size / kilobyte / kilobyte)) }
        return .gigabytes(decimal(size / kilobyte / kilobyte / kilobyte))
    }

    /// Returns a size for the profile: GB (powers of 1024), without decimals if it is whole, else with two.
    static func gigabytes(_ bytes: Int) -> Text {
        let size = Double(bytes) / kilobyte / kilobyte / kilobyte
        return .gigabytes(size == size.rounded() ? "\(Int(size))" : decimal(size))
    }

    /// Returns a share of 1 in whole per cents.
    static func share(_ share: Double) -> Text { .perCent(Int((share * 100).rounded(.down))) }

    /// Returns a time as `dd.MM.yyyy HH:mm` in a time zone, or `Unknown date`.
    static func date(_ date: Date?, in timeZone: TimeZone) -> Text {
        guard let date else { return .unknownDate }
        guard let time = CivilTime(date, in: timeZone) else {
            return Text(verbatim: calendarDate(date, in: timeZone))
        }
        return Text(verbatim: time.text("DD.MM.YYYY hh:mm"))
    }

    /// The same of any year.
    private static func calendarDate(_ date: Date, in timeZone: TimeZone) -> String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute], from: date)
        let day = "\(two(parts.day)).\(two(parts.month)).\(padded(parts.year ?? 0, 4))"
        return "\(day) \(two(parts.hour)):\(two(parts.minute))"
    }

    private static func two(_ number: Int?) -> String { padded(number ?? 0, 2) }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }

    /// Returns a number with two decimals and a point, independent of the locale.
    private static func decimal(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        return "\(hundredths / 100).\(padded(hundredths % 100, 2))"
    }
}
