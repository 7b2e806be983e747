import Foundation
import Screens
import Storage
import Synchronization
import TestKit
import Testing

@testable import Disk

@Suite("A download as a state machine")
struct DownloadJobTests {
    private func job(_ total: Int = 1000) -> DownloadJob {
        DownloadJob(id: "d", account: "1", path: DiskPath.root.child("a"), version: "v", bytesTotal: total)
    }

    @Test("DISK-23 progress grows to 1, and is 1 only when the file is stored")
    func progress() {
        var job = job()
        #expect(job.status == .queued && job.progress == 0)
        let first = job.apply(.started)
        #expect(first && job.status == .running)
        let second = job.apply(.received(bytes: 250))
        #expect(second && job.progress == 0.25)
        _ = job.apply(.received(bytes: 750))
        #expect(job.progress < 1 && job.status == .running)
        _ = job.apply(.stored)
        #expect(job.progress == 1 && job.status == .done && job.bytesDone == 1000 && job.isOver)
    }

    @Test("listeners are notified of every whole per cent, not of every byte")
    func perCents() {
        var job = job(100_000)
        _ = job.apply(.started)
        let told = (0..<1000).count { _ in job.apply(.received(bytes: 100)) }
        #expect(told == 99)
    }

    @Test("DISK-23 what is over stays as it is", arguments: [DownloadJob.Event.stored, .failed(.damaged)])
    func final(end: DownloadJob.Event) {
        var job = job()
        _ = job.apply(.started)
        _ = job.apply(end)
        let over = job
        for event in [
            DownloadJob.Event.started, .received(bytes: 1), .restarted, .stored, .failed(.unreachable), .interrupted,
        ] {
            let isTold = job.apply(event)
            #expect(!isTold && job == over)
        }
    }

    @Test("a new beginning, by a broken body or a new run of the server, counts from nothing")
    func again() {
        var job = job()
        _ = job.apply(.started)
        _ = job.apply(.received(bytes: 400))
        _ = job.apply(.restarted)
        #expect(job.bytesDone == 0 && job.status == .running)
        _ = job.apply(.received(bytes: 400))
        _ = job.apply(.interrupted)
        #expect(job.bytesDone == 0 && job.status == .queued)
    }

    @Test("a file of no bytes, and one that is longer than it was said to be, divide by nothing and do not pass 1")
    func edges() {
        var empty = job(0)
        _ = empty.apply(.started)
        #expect(empty.progress == 0)
        _ = empty.apply(.stored)
        #expect(empty.progress == 1)
        var long = job(10)
        _ = long.apply(.started)
        _ = long.apply(.received(bytes: 100))
        #expect(long.progress < 1)
    }

    @Test("bytes that come before the start, or less than none, change nothing")
    func strange() {
        var job = job()
        _ = job.apply(.received(bytes: 10))
        #expect(job.bytesDone == 0)
        _ = job.apply(.started)
        _ = job.apply(.received(bytes: -5))
        #expect(job.bytesDone == 0)
    }
}

@Suite(.timeLimit(.minutes(FaultSteps.areAll ? 30 : 3))) struct FileFetcherFaultTests {
    @Test("TRUST-02 each system call of keeping a content fails, and a content no longer wanted leaves no file")
    func contents() async throws {
        let directory = try DataDirectory.temporary()
        let scope = try FaultScope(directory.path)
        try await DiskHarness.run(FakeYandexDisk(), .init(directory: directory)) { app in
            _ = try await app.logIn()
            var item = DiskItem(path: DiskPath.root.child("a.bin"), kind: .file)
            item.md5 = "0123456789abcdef0123456789abcdef"
            let kept = item
            let loop = FaultLoop(scope, app.database, migrations: DiskHarness.migrations)
            let save: @Sendable (String) async throws -> Bool = { account in
                let writer = BodyWriter(blobs: app.database.blobs, inlineLimit: 100)
                try writer.append(Data((0..<3000).map { _ in UInt8.random(in: 0...255) }))
                let body = try writer.finish()
                return try await app.store.save(
                    body,
                    as: .content,
                    of: kept,
                    type: "text/plain",
                    account: account,
                    epoch: nil,
                    at: app.clock.now
                )
            }
            let isKept = Atomic(false)
            let count = try await loop.run(
                prepare: {},
                write: { isKept.store(try await save("1130"), ordering: .relaxed) }
            )
            let wasKept = isKept.load(ordering: .relaxed)
            #expect(wasKept)
            #expect(count > 20)
            let files = try app.database.blobs.fileNames()
            let isKeptForNobody = try await save("nobody")
            #expect(!isKeptForNobody)
            #expect(try app.database.blobs.fileNames() == files)
            try loop.finish()
            print("faults: Disk content: \(count)")
        }
    }
}

@Suite("Work in the background waits for clients", .timeLimit(.minutes(1)))
struct ForegroundLoadTests {
    @Test("DISK-39 it waits until no client waits for the API, at most for the longest wait, or until cancelled")
    func waits() async throws {
        let (clock, load) = (ManualClock(), ForegroundLoad())
        try await load.idle(atMost: .seconds(30), clock.wallClock)
        var uses: [ForegroundLoad.Use] = [load.begin(), load.begin()]
        let waiting = Task { try await load.idle(atMost: .seconds(30), clock.wallClock) }
        await clock.sleepers(of: .seconds(30))
        uses.removeLast()
        #expect(load.isBusy)
        uses.removeLast()
        #expect(!load.isBusy)
        try await waiting.value
        try await load.during {
            let patient = Task { try await load.idle(atMost: .seconds(1), clock.wallClock) }
            await clock.sleepers(of: .seconds(1))
            clock.advance(by: .seconds(1))
            try await patient.value
            #expect(load.isBusy, "the longest wait is over")
            let cancelled = Task { try await load.idle(atMost: .seconds(2), clock.wallClock) }
            await clock.sleepers(of: .seconds(2))
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { try await cancelled.value }
        }
        #expect(!load.isBusy)
    }
}

@Suite("Events of frequent changes")
struct EventThrottleTests {
    private static let start = Date(timeIntervalSince1970: 1_767_607_200)

    @Test("DISK-39 the first change is published at once, later ones once in a second, the last one always")
    func changes() {
        var throttle = EventThrottle(interval: 1)
        #expect(throttle.changed(at: Self.start) == .publish)
        #expect(throttle.changed(at: Self.start.addingTimeInterval(0.25)) == .wait(0.75))
        #expect(throttle.changed(at: Self.start.addingTimeInterval(0.5)) == .nothing)
        throttle.waited(at: Self.start.addingTimeInterval(1))
        #expect(throttle.changed(at: Self.start.addingTimeInterval(1.5)) == .wait(0.5))
        throttle.waited(at: Self.start.addingTimeInterval(2))
        #expect(throttle.changed(at: Self.start.addingTimeInterval(3)) == .publish)
    }

    @Test("a clock that is set back does not silence it")
    func clockSetBack() {
        var throttle = EventThrottle(interval: 1)
        #expect(throttle.changed(at: Self.start) == .publish)
        #expect(throttle.changed(at: Self.start.addingTimeInterval(-3600)) == .publish)
    }
}
