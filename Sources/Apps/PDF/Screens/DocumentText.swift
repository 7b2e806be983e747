import Foundation

/// Values as text, in UTC and without a locale.
enum DocumentText {
    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]

    /// `5 January 2026, 10:00`
    static func date(_ date: Date) -> String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute], from: date)
        func two(_ value: Int?) -> String { (value ?? 0) < 10 ? "0\(value ?? 0)" : "\(value ?? 0)" }
        let month = months[max(0, (parts.month ?? 1) - 1)]
        return "\(parts.day ?? 0) \(month) \(parts.year ?? 0), \(two(parts.hour)):\(two(parts.minute))"
    }

    /// `812 bytes`, `48 KB`, `1.5 MB`: powers of 1000, as file managers of phones count.
    static func size(_ bytes: Int) -> String {
        if bytes == 1 { return "1 byte" }
        if bytes < 1000 { return "\(bytes) bytes" }
        for (unit, name) in [(1000, "KB"), (1_000_000, "MB"), (1_000_000_000, "GB")]
        where bytes < unit * 1000 || unit == 1_000_000_000 {
            let tenths = (bytes * 10 + unit / 2) / unit
            return tenths < 100 && tenths % 10 != 0
                ? "\(tenths / 10).\(tenths % 10) \(name)" : "\((tenths + 5) / 10) \(name)"
        }
        return "\(bytes) bytes"
    }

    /// `1 page`, `2 pages`
    static func pages(_ count: Int) -> String { count == 1 ? "1 page" : "\(count) pages" }
}
