import Foundation
import Screens
import Storage
import Synchronization
import TestKit
import Testing

@testable import Disk

@Suite(.timeLimit(.minutes(FaultSteps.areAll ? 30 : 3))) struct FileFetcherFaultTests {
    @Test(
        "TRUST-02 each system call of keeping a content fails, and a content that is not wanted any more leaves no file"
    )
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
