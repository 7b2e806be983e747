import Testing

@testable import Disk

@Suite("The order of work on offline files")
struct OfflineScheduleTests {
    private static func fetch(_ account: String, _ name: String) throws -> OfflineSchedule.Job {
        .fetch(OfflineKey(account: account, path: try #require(DiskPath("disk:/\(name)"))))
    }

    private static func check(_ account: String, _ name: String) throws -> OfflineSchedule.Job {
        .check(OfflineKey(account: account, path: try #require(DiskPath("disk:/\(name)"))))
    }

    @Test("DISK-39 no more jobs run than the limit, none twice, and accounts take turns")
    func turns() throws {
        var schedule = OfflineSchedule(limit: 3)
        let large = try (0..<5).map { try Self.fetch("a", "\($0)") }
        let other = try Self.fetch("b", "x")
        #expect(schedule.begin(large + [other]) { _ in false } == [large[0], other, large[1]])
        #expect(schedule.begin(large + [other]) { _ in false } == [])
        schedule.end(large[0])
        #expect(schedule.begin(large + [other]) { _ in false } == [large[0]])
        schedule.end(other)
        let next = try Self.fetch("b", "y")
        #expect(schedule.begin([large[2], next]) { _ in false } == [next], "it is the turn of the other account")
        #expect(schedule.running.count == 3)
    }

    @Test("DISK-39 an account whose API requested a pause waits, others do not; one comparison of an account at a time")
    func pauses() throws {
        var schedule = OfflineSchedule(limit: 4)
        let jobs = [
            try Self.check("a", "1"), try Self.check("a", "2"), try Self.fetch("a", "3"), try Self.fetch("b", "4"),
        ]
        #expect(schedule.begin(jobs) { $0 == "a" } == [jobs[3]])
        #expect(schedule.begin(jobs) { _ in false } == [jobs[0], jobs[2]])
        schedule.end(jobs[0])
        #expect(schedule.begin([jobs[1]]) { _ in false } == [jobs[1]])
        #expect(schedule.begin([jobs[0]]) { _ in true } == [])
    }

    @Test("a limit of 0 would never do anything")
    func smallestLimit() throws {
        var schedule = OfflineSchedule(limit: 0)
        let job = try Self.fetch("a", "1")
        #expect(schedule.begin([job]) { _ in false } == [job])
    }
}
