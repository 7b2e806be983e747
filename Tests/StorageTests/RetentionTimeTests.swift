import Foundation
import TestKit
import Testing

@testable import Storage

/// The time by which data of users expires, however the clock goes.
@Suite struct RetentionTimeTests {
    private static let now = Date(timeIntervalSince1970: 1_750_000_000)

    private static func days(_ days: Double) -> Date { now.addingTimeInterval(days * 86_400) }

    /// Returns the time by which data expires after readings of the clock, in days.
    private static func time(after readings: [Double]) -> Double {
        var time = RetentionTime(recorded: now)
        for reading in readings { time.observe(days(reading)) }
        return time.time(at: days(readings.last ?? 0)).timeIntervalSince(now) / 86_400
    }

    @Test(
        "SCALE-22 data expires by the clock, but not by one that has jumped ahead less than a day ago",
        arguments: [
            ([0.5], 0.5), ([1, 2, 3], 3),
            // A jump, and the way back.
            ([400], 0), ([400, 400.5], 0), ([400, 0.1], 0.1), ([400, 0.1, 400], 0.1),
            // A server that was off for 40 days: a day later it is believed.
            ([40, 40.5, 41], 41), ([40, 40.1, 60, 60.5], 60.5),
            // A second jump within the trial, and one backwards, begin it anew.
            ([40, 400, 400.9], 0), ([400, 40, 40.9], 0), ([400, 440, 440.5], 0), ([40, 400, 401], 401),
            // A clock that is behind lets nothing expire sooner.
            ([-400], -400), ([-400, 0.5], 0.5), ([-400, 0.5, 400], 0.5),
        ] as [([Double], Double)]
    )
    func readings(_ readings: [Double], time: Double) {
        #expect(abs(Self.time(after: readings) - time) < 1e-6)
    }

    @Test("SCALE-22 a database records the time each hour, and a jump of the clock is known to the next start")
    func record() throws {
        let directory = try DataDirectory.temporary()
        let database = try LarderDatabase(in: directory, logger: .quiet)
        #expect(try !database.observe(Self.now).isOutcomeUnknown)
        #expect(try database.observe(Self.days(0.01)).recorded == Self.days(0.01))
        #expect(try database.observe(Self.days(0)).recorded == Self.now)
        #expect(try database.observe(Self.days(0.5)).recorded == Self.days(0.5))
        #expect(try database.observe(Self.days(400)).time(at: Self.days(400)) == Self.days(0.5))
        #expect(try database.observe(Self.days(400.5)).isOutcomeUnknown)
        #expect(try database.observe(Self.days(401)).time(at: Self.days(401)) == Self.days(401))
    }
}
