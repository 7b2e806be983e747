import Foundation
import HTTPTypes
import Screens
import Storage
import Synchronization
import TestKit
import Testing

@testable import Notes

@Suite(.timeLimit(.minutes(FaultSteps.areAll ? 30 : 3))) struct NoteStoreFaultTests {
    struct Refused: Error, CustomStringConvertible {
        let description: String
    }

    @Test("TRUST-02 Each system call of adding, changing, deleting, restoring and purging a note fails")
    func notes() async throws {
        let directory = try DataDirectory.temporary()
        let scope = try FaultScope(directory.path)
        let number = Atomic(0)
        let id = Mutex("")
        try await NotesHarness.run(directory: directory) { app, token in
            let loop = FaultLoop(scope, app.database, migrations: NotesHarness.migrations)
            let add: @Sendable () async throws -> Void = {
                let added = try await app.add("note \(number.add(1, ordering: .relaxed).newValue)", as: token)
                id.withLock { $0 = added }
            }
            func expectDone(_ response: Exchanged) throws {
                guard response.status < 400 else { throw Refused(description: response.text) }
            }
            var counts: [Int] = []
            // The response is read behind the commit: on a disk that cannot be read a change may be done and the
            // response fail.
            for (faults, mayBePartial) in [([FaultScope.Fault.fullDisk], false), ([.brokenDisk, .brokenOnce], true)] {
                counts.append(
                    try await loop.run(
                        mayBePartial: mayBePartial,
                        faults: faults,
                        prepare: {},
                        write: { try await add() }
                    )
                )
                counts.append(
                    try await loop.run(mayBePartial: mayBePartial, faults: faults, prepare: { try await add() }) {
                        let (path, text) = ("/v1/notes/\(id.withLock { $0 })", UUID().uuidString)
                        try expectDone(await app.ask(.patch, path, as: token, #"{"body":"\#(text)"}"#))
                    }
                )
                counts.append(
                    try await loop.run(mayBePartial: mayBePartial, faults: faults, prepare: { try await add() }) {
                        let response = try await app.delete("/v1/notes/\(id.withLock { $0 })", as: token)
                        // The second try of one that was done.
                        if response.status != 404 { try expectDone(response) }
                    }
                )
                let trashed: @Sendable () async throws -> Void = {
                    try await add()
                    _ = try await app.delete("/v1/notes/\(id.withLock { $0 })", as: token)
                }
                counts.append(
                    try await loop.run(mayBePartial: mayBePartial, faults: faults, prepare: trashed) {
                        let path = "/v1/notes/trash/\(id.withLock { $0 })/restore"
                        try expectDone(await app.ask(.post, path, as: token))
                    }
                )
                counts.append(
                    try await loop.run(mayBePartial: mayBePartial, faults: faults, prepare: trashed) {
                        let response = try await app.delete("/v1/notes/trash/\(id.withLock { $0 })", as: token)
                        if response.status != 404 { try expectDone(response) }
                    }
                )
            }
            #expect(counts.allSatisfy { $0 > 2 }, "\(counts)")
            try loop.finish()
            print("faults: note added, changed, deleted, restored, purged: \(counts)")
        }
    }
}
