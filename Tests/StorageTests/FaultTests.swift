import FaultKit
import Foundation
import GRDB
import Logging
import TestKit
import Testing

@testable import Database
@testable import ResponseStore

/// A database whose system calls can fail, with what the loops write.
struct FaultScenario {
    static let quiet = Logger.quiet
    let scope: FaultScope
    let database: LarderDatabase
    let secrets: SealedSecrets
    let scratch: ScratchFolder
    let loop: FaultLoop
    var responses: ResponseStore { ResponseStore(database) }

    init() throws {
        let directory = try DataDirectory.temporary()
        scope = try FaultScope(directory.path)
        database = try LarderDatabase.withCacheTables(in: directory, logger: Self.quiet)
        secrets = try SealedSecrets(database)
        scratch = try ScratchFolder("uploads", in: directory)
        loop = FaultLoop(scope, database)
    }

    /// Bytes that were never there before.
    func newBytes(_ count: Int = 5000) -> Data { Data((0..<count).map { _ in UInt8.random(in: 0...255) }) }

    func response(_ name: String, _ body: StoredBody) -> CachedResponse {
        makeCachedResponse("https://ships.test/\(name)", body: body)
    }

    func saveFile(_ name: String, _ bytes: Data? = nil) async throws {
        let blob = try database.blobs.write(bytes ?? newBytes())
        do {
            try await responses.save(response(name, .blob(blob)))
        } catch {
            database.blobs.discard(blob)
            throw error
        }
    }

    func remove(_ name: String) async throws {
        try await database.write { try responses.remove(upstream: "ships", url: "https://ships.test/\(name)", in: $0) }
    }
}

