package import Foundation

/// A time in the Gregorian calendar, computed without Foundation's calendars, which take a hundred times as long: lists
/// show many times.
package struct CivilTime: Sendable, Equatable {
    /// Year, of four digits.
    package let year: Int
    /// Month, 1 to 12.
    package let month: Int
    /// Day of the month, from 1.
    package let day: Int
    /// Hour, 0 to 23.
    package let hour: Int
    /// Minute, 0 to 59.
    package let minute: Int
    /// Second, 0 to 59.
    package let second: Int

    /// Returns a time in a time zone; nil before 1600 and after 9999, where calendars differ or years have more digits.
    package init?(_ date: Date, in timeZone: TimeZone? = nil) {
        let seconds = date.timeIntervalSince1970.rounded(.down) + Double(timeZone?.secondsFromGMT(for: date) ?? 0)
        guard Self.years1600To9999.contains(seconds) else { return nil }
        let days = (seconds / 86_400).rounded(.down)
        let ofDay = Int(seconds - days * 86_400)
        (hour, minute, second) = (ofDay / 3600, ofDay / 60 % 60, ofDay % 60)
        (year, month, day) = Self.date(daysSince1970: Int(days))
    }

    private static let years1600To9999 = -11_676_096_000.0..<253_402_300_800.0

    /// The date of a day. Years begin in March here, so that the leap day is their last.
    private static func date(daysSince1970: Int) -> (year: Int, month: Int, day: Int) {
        // From the first of March of the year 0; 400 years have 146,097 days.
        let (era, dayOfEra) = (daysSince1970 + 719_468).quotientAndRemainder(dividingBy: 146_097)
        let year = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * year + year / 4 - year / 100)
        let month = (5 * dayOfYear + 2) / 153
        let isNextYear = month >= 10
        return (
            era * 400 + year + (isNextYear ? 1 : 0),
            isNextYear ? month - 9 : month + 3,
            dayOfYear - (153 * month + 2) / 5 + 1
        )
    }
}

extension CivilTime {
    /// Returns the time as a text of digits, such as `2026-01-05T10:00:00Z`.
    ///
    /// - Parameter pattern: ASCII, such as `YYYY-MM-DDThh:mm:ssZ`: the letters Y, M, D, h, m and s stand for the digits
    ///   of their numbers, every other character for itself.
    package func text(_ pattern: StaticString) -> String {
        String(unsafeUninitializedCapacity: pattern.utf8CodeUnitCount) { text in
            var (year, month, day, hour, minute, second) = (year, month, day, hour, minute, second)
            for index in (0..<pattern.utf8CodeUnitCount).reversed() {
                let character = pattern.utf8Start[index]
                text[index] =
                    switch character {
                    case UInt8(ascii: "Y"): Self.takeLastDigit(of: &year)
                    case UInt8(ascii: "M"): Self.takeLastDigit(of: &month)
                    case UInt8(ascii: "D"): Self.takeLastDigit(of: &day)
                    case UInt8(ascii: "h"): Self.takeLastDigit(of: &hour)
                    case UInt8(ascii: "m"): Self.takeLastDigit(of: &minute)
                    case UInt8(ascii: "s"): Self.takeLastDigit(of: &second)
                    default: character
                    }
            }
            return pattern.utf8CodeUnitCount
        }
    }

    private static func takeLastDigit(of number: inout Int) -> UInt8 {
        defer { number /= 10 }
        return UInt8(ascii: "0") + UInt8(number % 10)
    }
}
