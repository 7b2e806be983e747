import Foundation
import Logging
import TestKit
import Testing

@testable import Storage

@Suite(.timeLimit(.minutes(FaultSteps.areAll ? 30 : 3))) struct LarderDatabaseOpeningFaultTests {
    @Test("TRUST-02 each system call of a start fails, of the first one too: the next start works, and nothing is lost")
    func start() async throws {
        for isFirst in [true, false] {
            var count = 0
            for fault in FaultScope.Fault.all {
                var last = 0
                for step in FaultSteps(fault, every: 9) {
                    let temporary = TemporaryFolder.unmade()
                    defer { withExtendedLifetime(temporary) {} }
                    let folder = temporary.url
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

    @Test("TRUST-02 a start that finds no space uses the reserve, and the reserve is whole afterwards")
    func fullDisk() async throws {
        for step in 1..<500 {
            let temporary = TemporaryFolder.unmade()
            defer { withExtendedLifetime(temporary) {} }
            let folder = temporary.url
            let scope = try FaultScope(folder.path)
            let blob = try await filled(folder)
            let (result, hasFailed) = await scope.failing(.noRoomOnce, at: step) {
                Result {
                    try LarderDatabase.withCacheTables(in: DataDirectory(at: folder), logger: FaultScenario.quiet)
                }
            }
            do {
                let database = try result.get()
                #expect(try database.blobs.reader(blob).readAll() == Data([1, 2, 3]))
                await database.maintain()
                #expect(database.reserve.isWhole)
            } catch let error as StorageError {
                // An fsync that fails once, on a disk that has room again, is an error of the disk.
                guard case .inputOutput(_, "SQLite", 1034) = error else {
                    Issue.record("step \(step): \(error)")
                    continue
                }
            }
            guard hasFailed else { return }
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
