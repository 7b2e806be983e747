import Foundation
import TestKit
import Testing

@testable import Storage

@Suite struct DiskReserveTests {
    /// A reserve in a folder whose system calls can fail.
    private struct Scenario {
        let directory: DataDirectory
        let scope: FaultScope
        let reserve: DiskReserve

        init() throws {
            directory = try DataDirectory.temporary()
            scope = try FaultScope(directory.path)
            reserve = DiskReserve(path: directory.reservePath)
        }
    }

    @Test("TRUST-02 a reserve is allocated in part if there is no space for all of it, and the rest later")
    func part() async throws {
        let scenario = try Scenario()
        // 1: create, 2: all of it, 3: cut, 4: half of it.
        _ = await scenario.scope.failing(.noRoomOnce, at: 2) { scenario.reserve.take() }
        #expect(scenario.reserve.allocated == DiskReserve.bytes / 2 && !scenario.reserve.isWhole)
        // The allocated part stays if there is no space for more. 1: all of it.
        _ = await scenario.scope.failing(.fullDisk, at: 1) { scenario.reserve.take() }
        #expect(scenario.reserve.allocated == DiskReserve.bytes / 2)
        scenario.reserve.take()
        #expect(scenario.reserve.isWhole)
    }

    @Test("TRUST-02 a step that finds the disk full runs again with the space of the reserve, and others do not")
    func lending() throws {
        let scenario = try Scenario()
        var runs = 0
        func step() throws -> Int {
            runs += 1
            if scenario.reserve.allocated > 0
                || runs > 1 && !FileManager.default.fileExists(atPath: scenario.reserve.path)
            {
                throw StorageError.diskFull(path: "")
            }
            return runs
        }
        #expect(try scenario.reserve.lending(step) == 1)
        scenario.reserve.take()
        runs = 0
        #expect(try scenario.reserve.lending(step) == 2 && scenario.reserve.isWhole)
        #expect(throws: StorageError.bodyAlreadyFinished) {
            try scenario.reserve.lending { throw StorageError.bodyAlreadyFinished }
        }
        try FileManager.default.removeItem(atPath: scenario.reserve.path)
        #expect(throws: StorageError.diskFull(path: "")) {
            try scenario.reserve.lending { throw StorageError.diskFull(path: "") }
        }
    }
}
