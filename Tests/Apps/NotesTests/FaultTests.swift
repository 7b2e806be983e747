import AppTestKit
import FaultKit
import HTTPTypes
import Screens
import Storage
import Synchronization
import Testing

@testable import Notes

@Suite(.timeLimit(.minutes(3))) struct FaultTests {
    struct Refused: Error, CustomStringConvertible {
        let description: String
    }

    @Test("TRUST-02 each system call of adding, changing and deleting a note fails")
    func notes() async throws {
        let directory = try DataDirectory.temporary()
        let scope = try FaultScope(directory.path)
        let number = Atomic(0)
        let id = Mutex("")
        try await NotesApp.run(directory: directory) { app in
            let token = try await app.register()
            let loop = FaultLoop(scope, app.database, migrations: SessionStore.migrations + NoteStore.migrations)
            let add: @Sendable () async throws -> Void = {
                let added = try await app.add("note \(number.add(1, ordering: .relaxed).newValue)", as: token)
                id.withLock { $0 = added }
            }
            func expectDone(_ answer: Exchanged) throws {
                guard answer.status < 400 else { throw Refused(description: answer.text) }
            }
            let added = try await loop.run(prepare: {}, write: { try await add() })
            let changed = try await loop.run(prepare: { try await add() }) {
                let path = "/v1/notes/\(id.withLock { $0 })"
                try expectDone(await app.ask(.patch, path, as: token, #"{"body":"changed \#(number.load(ordering: .relaxed))"}"#))
            }
            let deleted = try await loop.run(prepare: { try await add() }) {
                try expectDone(await app.delete("/v1/notes/\(id.withLock { $0 })", as: token))
            }
            #expect(added > 8 && changed > 8 && deleted > 8)
            try loop.finish()
            print("faults: note added: \(added), changed: \(changed), deleted: \(deleted)")
        }
    }
}
