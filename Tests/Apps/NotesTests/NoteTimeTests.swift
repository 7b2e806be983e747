import Foundation
import NIOCore
import Screens
import Testing

@testable import Notes

@Suite("Times of notes")
struct NoteTimeTests {
    private func date(_ text: String) throws -> Date { try Date(text, strategy: .iso8601) }
    private func zone(_ name: String) throws -> TimeZone { try #require(TimeZone(identifier: name)) }

    @Test(
        "NOTE-03 Today's times say so, others name the day, in the zone of the reader",
        arguments: [
            ("2026-09-08T14:59:00Z", "2026-09-08T23:59:59Z", "GMT", "Today at 14:59"),
            ("2026-09-08T14:59:00Z", "2026-09-09T00:00:00Z", "GMT", "Sep 8 at 14:59"),
            ("2026-09-08T00:00:00Z", "2026-09-08T10:00:00Z", "GMT", "Today at 00:00"),
            ("2025-12-31T23:30:00Z", "2026-01-01T10:00:00Z", "Europe/Paris", "Today at 00:30"),
            ("2026-01-01T03:05:00Z", "2026-01-01T10:00:00Z", "America/New_York", "Dec 31 at 22:05"),
            ("2026-01-05T10:00:00Z", "2026-01-05T09:00:00Z", "GMT", "Today at 10:00"),
        ]
    )
    func text(modified: String, now: String, zoneName: String, expected: String) throws {
        let time = NoteTime(in: try zone(zoneName), now: try date(now))
        #expect(time.text(try date(modified)).english == expected)
    }

    @Test("HARN-30 times are written in Russian, too")
    func russian() throws {
        let time = NoteTime(in: .gmt, now: try date("2026-09-09T00:00:00Z"))
        #expect(time.text(try date("2026-09-08T14:59:00Z")).russian == "8 сент. в 14:59")
        #expect(time.text(try date("2026-09-09T05:07:00Z")).russian == "Сегодня в 05:07")
    }

    @Test(
        "The deadline is the next midnight of the time zone, also on a day of 23 or 25 hours",
        arguments: [
            ("2026-01-05T10:00:00Z", "GMT", 50400.0), ("2026-01-05T10:00:00Z", "Europe/Paris", 46800.0),
            ("2026-03-28T23:00:00Z", "Europe/Paris", 82800.0),
            ("2026-10-24T22:00:00Z", "Europe/Paris", 90000.0), ("2026-01-05T23:59:59Z", "GMT", 1.0),
        ]
    )
    func deadline(now: String, zoneName: String, seconds: Double) throws {
        let before = NIODeadline.now()
        let deadline = NoteTime(in: try zone(zoneName), now: try date(now)).deadline
        let span = Double((deadline - before).nanoseconds) / 1e9
        #expect(span >= seconds && span < seconds + 60)
    }
}
