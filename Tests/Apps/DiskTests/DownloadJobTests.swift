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
