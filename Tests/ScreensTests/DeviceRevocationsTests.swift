import Database
import Foundation
import HTTPTypes
import PrivateFiles
import TestKit
import Testing

@testable import Screens

struct DeviceRevocationsTests {
    @Test("SRV-17 a device that a command names is unpaired; what names none is taken away")
    func named() async throws {
        let folder = try TemporaryFolder()
        let harness = try DeviceHarness()
        let (phone, id) = try await harness.paired()
        let (tablet, _) = try await harness.paired()
        let file = RevocationFile(in: folder.url)
        let revocations = DeviceRevocations(harness.devices, file: file, events: harness.events, logger: .quiet)
        await revocations.revokeNamed()
        #expect(harness.devices.all.count == 2)

        try file.leave(id)
        #expect(file.isPending)
        let url = folder.url.appending(path: "device.revoked")
        #expect(throws: PrivateFile.Failure.exists(url)) { () throws in try file.leave("other") }
        await revocations.revokeNamed()
        #expect(!file.isPending)
        #expect(try await harness.send(.get, "/v1/shop/mine", as: phone).response.code() == "pairing-required")
        #expect(try await harness.send(.get, "/v1/shop/mine", as: tablet).response.status == .ok)
        #expect(try DeviceStore.devices(in: URL(filePath: harness.database.directory.path))?.count == 1)

        try file.leave("none")
        await revocations.revokeNamed()
        #expect(!file.isPending && harness.devices.all.count == 1)
    }

    @Test("devices are read beside a server; without a database there are none to read")
    func inspection() async throws {
        let harness = try DeviceHarness()
        let (device, _) = try await harness.devices.add(name: "Phone", profile: "anna", .bearer)
        #expect(try DeviceStore.devices(in: URL(filePath: harness.database.directory.path)) == [device])
        #expect(try DeviceStore.devices(in: TemporaryFolder().url) == nil)
    }
}
