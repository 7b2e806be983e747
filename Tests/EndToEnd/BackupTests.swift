import Foundation
import GRDB
import TestKit
import Testing

/// Size of ``BackupTests``.
private enum BackupSize {
    /// Number of backups; 25 by `script/check-backup`.
    static let backups = ProcessInfo.processInfo.environment["BACKUPS"].flatMap { Int($0) } ?? 3
}

/// `larder backup`, `larder restore` and `larder key` beside the real server.
@Suite(.timeLimit(.minutes(BackupSize.backups > 3 ? 30 : 4))) struct BackupTests {
    @Test("TRUST-15 backups under load, each restored: everything acknowledged before it began, and every file whole")
    func load() async throws {
        let (data, folder) = (try TemporaryFolder(), try TemporaryFolder())
        let larder = try await RunningLarder.start(data: data, BackupLoad.settings)
        let load = try await BackupLoad(larder)
        let writers = Task { await load.run() }
        var checked = 0
        for number in 1...BackupSize.backups {
            await load.progress()
            let expected = load.acknowledged
            let target = folder.path + "/backup-\(number)"
            let backup = RunningProcess(["backup", target, "--data-directory", data.path])
            #expect(await backup.ended() == 0, "\(backup.log)")
            let remaining = expected.subtracting(load.deletions)
            try await restore(target, load, remaining)
            checked += remaining.documents.count + remaining.notes.count
        }
        load.stop()
        await writers.value
        print("backups: \(BackupSize.backups) restored, \(checked) acknowledged documents and notes found in them")
        #expect(checked > BackupSize.backups * 2)
        #expect(await larder.stop() == 0)
    }

    /// Restores a backup, and expects everything that was acknowledged, and every file of every document.
    private func restore(_ target: String, _ load: BackupLoad, _ expected: BackupLoad.Written) async throws {
        let data = try TemporaryFolder()
        let restore = RunningProcess(["restore", target, "--data-directory", data.path])
        #expect(await restore.ended() == 0, "\(restore.log)")
        let larder = try await RunningLarder.start(data: data, BackupLoad.settings)
        for (href, bytes) in expected.documents {
            #expect(try await larder.client.get("\(href)/file").body == bytes, "\(href)")
        }
        let documents = try await larder.client.get("/v1/pdf/documents?limit=100").json.data.items.elements
        for document in documents {
            let href = try #require(document.href.string)
            let file = try await larder.client.get("\(href)/file")
            #expect(file.status == 200 && file.body.suffix(8).contains(Data("%%EOF".utf8)), "\(href)")
        }
        var member = larder.client
        member.token = load.member.token
        for id in expected.notes {
            #expect(try await member.get("/v1/notes/\(id)").status == 200, "note \(id)")
        }
        #expect(await larder.stop() == 0)
        try FileManager.default.removeItem(atPath: target)
    }

    @Test(
        "TRUST-15 kill -9 of a backup leaves nothing that looks complete, and the next backup to the target works",
        arguments: ["copying files", "copying the database", "reading the copies", "checking the database"]
    )
    func killed(step: String) async throws {
        let (data, folder) = (try TemporaryFolder(), try TemporaryFolder())
        let larder = try await RunningLarder.start(data: data)
        let document = try await larder.client.document(of: [DocumentTests.photo])
        _ = try await larder.client.post("\(document)/save", "{}")
        let arguments = ["backup", folder.path + "/backup", "--data-directory", data.path]
        let first = RunningProcess(arguments, environment: ["TERM": "xterm"], terminal: try PseudoTerminal())
        try await first.logged(step)
        first.signal(SIGKILL)
        await first.ended()
        let isComplete = FileManager.default.fileExists(atPath: folder.path + "/backup")
        if !isComplete {
            let place = folder.path + "/none"
            let partial = RunningProcess(["restore", folder.path + "/backup.partial", "--data-directory", place])
            // The list of files is written last: with it, all is there but the name.
            let isListed = FileManager.default.fileExists(atPath: folder.path + "/backup.partial/SHA256SUMS")
            #expect(await partial.ended() == (isListed ? 0 : 1), "\(partial.log)")
            #expect(isListed || partial.log.contains("is not a complete backup"), "\(partial.log)")
            #expect(FileManager.default.fileExists(atPath: place) == isListed)
            let again = RunningProcess(arguments)
            #expect(await again.ended() == 0, "\(again.log)")
            #expect(again.output.contains("/backup: the database and 1 file, "))
        }
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/backup.partial"))
        let restore = RunningProcess(["restore", folder.path + "/backup", "--data-directory", folder.path + "/new"])
        #expect(await restore.ended() == 0, "\(restore.log)")
    }

    @Test("TRUST-15 restore refuses a directory that is served or has data, a key is not rotated beside a server")
    func refused() async throws {
        let (data, folder) = (try TemporaryFolder(), try TemporaryFolder())
        let larder = try await RunningLarder.start(data: data)
        let guest = try await larder.guest()
        let target = folder.path + "/backup"
        // The target may come after the settings.
        let backup = RunningProcess(["backup", "--data-directory", data.path, target])
        #expect(await backup.ended() == 0, "\(backup.log)")
        let before = try Data(contentsOf: data.url.appending(path: "larder.key"))
        for arguments in [["restore", target], ["key", "rotate"], ["backup", target]] {
            let process = RunningProcess(arguments + ["--data-directory", data.path])
            #expect(await process.ended() == 1, "\(arguments)")
            #expect(process.log.hasPrefix("larder: "), "\(process.log)")
        }
        #expect(try await guest.get("/v1/ships/session").status == 200)
        #expect(await larder.stop() == 0)
        let rotation = RunningProcess(["key", "rotate", "--data-directory", data.path])
        #expect(await rotation.ended() == 0, "\(rotation.log)")
        #expect(try Data(contentsOf: data.url.appending(path: "larder.key")) != before)
        let again = try await RunningLarder.start(data: data)
        #expect(try await guest.moved(to: again).get("/v1/ships/session").status == 200)
        for arguments in [["backup"], ["backup", "a", "b"], ["restore"]] {
            #expect(await RunningProcess(arguments).ended() == 64, "\(arguments)")
        }
    }

    @Test("TRUST-15 SCALE-24 with a store.url that does not respond there is no backup, and nothing is left of it")
    func sharedStore() async throws {
        let (data, folder) = (try TemporaryFolder(), try TemporaryFolder())
        let target = folder.path + "/backup"
        let settings = ["--node-apps", "notes", "--store-url", "postgresql:///larder?host=\(folder.path)"]
        let backup = RunningProcess(["backup", target, "--data-directory", data.path] + settings)
        #expect(await backup.ended() == 1)
        #expect(backup.log.hasPrefix("larder: The store is not available"), "\(backup.log)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [] && backup.output.isEmpty)
    }

    @Test("TRUST-15 a database of a newer build is refused by name and not changed, by every command")
    func downgrade() async throws {
        let (data, folder) = (try TemporaryFolder(), try TemporaryFolder())
        #expect(await (try RunningLarder.start(data: data)).stop() == 0)
        let path = data.url.appending(path: "larder.sqlite")
        let queue = try DatabaseQueue(path: path.path)
        try await queue.writeWithoutTransaction {
            try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('ships/999 from the future')")
            _ = try $0.checkpoint(.truncate)
        }
        try queue.close()
        let before = try Data(contentsOf: path)
        let commands = [
            ["serve", "--http-port", "0"], ["backup", folder.path + "/backup"], ["key", "rotate"],
            ["cache", "purge", "--all"],
        ]
        for command in commands {
            let process = RunningProcess(command + ["--data-directory", data.path])
            #expect(await process.ended() == 1, "\(command)")
            #expect(process.log.contains("was written by a newer build; unknown here: ships/999 from the future"))
            #expect(try Data(contentsOf: path) == before, "\(command)")
        }
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/backup"))
    }
}

