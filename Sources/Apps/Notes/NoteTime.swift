import Foundation
import NIOCore
import Screens

/// Times as the app writes them, in the time zone of whoever reads: `Today at 14:59`, `Sep 8 at 14:59`.
struct NoteTime: Sendable {
    private let calendar: Calendar
    private let today: DateInterval
    private let now: Date

    /// - Parameter now: Decides what `Today` is.
    init(in zone: TimeZone, now: Date) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        self.calendar = calendar
        self.now = now
        let start = calendar.startOfDay(for: now)
        // A day is 23 or 25 hours long where clocks change; 86 400 s stand in where a calendar knows no response.
        today = calendar.dateInterval(of: .day, for: now) ?? DateInterval(start: start, duration: 86_400)
    }

    /// The text of a time.
    func text(_ date: Date) -> String {
        let parts = calendar.dateComponents([.month, .day, .hour, .minute], from: date)
        let minute = parts.minute ?? 0
        let time = "\(parts.hour ?? 0):\(minute < 10 ? "0" : "")\(minute)"
        if date >= today.start, date < today.end { return "Today at \(parts.hour ?? 0 < 10 ? "0" : "")\(time)" }
        return
            "\(Self.months[max(0, min(11, (parts.month ?? 1) - 1))]) \(parts.day ?? 1) at \(parts.hour ?? 0 < 10 ? "0" : "")\(time)"
    }

    /// When these texts end to be right: at the next midnight.
    var deadline: NIODeadline {
        .now() + .nanoseconds(Int64(max(0, today.end.timeIntervalSince(now)) * 1e9))
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}

extension QueryItems {
    /// The time zone `tz`, an IANA name such as `Europe/Paris`; UTC without one. 400 for what is none.
    func timeZone() throws -> TimeZone {
        guard let name = try string("tz") else { return .gmt }
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        // Only what can be a name is looked up: the data are files.
        let isName = parts.allSatisfy { part in
            !part.isEmpty && part.utf8.count <= 32
                && part.utf8.allSatisfy {
                    $0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A || (0x30...0x39).contains($0) || "_+-".utf8.contains($0)
                }
        }
        guard isName, parts.count <= 3, parts.count > 1 || ["UTC", "GMT"].contains(name),
            let zone = TimeZone(identifier: name)
        else {
            throw Problem.invalidParameter("tz", accepted: "accepts the IANA name of a time zone, such as Europe/Paris")
        }
        return zone
    }
}