@Suite(.timeLimit(.minutes(FaultSteps.areAll ? 30 : 3))) struct FaultTests {
    typealias Write = @Sendable (FaultScenario) async throws -> Void

    private func loop(
        _ kind: String,
        mayBePartial: Bool = false,
        prepare: Write = { _ in },
        sourceLocation: SourceLocation = #_sourceLocation,
        _ write: Write
    ) async throws {
        let scene = try FaultScenario()
        // Something that no write concerns, which must stay whatever happens.
        try await scene.saveFile("bystander")
        let count = try await scene.loop.run(
            mayBePartial: mayBePartial,
            prepare: { try await prepare(scene) },
            write: { try await write(scene) }
        )
        #expect(count >= 6, "\(kind): \(count) faults", sourceLocation: sourceLocation)
        try scene.loop.finish()
        print("faults: \(kind): \(count)")
    }

    @Test("A sample has the first system call of each fault, each other one with one fault, and is not all of them")
    func sample() {
        let faults = FaultScope.Fault.all
        let samples = faults.map { Array(FaultSteps($0, areAll: false)) }
        #expect(samples.allSatisfy { $0.first == 1 })
        #expect(samples.flatMap { $0.dropFirst() }.sorted() == Array(2..<500))
        #expect(faults.allSatisfy { Array(FaultSteps($0, areAll: true)) == Array(1..<500) })
    }

    @Test("TRUST-02 each system call of saving a response fails: inline body")
    func inline() async throws {
        try await loop(
            "response with inline body",
            prepare: { try await $0.remove("a") },
            { scene in
                try await scene.responses.save(scene.response("a", .bytes(scene.newBytes(20_000))))
            }
        )
    }

    @Test("TRUST-02 each system call of saving a response fails: body in a file, first and in place of another")
    func files() async throws {
        try await loop(
            "response with blob",
            prepare: { try await $0.remove("a") },
            { try await $0.saveFile("a") }
        )
        try await loop(
            "blob in place of another",
            prepare: { try await $0.saveFile("a") },
            {
                try await $0.saveFile("a")
            }
        )
        try await loop(
            "inline body in place of a blob",
            prepare: { try await $0.saveFile("a") },
            { scene in
                try await scene.responses.save(scene.response("a", .bytes(scene.newBytes())))
            }
        )
    }

    @Test("TRUST-02 each system call of a body of unknown length fails")
    func streamed() async throws {
        try await loop(
            "streamed body",
            prepare: { try await $0.remove("a") },
            { scene in
                let writer = BodyWriter(blobs: scene.database.blobs, inlineLimit: 1000)
                for _ in 0..<3 { try writer.append(scene.newBytes(700)) }
                try await scene.responses.save(scene.response("a", try writer.finish(expectedLength: 2100)))
            }
        )
    }

    @Test("TRUST-02 each system call of removing a response fails")
    func removal() async throws {
        try await loop(
            "removal of a blob",
            prepare: { try await $0.saveFile("a") },
            { try await $0.remove("a") }
        )
    }

    @Test("TRUST-02 each system call of adopting a file fails")
    func adoption() async throws {
        try await loop(
            "adopted file",
            prepare: { try await $0.remove("a") },
            { scene in
                let place = scene.scratch.place(".pdf")
                try scene.newBytes().write(to: URL(filePath: place.path))
                let blob = try scene.database.blobs.adopt(place)
                try await scene.responses.save(scene.response("a", .blob(blob)))
            }
        )
    }

    @Test("TRUST-02 each system call of a page list, a validation and a noted use fails")
    func rows() async throws {
        let key = PageKey(account: "disk/1", screen: "disk.files", query: "/", offset: 0, limit: 20)
        try await loop("page list") { scene in
            let list = PageList(
                key: key,
                rowKeys: (0..<20).map { _ in UUID().uuidString },
                total: 20,
                hasMore: false,
                fetchedAt: noon
            )
            try await scene.database.write { try PageStore().save(list, in: $0) }
        }
        try await loop(
            "noted use",
            prepare: { scene in
                try await scene.remove("a")
                try await scene.saveFile("a")
            },
            { scene in
                let uses = AccessRecorder()
                let id = try #require(
                    try scene.responses.responses(like: scene.response("a", .bytes(Data()))).first?.id
                )
                uses.note(id, at: noon + Double.random(in: 1e6...1e9))
                try await uses.flush(to: scene.database)
            }
        )
    }

    @Test("TRUST-02 each system call of sealing a secret and of changing the key fails")
    func secrets() async throws {
        try await loop("sealed secret") { scene in
            let secret = scene.newBytes(64)
            try await scene.database.write { try scene.secrets.store(secret, name: "disk/token", in: $0) }
        }
        // The file of the key is moved behind the transaction: it may be refused and done, and the next start finds the
        // key that fits.
        try await loop(
            "change of key",
            mayBePartial: true,
            prepare: { _ = try $0.secrets.credentialHashKey() },
            {
                scene in
                try scene.secrets.rotateKey()
                _ = try scene.secrets.credentialHashKey()
            }
        )
    }

    @Test("TRUST-02 each system call of eviction and purge fails")
    func eviction() async throws {
        let fill: Write = { scene in
            for name in ["a", "b", "c"] { try await scene.saveFile(name, scene.newBytes(3000)) }
        }
        try await loop(
            "eviction",
            mayBePartial: true,
            prepare: fill,
            { scene in
                _ = try await CacheEviction(scene.database, budget: CacheBudget(bytes: 8000)).run()
            }
        )
        try await loop(
            "purge",
            mayBePartial: true,
            prepare: fill,
            { scene in
                _ = try await CachePurge(pathPrefix: "/a").run(on: scene.database)
            }
        )
    }

    @Test(
        "TRUST-02 a full disk and a used-up quota are told as such at each step",
        arguments: [FaultScope.Fault.fullDisk, .quota]
    )
    func told(_ fault: FaultScope.Fault) async throws {
        let scene = try FaultScenario()
        for step in 1..<500 {
            let (error, hasFailed) = await scene.scope.failing(fault, at: step) { () -> (any Error)? in
                do {
                    try await scene.saveFile("a")
                    return nil
                } catch {
                    return error
                }
            }
            guard hasFailed else { return #expect(error == nil) }
            // Behind the commit only the removal of files is left, which is put off.
            guard let error else { continue }
            guard case .diskFull = error as? StorageError else {
                Issue.record("\(fault) at step \(step): \(error)")
                continue
            }
        }
    }

    @Test("TRUST-02 on a full disk a deletion uses the reserve, and takes it again")
    func reserve() async throws {
        let scene = try FaultScenario()
        let path = scene.database.directory.path + "/larder.reserve"
        for step in 1..<500 {
            try await scene.saveFile("a")
            let (error, hasFailed) = await scene.scope.failing(.noRoomOnce, at: step) { () -> (any Error)? in
                do {
                    try await scene.database.writeFreeingRoom {
                        try ResponseStore(scene.database).remove(upstream: "ships", url: "https://ships.test/a", in: $0)
                    }
                    return nil
                } catch {
                    return error
                }
            }
            let isRefused = error != nil
            // An fsync that fails once, on a disk that has room again, is an error of the disk: there the deletion is
            // refused.
            let isFsync =
                error as? StorageError
                == .inputOutput(path: scene.database.directory.databasePath, operation: "SQLite", code: 1034)
            #expect(!isRefused || isFsync, "step \(step): \(String(describing: error))")
            #expect(try scene.database.blobs.fileNames().isEmpty == !isRefused)
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int == 1 << 20)
            guard hasFailed else { return }
        }
    }

    @Test("TRUST-02 each system call of a start fails, of the first one too: the next start works, and nothing is lost")
    func start() async throws {
        for isFirst in [true, false] {
            var count = 0
            for fault in FaultScope.Fault.all {
                var last = 0
                for step in FaultSteps(fault, every: 9) {
                    let folder = FileManager.default.temporaryDirectory.appending(
                        path: "larder-start-\(UUID().uuidString)"
                    )
                    defer { try? FileManager.default.removeItem(at: folder) }
                    let scope = try FaultScope(folder.path)
                    let blob = isFirst ? nil : try await filled(folder)
                    let (_, hasFailed) = await scope.failing(fault, at: step) {
                        do {
                            _ = try SealedSecrets(
                                LarderDatabase.withCacheTables(
                                    in: DataDirectory(at: folder),
                                    logger: FaultScenario.quiet
                                )
                            )
                        } catch {}
                    }
                    do {
                        let next = try LarderDatabase.withCacheTables(
                            in: DataDirectory(at: folder),
                            logger: FaultScenario.quiet
                        )
                        _ = try SealedSecrets(next).credentialHashKey()
                        _ = try StoredState(next)
                        if let blob { #expect(try next.blobs.reader(blob).readAll() == Data([1, 2, 3])) }
                        try next.close()
                    } catch {
                        Issue.record("\(fault) at step \(step), first: \(isFirst): \(error)")
                    }
                    guard hasFailed else { break }
                    last = step
                }
                #expect(last > 0, "\(fault): no system call has failed")
                count += last
            }
            #expect(count > 40)
            print("faults: \(isFirst ? "first" : "later") start: \(count)")
        }
    }

    /// A directory with one file, left as by a kill.
    private func filled(_ folder: URL) async throws -> Blob {
        let database = try LarderDatabase.withCacheTables(in: DataDirectory(at: folder), logger: FaultScenario.quiet)
        _ = try SealedSecrets(database).credentialHashKey()
        let blob = try database.blobs.write(Data([1, 2, 3]))
        try await ResponseStore(database).save(makeCachedResponse(body: .blob(blob)))
        return blob
    }
}
