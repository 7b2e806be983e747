import Foundation
import GRDB
import Logging
import TestKit

@testable import Storage

/// A data directory with cached responses and a secret, of which a page of the bodies is damaged; removed with the
/// value.
final class DamagedCacheScenario {
    private let temporary = TemporaryFolder.unmade()
    var folder: URL { temporary.url }
    let log = LogRecorder()

    func open(_ check: DatabaseOptions.IntegrityCheck) throws -> LarderDatabase {
        try LarderDatabase.withCacheTables(
            in: DataDirectory(at: folder),
            options: .init(integrityCheck: check),
            logger: log.logger
        )
    }

    /// Stores responses, one with a file, closes the database, and damages the root page of a table or index.
    func fill(damaging object: String = "stored_body") throws {
        let database = try open(.never)
        let secrets = try SealedSecrets(database)
        let store = ResponseStore(database)
        let blob = try database.blobs.write(Data([1, 2, 3]))
        try database.write { db in
            try secrets.store(Data("token".utf8), name: "token", in: db)
            for number in 0..<100 {
                try store.save(
                    makeCachedResponse("https://ships.test/\(number)", body: .bytes(Data(count: 9000))),
                    in: db
                )
            }
            try store.save(makeCachedResponse("https://ships.test/file", body: .blob(blob)), in: db)
        }
        let page = try database.read {
            try Int.fetchOne($0, sql: "SELECT rootpage FROM sqlite_schema WHERE name = ?", arguments: [object]) ?? 0
        }
        try database.close()
        let file = try FileHandle(forWritingTo: folder.appending(path: "larder.sqlite"))
        try file.seek(toOffset: UInt64((page - 1) * 4096))
        try file.write(contentsOf: Data(repeating: 0x5A, count: 4096))
        try file.close()
    }
}
