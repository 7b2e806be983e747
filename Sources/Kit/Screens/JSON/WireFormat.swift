package import Foundation

/// Converts values to bytes: JSON, UTF-8, snake_case, members in the order of their declaration, RFC 3339 UTC times.
/// Equal values give equal bytes, so a body can be hashed and stored.
package enum WireFormat {
    /// Encodes a value.
    /// - Throws: `EncodingError`.
    package static func encode(_ value: some Encodable) throws -> Data {
        try JSONStreamEncoder.encode(value)
    }

    /// Returns RFC 3339 in UTC with whole seconds, such as `2026-01-05T10:00:00Z`.
    package static func timestamp(_ date: Date) -> String {
        guard let time = CivilTime(date) else { return date.formatted(Date.ISO8601FormatStyle(timeZone: .gmt)) }
        return time.text("YYYY-MM-DDThh:mm:ssZ")
    }
}

/// An optional that is written as `null` if it is nil. Swift leaves a plain optional out.
///
/// A field of the contract is always there, so that front ends need not distinguish an absent field from an empty one.
@propertyWrapper @usableFromInline
package struct Nullable<Value: Encodable & Sendable>: Encodable, Sendable {
    /// The value, if there is one.
    @usableFromInline package var wrappedValue: Value?

    @inlinable
    package init(wrappedValue: Value?) {
        self.wrappedValue = wrappedValue
    }

    /// Writes the value or `null`.
    @usableFromInline
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue {
            try container.encode(wrappedValue)
        } else {
            try container.encodeNil()
        }
    }
}

extension Nullable: Equatable where Value: Equatable {}

// Synthesized `encode(to:)` chooses these before the standard library's: most members of lists have one of these types,
// and the generic way takes twice the instructions, for metadata of optionals and a container for each value. The
// choice is made by the types that the compiler sees: within the generic `Nullable<Value>` the value's own `encode` is
// the generic one, so strings have an overload of their own, and an encoder's own `encodeIfPresent` is never called.
extension KeyedEncodingContainer {
    @inlinable
    package mutating func encode<Value>(_ value: Nullable<Value>, forKey key: Key) throws {
        if let value = value.wrappedValue { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
    }

    @inlinable
    package mutating func encode(_ value: Nullable<String>, forKey key: Key) throws {
        if let value = value.wrappedValue { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
    }

    @inlinable
    package mutating func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) }
    }

    package mutating func encode(_ text: Text, forKey key: Key) throws {
        try encode(text[Language.current], forKey: key)
    }

    package mutating func encode(_ link: Link, forKey key: Key) throws {
        try encode(link.requestTarget, forKey: key)
    }
}

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
