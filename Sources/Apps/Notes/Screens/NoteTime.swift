import Foundation
import NIOCore
import Screens

/// Times as text, in the time zone of the user: `Today at 14:59`, `Sep 8 at 14:59`; `Сегодня в 14:59`, `8 сент. в
/// 14:59`.
struct NoteTime: Sendable {
    private let calendar: Calendar
    private let today: DateInterval
    private let now: Date

    /// Creates the texts of a time zone.
    ///
    /// - Parameter now: decides what `Today` is.
    init(in zone: TimeZone, now: Date) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        self.calendar = calendar
        self.now = now
        let start = calendar.startOfDay(for: now)
        // A day has 23 or 25 hours when clocks change; 24 if the calendar cannot tell.
        today = calendar.dateInterval(of: .day, for: now) ?? DateInterval(start: start, duration: 86_400)
    }

    /// Returns the text of a time.
    func text(_ date: Date) -> Text {
        let parts = calendar.dateComponents([.month, .day, .hour, .minute], from: date)
        let minute = parts.minute ?? 0
        let hour = parts.hour ?? 0
        let time = "\(hour < 10 ? "0" : "")\(hour):\(minute < 10 ? "0" : "")\(minute)"
        if date >= today.start, date < today.end { return Text("Today at \(time)", ru: "Сегодня в \(time)") }
        let month = max(0, min(11, (parts.month ?? 1) - 1))
        let day = parts.day ?? 1
        return Text("\(Self.months[month]) \(day) at \(time)", ru: "\(day) \(Self.russianMonths[month]) в \(time)")
    }

    /// When these texts change: at the next midnight.
    var deadline: NIODeadline {
        .now() + .nanoseconds(Int64(max(0, today.end.timeIntervalSince(now)) * 1e9))
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let russianMonths = [
        "янв.", "февр.", "марта", "апр.", "мая", "июня", "июля", "авг.", "сент.", "окт.", "нояб.", "дек.",
    ]
}
