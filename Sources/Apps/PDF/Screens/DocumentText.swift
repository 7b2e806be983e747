import Foundation
import Screens

/// Values as text.
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
    static func date(_ date: Date, in zone: TimeZone) -> Text {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute], from: date)
        func two(_ value: Int?) -> String { (value ?? 0) < 10 ? "0\(value ?? 0)" : "\(value ?? 0)" }
        let (day, month) = (parts.day ?? 0, max(0, (parts.month ?? 1) - 1))
        let rest = "\(parts.year ?? 0), \(two(parts.hour)):\(two(parts.minute))"
        return Text("\(day) \(months[month]) \(rest)", ru: "\(day) \(russianMonths[month]) \(rest)")
    }

    /// `1 page`, `2 pages`
    static func pages(_ count: Int) -> Text {
        Text(count == 1 ? "1 page" : "\(count) pages", ru: "Страниц: \(count)")
    }
}
