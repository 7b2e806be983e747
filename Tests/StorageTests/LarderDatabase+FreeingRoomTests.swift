import FaultKit
import Foundation
import Logging
import TestKit
import Testing

@testable import Database
@testable import ResponseStore

@Suite struct LarderDatabaseFreeingRoomTests {
    @Test("TRUST-02 on a full disk a deletion uses the reserve, and allocates it again")
    func reserve() async throws {
        let scenario = try FaultScenario()
        let path = scenario.database.directory.path + "/larder.reserve"
        for step in 1..<500 {
            try await scenario.saveFile("a")
            let (error, hasFailed) = await scenario.scope.failing(.noRoomOnce, at: step) { () -> (any Error)? in
                do {
                    try await scenario.database.writeFreeingRoom {
                        try ResponseStore(scenario.database).remove(
                            upstream: "ships",
                            url: "https://ships.test/a",
                            in: $0
                        )
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
                == .inputOutput(path: scenario.database.directory.databasePath, operation: "SQLite", code: 1034)
            #expect(!isRefused || isFsync, "step \(step): \(String(describing: error))")
            #expect(try scenario.database.blobs.fileNames().isEmpty == !isRefused)
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int == 1 << 20)
            guard hasFailed else { return }
        }
    }
}
