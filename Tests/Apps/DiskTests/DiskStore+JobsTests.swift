import Cluster
import Foundation
import TestKit
import Testing

@testable import Disk

@Suite("Downloads and operations, of one server and of several", .timeLimit(.minutes(3)))
struct DiskStoreJobsTests {
    private static func job(_ id: String = "one") -> DownloadJob {
        DownloadJob(id: id, account: "1130", path: .at("/a"), version: "v", bytesTotal: 10)
    }

    private static func operation(_ number: Int) -> DiskOperation {
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

    @Test("A version has one download at a time, which ends once", arguments: StoreKind.allCases)
    func downloads(kind: StoreKind) async throws {
        let node = try await DiskNode.alone(kind)
        let store = node.cache
        #expect(try await store.share(Self.job(), at: DiskNode.noon) == nil, "no account")
        try await node.logIn()
        let (first, lease) = try #require(try await store.share(Self.job(), at: DiskNode.noon))
        #expect(first == Self.job() && lease != nil)
        let second = try #require(try await store.share(Self.job("two"), at: DiskNode.noon))
        #expect(second.job == Self.job() && second.lease == nil)
        var job = Self.job()
        for event in [DownloadJob.Event.started, .received(bytes: 4), .failed(.changed)] { _ = job.apply(event) }
        #expect(try await store.note(job, holding: lease))
        #expect(try store.download("one", account: "1130") == job)
        #expect(try store.download("one", account: "7") == nil)
        #expect(try await !store.note(Self.job(), holding: lease), "it has ended")
        #expect(try await store.share(Self.job("two"), at: DiskNode.noon)?.job == Self.job("two"))
        try await store.keep(Self.operation(1), at: DiskNode.noon)
        try await node.logOut()
        #expect(try store.download("two", account: "1130") == nil)
        #expect(try store.operation("1", account: "1130") == nil)
    }

    @Test("An operation ends once; the latest thousand are kept")
    func operations() async throws {
        let node = try await DiskNode.alone(.sqlite)
        try await node.logIn()
        let store = node.cache
        for number in 0..<1002 {
            try await store.keep(Self.operation(number), at: DiskNode.noon.addingTimeInterval(Double(number)))
        }
        #expect(try store.operation("1", account: "1130") == nil)
        #expect(try store.operation("2", account: "1130") == Self.operation(2))
        #expect(try store.operation("2", account: "7") == nil)
        #expect(try await store.finish(Self.operation(2), as: .done))
        #expect(try await !store.finish(Self.operation(2), as: .failed))
        #expect(try store.operation("2", account: "1130")?.status == .done)
    }

    @Test("SCALE-02 Of two servers that end an operation at once, one applies its change")
    func ends() async throws {
        let (one, other) = try await DiskNode.two()
        try await one.logIn()
        try await one.cache.keep(Self.operation(1), at: DiskNode.noon)
        async let first = one.cache.finish(Self.operation(1), as: .done)
        async let second = other.cache.finish(Self.operation(1), as: .failed)
        let ended = try await [first, second]
        #expect(ended.count { $0 } == 1)
        for node in [one, other] {
            _ = try await node.cache.users.catchUp()
            #expect(try node.cache.operation("1", account: "1130")?.status == (ended[0] ? .done : .failed))
        }
    }

    @Test("SCALE-07 A download belongs to one server until its lease has run out; then another one takes it up")
    func leases() async throws {
        let (one, other) = try await DiskNode.two()
        try await one.logIn()
        try await other.follow()
        let lease = try #require(try await one.cache.share(Self.job(), at: DiskNode.noon)?.lease)
        #expect(try await other.cache.share(Self.job("two"), at: DiskNode.noon)?.job == Self.job())
        #expect(try await other.cache.takeUpDownloads(except: []).isEmpty)
        var job = Self.job()
        for event in [DownloadJob.Event.started, .received(bytes: 4)] { _ = job.apply(event) }
        #expect(try await one.cache.note(job, holding: lease))
        #expect(try await one.cache.users.leases.renew([lease], lasting: DiskStore.downloadLease).count == 1)
        _ = try await other.cache.users.catchUp()
        #expect(try other.cache.download("one", account: "1130")?.bytesDone == 4)
        try await one.endLeases()
        let renewed = try await one.cache.users.leases.renew([lease], lasting: DiskStore.downloadLease)
        #expect(renewed.count == 1, "none has taken it")
        #expect(try await other.cache.takeUpDownloads(except: []).isEmpty)
        try await one.endLeases()
        let taken = try #require(try await other.cache.takeUpDownloads(except: []).first)
        #expect(taken.job == Self.job())
        #expect(try await one.cache.users.leases.renew([lease], lasting: DiskStore.downloadLease).isEmpty)
        _ = job.apply(.stored)
        #expect(try await !one.cache.note(job, holding: lease), "it is another server's")
        try await other.cache.users.leases.release([taken.lease])
        let again = try #require(try await one.cache.takeUpDownloads(except: []).first)
        #expect(again.job == Self.job())
        #expect(try await one.cache.note(job, holding: again.lease))
        _ = try await other.cache.users.catchUp()
        #expect(try other.cache.download("one", account: "1130")?.status == .done)
        try await one.endLeases()
        #expect(try await other.cache.takeUpDownloads(except: []).isEmpty, "it has ended")
    }

    @Test("Servers share the downloads of one that has ended, and begin each once", arguments: [1, 40])
    func takenUp(count: Int) async throws {
        let (one, other) = try await DiskNode.two()
        try await one.logIn()
        for number in 0..<count {
            let job = DownloadJob(
                id: "\(number)",
                account: "1130",
                path: .at("/\(number)"),
                version: "v",
                bytesTotal: 10
            )
            _ = try await one.cache.share(job, at: DiskNode.noon)
        }
        try await one.endLeases()
        var taken: [String] = []
        while true {
            let known = Set(taken)
            async let first = one.cache.takeUpDownloads(except: known)
            async let second = other.cache.takeUpDownloads(except: known)
            let both = try await [first, second]
            #expect(both.allSatisfy { $0.count <= 16 })
            let ids = both.joined().map(\.job.id)
            if ids.isEmpty { break }
            taken += ids
        }
        #expect(taken.count == count && Set(taken).count == count)
    }
}
