import Foundation
import HTTPTypes
import TestKit
import Testing

@testable import Screens

struct PairingCodeFileTests {
    @Test("SRV-17 a code that another program leaves is good once, and for ten minutes at most")
    func left() async throws {
        let folder = try TemporaryFolder()
        let file = PairingCodeFile(in: folder.url)
        let harness = try DeviceHarness(file: file)
        let code = PairingCode.make()
        try file.leave(code, profile: "anna", until: .distantFuture)
        let mode = try FileManager.default.attributesOfItem(atPath: "\(folder.path)/pairing.code")[.posixPermissions]
        #expect(mode as? Int == 0o600)
        #expect(try await harness.pair(code.text).status == .created)
        #expect(try await harness.pair(code.text).code() == "pairing-refused")
        #expect(harness.devices.all.map(\.profile) == ["anna"])
        let second = PairingCode.make()
        try file.leave(second, profile: "anna", until: .distantFuture)
        _ = try await harness.pair("0000-0000")
        harness.clock.advance(by: .seconds(600))
        #expect(try await harness.pair(second.text).text.contains("ten minutes"))
    }

    @Test("SRV-17 an address that has to wait makes the server read no file")
    func waiting() async throws {
        let folder = try TemporaryFolder()
        let file = PairingCodeFile(in: folder.url)
        let harness = try DeviceHarness(file: file)
        for _ in 0..<PairingAttempts.perAddress { _ = try await harness.pair("?") }
        let code = PairingCode.make()
        try file.leave(code, profile: "anna", until: .distantFuture)
        #expect(try await harness.pair(code.text).status == .tooManyRequests)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["pairing.code"])
        let other = DeviceHarness.Visitor(peer: "192.168.1.8")
        #expect(try await harness.pair(code.text, as: other).status == .created)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test("SRV-17 of many who try the code of a file at once exactly one is paired, and no attempt is lost")
    func race() async throws {
        let folder = try TemporaryFolder()
        let file = PairingCodeFile(in: folder.url)
        let harness = try DeviceHarness(file: file)
        let code = PairingCode.make()
        try file.leave(code, profile: "anna", until: .distantFuture)
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<16 {
                let visitor = DeviceHarness.Visitor(peer: "192.168.2.\(number)")
                group.addTask { try await harness.pair(code.text, as: visitor).status.code }
            }
            return try await group.reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 }
        }
        #expect(statuses == [201: 1, 403: 15])
    }
}
