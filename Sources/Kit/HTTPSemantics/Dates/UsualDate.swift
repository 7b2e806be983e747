import Foundation

/// Dates in the spelling that servers generate, `Sun, 06 Nov 1994 08:49:37 GMT`: each byte has its place. Every stored
/// response that is served has two of them.
enum UsualDate {
    private static let months = codes("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec")
    private static let weekdays = codes("Mon Tue Wed Thu Fri Sat Sun")
    private static let length = 29

    private static func codes(_ names: String) -> [Int] { names.utf8.split(separator: 0x20).map(code) }

    private static func code(_ letters: some Collection<UInt8>) -> Int { letters.reduce(0) { $0 << 8 | Int($1) } }

    /// Reads a date.
    ///
    /// - Returns: Nil for any other spelling, and for no date.
    static func parse(_ text: String) -> Date? {
        var text = text
        return text.withUTF8 { bytes in
            guard bytes.count == length, weekdays.contains(code(bytes[0..<3])), has(", ", bytes, 3), has(" ", bytes, 7),
                let month = months.firstIndex(of: code(bytes[8..<11])), has(" ", bytes, 11), has(" ", bytes, 16),
                has(":", bytes, 19), has(":", bytes, 22), has(" GMT", bytes, 25),
                let day = number(bytes[5..<7]), let year = number(bytes[12..<16]), let hour = number(bytes[17..<19]),
                let minute = number(bytes[20..<22]), let second = number(bytes[23..<25]),
                hour <= 23, minute <= 59, second <= 60
            else { return nil }
            let secondOfDay = (hour * 60 + minute) * 60 + second
            return HTTPDate.date(year: year, month: month + 1, day: day, secondOfDay: secondOfDay)
        }
    }

    private static func has(_ text: StaticString, _ bytes: UnsafeBufferPointer<UInt8>, _ position: Int) -> Bool {
        text.withUTF8Buffer { $0.elementsEqual(bytes[position..<(position + $0.count)]) }
    }

    private static func number(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
        var number = 0
        for digit in digits {
            guard digit.isASCIIDigit else { return nil }
            number = number * 10 + Int(digit - 0x30)
        }
        return number
    }
}
