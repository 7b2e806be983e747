import Foundation
import GRDB
import Logging
import TestKit
import Testing

@testable import Storage

@Suite(.timeLimit(.minutes(FaultSteps.areAll ? 30 : 3))) struct FaultLoopTests {
    typealias Write = @Sendable (FaultScenario) async throws -> Void

    private func loop(
        _ kind: String,
        mayBePartial: Bool = false,
        prepare: Write = { _ in },
        sourceLocation: SourceLocation = #_sourceLocation,
        _ write: Write
    ) async throws {
        let scenario = try FaultScenario()
        // Something that no write concerns, which must stay whatever happens.
        try await scenario.saveFile("bystander")
        let count = try await scenario.loop.run(
            mayBePartial: mayBePartial,
            prepare: { try await prepare(scenario) },
            write: { try await write(scenario) }
        )
        #expect(count >= 6, "\(kind): \(count) faults", sourceLocation: sourceLocation)
        try scenario.loop.finish()
        print("faults: \(kind): \(count)")
    }

    @Test("TRUST-02 each system call of saving a response fails: inline body")
    func inline() async throws {
        try await loop(
            "response with inline body",
            prepare: { try await $0.remove("a") },
            { scenario in
                try await scenario.responses.save(scenario.response("a", .bytes(scenario.newBytes(20_000))))
            }
        )
    }

    @Test("TRUST-02 each system call of saving a response fails: body in a file, first and in place of another")
    func files() async throws {
        try await loop("response with blob", prepare: { try await $0.remove("a") }, { try await $0.saveFile("a") })
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
            { scenario in
                try await scenario.responses.save(scenario.response("a", .bytes(scenario.newBytes())))
            }
        )
    }

    @Test("TRUST-02 each system call of a body of unknown length fails")
    func streamed() async throws {
        try await loop(
            "streamed body",
            prepare: { try await $0.remove("a") },
            { scenario in
                let writer = BodyWriter(blobs: scenario.database.blobs, inlineLimit: 1000)
                for _ in 0..<3 { try writer.append(scenario.newBytes(700)) }
                try await scenario.responses.save(scenario.response("a", try writer.finish(expectedLength: 2100)))
            }
        )
    }

    @Test("TRUST-02 each system call of removing a response fails")
    func removal() async throws {
        try await loop("removal of a blob", prepare: { try await $0.saveFile("a") }, { try await $0.remove("a") })
    }

    @Test("TRUST-02 each system call of adopting a file fails")
    func adoption() async throws {
        try await loop(
            "adopted file",
            prepare: { try await $0.remove("a") },
            { scenario in
                let place = scenario.scratch.place(".pdf")
                try scenario.newBytes().write(to: URL(filePath: place.path))
                let blob = try scenario.database.blobs.adopt(place)
                try await scenario.responses.save(scenario.response("a", .blob(blob)))
            }
        )
    }

    @Test("TRUST-02 each system call of a page list, a validation and a noted use fails")
    func rows() async throws {
        let key = PageKey(account: "disk/1", screen: "disk.files", query: "/", offset: 0, limit: 20)
        try await loop("page list") { scenario in
            let list = PageList(
                key: key,
                rowKeys: (0..<20).map { _ in UUID().uuidString },
                total: 20,
                hasMore: false,
                fetchedAt: noon
            )
            try await scenario.database.write { try PageStore().save(list, in: $0) }
        }
        try await loop(
            "noted use",
            prepare: { scenario in
                try await scenario.remove("a")
                try await scenario.saveFile("a")
            },
            { scenario in
                let uses = AccessRecorder()
                let id = try #require(
                    try scenario.responses.responses(like: scenario.response("a", .bytes(Data()))).first?.id
                )
                uses.note(id, at: noon + Double.random(in: 1e6...1e9))
                try await uses.flush(to: scenario.database)
            }
        )
    }

    @Test("TRUST-02 each system call of sealing a secret and of changing the key fails")
    func secrets() async throws {
        try await loop("sealed secret") { scenario in
            let secret = scenario.newBytes(64)
            try await scenario.database.write { try scenario.secrets.store(secret, name: "disk/token", in: $0) }
        }
        // The file of the key is moved behind the transaction: it may be refused and done, and the next start finds the
        // key that fits.
        try await loop(
            "change of key",
            mayBePartial: true,
            prepare: { _ = try $0.secrets.credentialHashKey() },
            {
                scenario in
                try scenario.secrets.rotateKey()
                _ = try scenario.secrets.credentialHashKey()
            }
        )
    }

    @Test("TRUST-02 each system call of eviction and purge fails")
    func eviction() async throws {
        let fill: Write = { scenario in
            for name in ["a", "b", "c"] { try await scenario.saveFile(name, scenario.newBytes(3000)) }
        }
        try await loop(
            "eviction",
            mayBePartial: true,
            prepare: fill,
            { scenario in
                _ = try await CacheEviction(scenario.database, budget: CacheBudget(bytes: 8000)).run()
            }
        )
        try await loop(
            "purge",
            mayBePartial: true,
            prepare: fill,
            { scenario in
                _ = try await CachePurge(pathPrefix: "/a").run(on: scenario.database)
            }
        )
    }
}

/// A database whose system calls can fail, and the writes of the fault loops.
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

@Suite struct FaultStepsTests {
    @Test("A sample has the first system call of each fault, each other one with one fault, and is not all of them")
    func sample() {
        let faults = FaultScope.Fault.all
        let samples = faults.map { Array(FaultSteps($0, areAll: false)) }
        #expect(samples.allSatisfy { $0.first == 1 })
        #expect(samples.flatMap { $0.dropFirst() }.sorted() == Array(2..<500))
        #expect(faults.allSatisfy { Array(FaultSteps($0, areAll: true)) == Array(1..<500) })
    }
}
