import Foundation
import Logging
import TestKit

@testable import Storage

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
