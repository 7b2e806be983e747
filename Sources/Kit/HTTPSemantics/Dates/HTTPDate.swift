public import Foundation

/// Reads dates of HTTP in their three forms and writes them in the preferred one. RFC 9110 §5.6.7.
public enum HTTPDate {
    private static let fiftyYears = 50 * 365.2425 * 86_400
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
    private static let weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

    /// Reads a date. Names may be in any case, everything else is exact.
    /// - Parameters:
    ///   - text: the value of a field.
    ///   - now: settles the century of a two-digit year: a date that seems more than 50 years ahead is past.
    /// - Returns: nil if the text has none of the three forms.
    public static func parse(_ text: String, now: Date) -> Date? {
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
    public static func format(_ date: Date) -> String {
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
