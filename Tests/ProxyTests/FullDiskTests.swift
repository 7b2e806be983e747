import Database
import FaultKit
import HTTPTypes
import TestKit
import Testing
import Upstream

@testable import Proxy

@Suite(.timeLimit(.minutes(10)))
struct FullDiskTests {
    @Test("TRUST-02 on a full disk a mount serves what the upstream confirms, and asks again next time")
    func confirmed() async throws {
        let directory = try DataDirectory.temporary()
        let disk = try FaultScope(directory.path)
        let it = try MountScenario(directory: directory)
        it.scene.transport.then(response(.ok, "one", fields: it.fields("max-age=5", [.eTag: "\"a\""])))
        try await it.ask()
        it.scene.clock.advance(by: .seconds(6))
        let confirmation = response(.notModified, fields: it.fields("max-age=50", [.eTag: "\"a\""]))
        for count in 2...3 {
            it.scene.transport.then(confirmation)
            let (seen, hasFailed) = await disk.failing(.fullDisk, at: 1) { try? await it.ask() }
            #expect(hasFailed && seen?.status == 200 && seen?.body == "one")
            #expect(seen?.cacheStatus == "larder; fwd=stale; fwd-status=304")
            #expect(it.scene.transport.count == count)
        }
        it.scene.transport.then(confirmation)
        try await it.ask()
        #expect(try await it.ask().cacheStatus == "larder; hit; ttl=50")
    }

    @Test("TRUST-02 on a full disk a mount removes what may not be kept any more")
    func removed() async throws {
        let directory = try DataDirectory.temporary()
        let disk = try FaultScope(directory.path)
        let it = try MountScenario(directory: directory)
        it.scene.transport.then(
            response(.ok, "one", fields: it.fields("max-age=5", [.eTag: "\"a\""])),
            response(.notModified, fields: it.fields("no-store", [.eTag: "\"a\""]))
        )
        try await it.ask()
        it.scene.clock.advance(by: .seconds(6))
        let (seen, hasFailed) = await disk.failing(.noRoomOnce, at: 1) { try? await it.ask() }
        #expect(hasFailed && seen?.body == "one")
        it.scene.transport.then(failure(.unreachable(.refused)))
        await #expect(throws: (any Error).self) { try await it.ask() }
    }
}
