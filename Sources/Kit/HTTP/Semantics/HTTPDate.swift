package import Foundation
package import HTTPTypes

/// Reads dates of HTTP in their three forms and writes them in the preferred one. RFC 9110 §5.6.7.
package enum HTTPDate {
    private static let fiftyYears = 50 * 365.2425 * 86_400
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
    private static let weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

    /// Reads a date. Names may be in any case, everything else is exact.
    /// - Parameters:
    ///   - text: the value of a field.
    ///   - now: settles the century of a two-digit year: a date that seems more than 50 years ahead is past.
    /// - Returns: nil if the text has none of the three forms.
    package static func parse(_ text: String, now: Date) -> Date? {
        var reader = DateReader(text)
        guard let weekday = reader.letters() else { return nil }
        if reader.take(" ") {
            return weekdays.contains(where: { $0.prefix(3) == weekday }) ? asctime(&reader) : nil
        }
        guard reader.take(","), reader.take(" "), let day = reader.number(digits: 2) else { return nil }
        if reader.take(" ") {
            // IMF-fixdate: Sun, 06 Nov 1994 08:49:37 GMT
            guard weekdays.contains(where: { $0.prefix(3) == weekday }), let month = month(&reader), reader.take(" "),
                let year = reader.number(digits: 4), reader.take(" "), let time = time(&reader), isGMT(&reader)
            else { return nil }
            return date(year: year, month: month, day: day, secondOfDay: time)
        }
        // rfc850-date: Sunday, 06-Nov-94 08:49:37 GMT
        guard reader.take("-"), weekdays.contains(weekday), let month = month(&reader), reader.take("-"),
            let short = reader.number(digits: 2), reader.take(" "), let time = time(&reader), isGMT(&reader)
        else { return nil }
        return date(twoDigitYear: short, month: month, day: day, secondOfDay: time, now: now)
    }

    /// Reads an asctime-date: Sun Nov  6 08:49:37 1994
    private static func asctime(_ reader: inout DateReader) -> Date? {
        guard let month = month(&reader), reader.take(" "),
            let day = reader.take(" ") ? reader.number(digits: 1) : reader.number(digits: 2),
            reader.take(" "), let time = time(&reader), reader.take(" "), let year = reader.number(digits: 4),
            reader.isAtEnd
        else { return nil }
        return date(year: year, month: month, day: day, secondOfDay: time)
    }

    private static func month(_ reader: inout DateReader) -> Int? {
        guard let name = reader.letters(), let index = months.firstIndex(of: name) else { return nil }
        return index + 1
    }

    private static func isGMT(_ reader: inout DateReader) -> Bool {
        reader.take(" ") && reader.letters() == "gmt" && reader.isAtEnd
    }

    /// Returns the second of the day; a leap second counts as the first one of the next minute.
    private static func time(_ reader: inout DateReader) -> Int? {
        guard let hour = reader.number(digits: 2), hour <= 23, reader.take(":"),
            let minute = reader.number(digits: 2), minute <= 59, reader.take(":"),
            let second = reader.number(digits: 2), second <= 60
        else { return nil }
        return (hour * 60 + minute) * 60 + second
    }

    private static func date(year: Int, month: Int, day: Int, secondOfDay: Int) -> Date? {
        guard day >= 1, day <= CivilDate.days(inMonth: month, of: year) else { return nil }
        let days = CivilDate(year: year, month: month, day: day).daysSince1970
        return Date(timeIntervalSince1970: Double(days * 86_400 + secondOfDay))
    }

    private static func date(twoDigitYear: Int, month: Int, day: Int, secondOfDay: Int, now: Date) -> Date? {
        let current = CivilDate(daysSince1970: Int((now.timeIntervalSince1970 / 86_400).rounded(.down))).year
        let century = current - current % 100
        // The latest such year that is not more than 50 years ahead.
        for base in [century + 100, century, century - 100] {
            guard let date = date(year: base + twoDigitYear, month: month, day: day, secondOfDay: secondOfDay) else {
                continue
            }
            if date.timeIntervalSince(now) <= fiftyYears { return date }
        }
        return nil
    }

    /// Writes a date as IMF-fixdate, such as `Sun, 06 Nov 1994 08:49:37 GMT`; fractions of a second are cut off.
    package static func format(_ date: Date) -> String {
        let seconds = Int(date.timeIntervalSince1970.rounded(.down))
        let days = Int((Double(seconds) / 86_400).rounded(.down))
        let inDay = seconds - days * 86_400
        let civil = CivilDate(daysSince1970: days)
        // 1 January 1970 was a Thursday.
        let weekday = weekdays[((days + 3) % 7 + 7) % 7].prefix(3).capitalized
        let month = months[civil.month - 1].capitalized
        let year = String(repeating: "0", count: max(0, 4 - String(civil.year).count)) + String(civil.year)
        let time = "\(padded(inDay / 3600)):\(padded(inDay / 60 % 60)):\(padded(inDay % 60))"
        return "\(weekday), \(padded(civil.day)) \(month) \(year) \(time) GMT"
    }

    private static func padded(_ number: Int) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}