/// Clients that write and delete documents and notes until a test stops them, and remember the acknowledged writes.
final class BackupLoad: Sendable {
    /// Documents and notes that exist, as far as the clients know.
    struct Written: Sendable {
        /// Bytes of the files of documents, by address.
        var documents: [String: Data] = [:]
        /// Identities of notes.
        var notes: Set<String> = []

        func subtracting(_ others: Written) -> Written {
            Written(
                documents: documents.filter { others.documents[$0.key] == nil },
                notes: notes.subtracting(others.notes)
            )
        }
    }

    private struct State {
        var written = Written()
        var deleted = Written()
        var isStopped = false
        var acknowledged = 0
    }

    static let settings = ["--notes-scrypt-logarithm", "10"]

    /// A client with an account of Notes.
    let member: Client
    private let client: Client
    private let state = Watched(State())

    /// Registers an account.
    init(_ larder: RunningLarder) async throws {
        client = larder.client
        member = try await client.writer()
    }

    /// Acknowledged documents and notes whose deletion was not begun.
    var acknowledged: Written {
        let state = state.value
        return state.written.subtracting(state.deleted)
    }

    /// Documents and notes whose deletion was begun.
    var deletions: Written { state.value.deleted }

    func stop() { state.update { $0.isStopped = true } }

    /// Waits until some more writes were acknowledged.
    func progress() async {
        let goal = state.value.acknowledged + 6
        await state.suspend { $0.acknowledged >= goal || $0.isStopped }
    }

    /// Writes until it is stopped. A write that fails ends the test.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.repeating(self.writeDocument) }
            group.addTask { await self.repeating(self.writeDocument) }
            group.addTask { await self.repeating(self.writeNote) }
        }
    }

    private func repeating(_ write: (Int) async throws -> Void) async {
        for number in 1... {
            guard !state.value.isStopped else { return }
            do {
                try await write(number)
            } catch {
                Issue.record(error)
                return stop()
            }
        }
    }

    /// Makes a document, and deletes an older one, with its file.
    private func writeDocument(_ number: Int) async throws {
        let href = try await client.document(of: [DocumentTests.photo])
        #expect(try await client.post("\(href)/save", "{}").status == 200)
        let bytes = try await client.get("\(href)/file").body
        let old = state.update { state -> String? in
            state.written.documents[href] = bytes
            state.acknowledged += 1
            let left = state.written.subtracting(state.deleted).documents
            guard left.count > 12, let old = left.keys.randomElement() else { return nil }
            state.deleted.documents[old] = Data()
            return old
        }
        if let old { #expect(try await client.delete("\(old)?permanently=true").status == 200) }
    }

    private func writeNote(_ number: Int) async throws {
        let place = #"{"lat":\#(number % 90),"lon":\#(number % 180),"name":"Place"}"#
        let response = try await member.post("/v1/notes", #"{"body":"note \#(number)","location":\#(place)}"#)
        #expect(response.status == 201, "\(response.text)")
        let id = try #require(try response.json.data.id.string)
        let old = state.update { state -> String? in
            state.written.notes.insert(id)
            state.acknowledged += 1
            let left = state.written.notes.subtracting(state.deleted.notes)
            guard left.count > 40, let old = left.randomElement() else { return nil }
            state.deleted.notes.insert(old)
            return old
        }
        if let old { #expect(try await member.delete("/v1/notes/\(old)").status == 200) }
    }
}
