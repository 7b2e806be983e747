import Database
import FaultKit
import Foundation
import HTTPTypes
import TestKit
import Testing

@testable import Ships

@Suite("Reads on a full disk", .timeLimit(.minutes(10)))
struct FullDiskTests {
    @Test("TRUST-02 each system call of a read finds no space: in literal mode the list is shown all the same")
    func literal() async throws {
        let directory = try DataDirectory.temporary()
        let disk = try FaultScope(directory.path)
        try await ShipsHarness.run(directory: directory, options: .init(loginDelay: .zero, deletion: .literal)) { app in
            let token = try await app.logIn()
            _ = try await app.get("/v1/ships", as: token)
            for step in 1..<500 {
                _ = try await app.ask(.delete, "/v1/ships/b0b", as: token)
                app.clock.advance(by: .seconds(60))
                let (shown, hasFailed) = await disk.failing(.noRoomOnce, at: step) {
                    try? await app.get("/v1/ships", as: token)
                }
                // An fsync that fails once, on a disk that has space again, is an error of the disk.
                let isFsync = shown?.status == 500 && shown?["code"] == "storage-failed"
                let isShown = shown?.status == 200 && shown?["meta.offline"] == false
                #expect(isShown || isFsync, "step \(step): \(shown?.text ?? "")")
                #expect(shown?.cacheStatus?.contains("bad-response") != true, "step \(step)")
                app.clock.advance(by: .seconds(60))
                #expect(try await app.get("/v1/ships", as: token)["data.hidden_count"] == 0, "step \(step)")
                guard hasFailed else { return #expect(step > 2) }
            }
        }
    }
}