/// Reads the parts of a date, one after another.
struct DateReader {
    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = Substring(text).utf8
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// Takes this character if it is next, and returns whether it was.
    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    /// Takes a run of letters and returns it in lower case; nil if there is none.
    mutating func letters() -> String? {
        let run = rest.prefix { ($0 | 0x20) >= UInt8(ascii: "a") && ($0 | 0x20) <= UInt8(ascii: "z") }
        guard !run.isEmpty else { return nil }
        rest = rest.dropFirst(run.count)
        return String(decoding: run.map { $0 | 0x20 }, as: UTF8.self)
    }

    /// Takes a number of exactly this many digits; a further digit is refused by the next step.
    mutating func number(digits: Int) -> Int? {
        let run = rest.prefix(digits)
        guard run.count == digits, run.allSatisfy(\.isASCIIDigit) else { return nil }
        rest = rest.dropFirst(digits)
        return run.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
}

/// A day of the proleptic Gregorian calendar, converted on integers: formatters are too slow for the path of every
/// request.
///
/// The year is counted from March, so that the leap day is its last day. There are 719,468 days between 1 March of year
/// 0 and 1 January 1970.
package struct CivilDate: Equatable {
    package var year: Int
    package var month: Int
    package var day: Int
}

extension CivilDate {
    package init(daysSince1970 days: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    var daysSince1970: Int {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

/// A number of seconds in a field or directive. RFC 9111 §1.2.2.
package enum DeltaSeconds: Sendable, Equatable {
    /// A valid count, at most ``limit``.
    case seconds(Int)
    /// Present, but not a count, or given twice with different counts. If freshness depends on it, the response is
    /// stale (RFC 9111 §4.2.1).
    case invalid

    /// The number to which a larger one is reduced: 2³¹. RFC 9111 §1.2.2.
    package static let limit = 2_147_483_648

    /// Reads `1*DIGIT`; anything else is ``invalid``.
    package init(_ text: some StringProtocol) {
        guard let seconds = Self.parse(text) else {
            self = .invalid
            return
        }
        self = .seconds(seconds)
    }

    /// The count; nil if it is invalid.
    package var value: Int? {
        if case .seconds(let seconds) = self { seconds } else { nil }
    }

    /// Reads `1*DIGIT`.
    /// - Returns: the number, at most ``limit``; nil if the text is anything else.
    package static func parse(_ text: some StringProtocol) -> Int? {
        guard !text.isEmpty else { return nil }
        var value = 0
        for byte in text.utf8 {
            guard byte.isASCIIDigit else { return nil }
            value = min(value * 10 + Int(byte - 0x30), limit)
        }
        return value
    }
}

/// Reads `Retry-After`: a number of seconds, or a date. RFC 9110 §10.2.3.
package enum RetryAfter {
    /// Returns how long the sender asks to wait.
    /// - Parameters:
    ///   - fields: header fields of a response.
    ///   - now: when the response was received.
    /// - Returns: whole seconds from `now`, at least 0; nil if the field is absent or cannot be read.
    package static func seconds(_ fields: HTTPFields, at now: Date) -> Int? {
        guard let value = fields[.retryAfter].map({ FieldList.trim($0) }) else { return nil }
        if let seconds = DeltaSeconds.parse(value) { return seconds }
        return HTTPDate.parse(String(value), now: now).map { max(0, Int($0.timeIntervalSince(now).rounded(.up))) }
    }
}
