import Foundation
import HTTPTypes
import Screens
import TestKit
import Testing
import Upstream

@testable import Disk

@Suite("Screens of what waits", .timeLimit(.minutes(2)))
struct OutboxScreenTests {
    private static let noon = Date(timeIntervalSince1970: 1_767_700_000)

    private static func screen(
        _ work: QueuedWrite,
        _ progress: OutboxProgress,
        pauseEnd: Date? = nil
    ) -> OutboxOperationScreen {
        OutboxOperationScreen(entry(work, progress), sent: nil, pauseEnd: pauseEnd, refusalToDrop: nil, timeZone: .gmt)
    }

    private static func entry(_ work: QueuedWrite, _ progress: OutboxProgress) -> OutboxEntry<QueuedWrite> {
        OutboxEntry(id: "one", account: "1130", work: work, progress: progress, queuedAt: noon)
    }

    @Test("What waits is tried at the end of its own pause, or of that of the API if that is later")
    func nextAttempt() {
        let work = QueuedWrite(kind: .folder, path: .at("/new"))
        let (soon, late) = (noon(10), noon(60))
        func next(_ state: OutboxState, _ own: Date?, _ pauseEnd: Date?) -> Date? {
            Self.screen(work, OutboxProgress(state: state, nextAttempt: own), pauseEnd: pauseEnd).nextAttemptAt
        }
        #expect(next(.queued, nil, nil) == nil && next(.queued, nil, late) == late)
        #expect(next(.waiting, soon, nil) == soon && next(.waiting, soon, late) == late)
        #expect(next(.waiting, late, soon) == late && next(.conflict, nil, late) == nil)
        #expect(next(.running, nil, late) == nil && next(.failed, nil, late) == nil)
    }

    private func noon(_ seconds: Double) -> Date { Self.noon.addingTimeInterval(seconds) }

    @Test("OUT-06 only what is at the place that a write leads to is overwritten; else the write is done anyway")
    func titles() throws {
        func title(_ kind: QueuedWrite.Kind, to: String? = nil, disputed: String) -> String? {
            var work = QueuedWrite(kind: kind, path: .at("/a.txt"), to: to.map { .at($0) })
            work.conflictingPath = .at(disputed)
            let entry = Self.entry(work, OutboxProgress(state: .conflict))
            return [Action].ofOperation(entry, "/v1/disk/outbox/one", refusalToDrop: nil)
                .first { $0.id == "overwrite" }?.title.english
        }
        #expect(title(.upload, disputed: "/a.txt") == "Overwrite" && title(.folder, disputed: "/a.txt") == "Overwrite")
        #expect(title(.move, to: "/b.txt", disputed: "/b.txt") == "Overwrite")
        #expect(title(.move, to: "/b.txt", disputed: "/a.txt") == "Rename anyway")
        #expect(title(.move, to: "/f/a.txt", disputed: "/a.txt") == "Move anyway")
        #expect(title(.delete, disputed: "/a.txt") == "Delete anyway")
        #expect(title(.publish, disputed: "/a.txt") == "Share anyway")
        #expect(title(.unpublish, disputed: "/a.txt") == "Unpublish anyway")
    }

    @Test("OUT-08 what is tried again while the API has asked to wait says when it is sent")
    func pause() async throws {
        let disk = WriteScenario.disk()
        try await DiskHarness.run(disk) { app in
            let token = try await WriteScenario.away(app)
            let left = try await app.leave(.post, "/v1/disk/folders", as: token, json: #"{"path":"/new"}"#)
            disk.intercept { request in
                guard request.method == .put else { return nil }
                return IncomingResponse(status: .tooManyRequests, headerFields: [.retryAfter: "60"], body: [])
            }
            let href = try left.string("data.href")
            try await app.outbox(href, is: "waiting", as: token)
            let retried = try await app.ask(.post, "\(href)/retry", as: token)
            #expect(retried["data.state"] == "queued" && retried["data.next_attempt_at"] != .null, "\(retried.text)")
            let list = try await app.get("/v1/disk/outbox", as: token)
            #expect(list["data.items.0.next_attempt_at"] == retried["data.next_attempt_at"], "\(list.text)")
            disk.intercept(nil)
            await app.drained()
            #expect(try await app.get(href, as: token)["data.next_attempt_at"] == .null)
        }
    }
}
