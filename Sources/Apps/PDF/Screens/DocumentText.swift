import Foundation
import Screens

/// Values as text, in UTC and without a locale.
enum DocumentText {
    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]
    private static let russianMonths = [
        "января", "февраля", "марта", "апреля", "мая", "июня", "июля", "августа", "сентября", "октября", "ноября",
        "декабря",
    ]

    /// `5 January 2026, 10:00`
    static func date(_ date: Date) -> Text {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute], from: date)
        func two(_ value: Int?) -> String { (value ?? 0) < 10 ? "0\(value ?? 0)" : "\(value ?? 0)" }
        let (day, month) = (parts.day ?? 0, max(0, (parts.month ?? 1) - 1))
        let rest = "\(parts.year ?? 0), \(two(parts.hour)):\(two(parts.minute))"
        return Text("\(day) \(months[month]) \(rest)", ru: "\(day) \(russianMonths[month]) \(rest)")
    }

    /// `812 bytes`, `48 KB`, `1.5 MB`: powers of 1000, as file managers of phones count.
    static func size(_ bytes: Int) -> Text {
        if bytes == 1 { return Text("1 byte", ru: "1 байт") }
        if bytes < 1000 { return .bytes(bytes) }
        for (unit, name, russian) in [(1000, "KB", "КБ"), (1_000_000, "MB", "МБ"), (1_000_000_000, "GB", "ГБ")]
        where bytes < unit * 1000 || unit == 1_000_000_000 {
            let tenths = (bytes * 10 + unit / 2) / unit
            guard tenths < 100, tenths % 10 != 0 else {
                return Text("\((tenths + 5) / 10) \(name)", ru: "\((tenths + 5) / 10) \(russian)")
            }
            let (whole, tenth) = (tenths / 10, tenths % 10)
            return Text("\(whole).\(tenth) \(name)", ru: "\(whole),\(tenth) \(russian)")
        }
        return .bytes(bytes)
    }

    /// `1 page`, `2 pages`
    static func pages(_ count: Int) -> Text {
        Text(count == 1 ? "1 page" : "\(count) pages", ru: "Страниц: \(count)")
    }
}
