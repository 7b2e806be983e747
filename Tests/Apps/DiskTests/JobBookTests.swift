import Foundation
import TestKit
import Testing

@testable import Disk

@Suite("Downloads and operations in SQLite and in PostgreSQL", .timeLimit(.minutes(3)))
struct JobBookTests {
    private static func job(_ id: String = "one") -> DownloadJob {
        DownloadJob(id: id, account: "1130", path: .at("/a"), version: "v", bytesTotal: 10)
    }

    @Test("A version has one download at a time, which ends once", arguments: StoreKind.allCases)
    func downloads(kind: StoreKind) async throws {
        let node = try await DiskNode.alone(kind)
        let jobs = node.jobs
        #expect(try await jobs.share(Self.job(), at: DiskNode.noon) == nil, "no account")
        try await node.logIn()
        #expect(try await jobs.share(Self.job(), at: DiskNode.noon)?.isNew == true)
        let second = try #require(try await jobs.share(Self.job("two"), at: DiskNode.noon))
        #expect(!second.isNew && second.job == Self.job())
        var job = Self.job()
        for event in [DownloadJob.Event.started, .received(bytes: 4), .failed(.changed)] { _ = job.apply(event) }
        #expect(try await jobs.note(job))
        #expect(try await jobs.download("one", account: "1130") == job)
        #expect(try await jobs.download("one", account: "7") == nil)
        #expect(try await !jobs.note(Self.job()), "it has ended")
        #expect(try await jobs.share(Self.job("two"), at: DiskNode.noon)?.isNew == true)
        try await node.logOut()
        #expect(try await jobs.download("two", account: "1130") == nil)
    }

    @Test("An operation ends once; the latest thousand are kept", arguments: StoreKind.allCases)
    func operations(kind: StoreKind) async throws {
        let node = try await DiskNode.alone(kind)
        try await node.logIn()
        func operation(_ number: Int) -> DiskOperation {
            DiskOperation(
                id: "\(number)",
                account: "1130",
                upstreamID: "u",
                action: .move,
                path: .at("/a"),
                target: .at("/b"),
                status: .running
            )
        }
        for number in 0..<1002 {
            try await node.jobs.keep(operation(number), at: DiskNode.noon.addingTimeInterval(Double(number)))
        }
        #expect(try await node.jobs.operation("1", account: "1130") == nil)
        #expect(try await node.jobs.operation("2", account: "1130") == operation(2))
        #expect(try await node.jobs.operation("2", account: "7") == nil)
        #expect(try await node.jobs.finish(operation(2), as: .done))
        #expect(try await !node.jobs.finish(operation(2), as: .failed))
        #expect(try await node.jobs.operation("2", account: "1130")?.status == .done)
    }

    @Test("A download belongs to one server until its lease has run out; then another one takes it up")
    func leases() async throws {
        let (one, other) = try await DiskNode.two()
        try await one.logIn()
        #expect(try await one.jobs.share(Self.job(), at: DiskNode.noon)?.isNew == true)
        #expect(try await other.jobs.share(Self.job("two"), at: DiskNode.noon)?.isNew == false)
        #expect(try await other.jobs.takeUpDownloads() == [])
        var job = Self.job()
        for event in [DownloadJob.Event.started, .received(bytes: 4)] { _ = job.apply(event) }
        #expect(try await one.jobs.note(job))
        #expect(try await one.jobs.renew([job]) == ["one"])
        #expect(try await other.jobs.download("one", account: "1130")?.bytesDone == 4)
        #expect(try await !other.jobs.note(job), "it is not its own")
        #expect(try await other.jobs.renew([job]) == [])
        try await one.endLeases()
        #expect(try await one.jobs.renew([job]) == ["one"], "none has taken it")
        #expect(try await other.jobs.takeUpDownloads() == [])
        try await one.endLeases()
        #expect(try await other.jobs.takeUpDownloads() == [Self.job()])
        #expect(try await one.jobs.renew([job]) == [])
        #expect(try await !one.jobs.note(job))
        try await other.jobs.leaveDownloads()
        #expect(try await one.jobs.takeUpDownloads() == [Self.job()])
    }
}
