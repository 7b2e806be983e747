package import Foundation
import HTTP

/// A time in the Gregorian calendar, computed without Foundation's calendars, which take a hundred times as long: lists
/// show many times.
package struct CivilTime: Sendable, Equatable {
    package let year: Int
    package let month: Int
    package let day: Int
    package let hour: Int
    package let minute: Int
    package let second: Int

    /// Returns a time in a time zone; nil before 1600 and after 9999, where calendars differ or years have more digits.
    package init?(_ date: Date, in timeZone: TimeZone? = nil) {
        let seconds = date.timeIntervalSince1970.rounded(.down) + Double(timeZone?.secondsFromGMT(for: date) ?? 0)
        guard Self.years1600To9999.contains(seconds) else { return nil }
        let days = (seconds / 86_400).rounded(.down)
        let ofDay = Int(seconds - days * 86_400)
        (hour, minute, second) = (ofDay / 3600, ofDay / 60 % 60, ofDay % 60)
        let date = CivilDate(daysSince1970: Int(days))
        (year, month, day) = (date.year, date.month, date.day)
    }

    private static let years1600To9999 = -11_676_096_000.0..<253_402_300_800.0
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
