import Foundation
import HTTPTypes
import NIOCore
import NIOEmbedded
import Server
import Storage
import TestKit
import Testing

@testable import Screens

struct DeviceStoreTests {
    @Test("SRV-17 devices outlive a restart, and no token is stored")
    func restart() async throws {
        let database = try LarderDatabase.temporary(migrations: DeviceStore.migrations)
        let clock = ManualClock()
        let store = try DeviceStore(database, clock: clock.wallClock)
        let (device, token) = try await store.add(name: "Phone", profile: "anna", .bearer)
        let again = try DeviceStore(database, clock: clock.wallClock)
        #expect(again.all == [device] && again.begin(SessionToken.hash(token), on: EmbeddedChannel()) != nil)
        #expect(again.begin(SessionToken.hash(token, .cookie), on: EmbeddedChannel()) == nil)
        let folder = URL(filePath: database.directory.path)
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        let stored = files.compactMap { try? Data(contentsOf: folder.appending(path: $0)) }
            .map { String(decoding: $0, as: UTF8.self) }.joined()
        #expect(!stored.contains(token) && stored.contains("Phone"))
    }

    @Test("SRV-17 when a device was last seen is stored")
    func uses() async throws {
        let database = try LarderDatabase.temporary(migrations: DeviceStore.migrations)
        let clock = ManualClock()
        let store = try DeviceStore(database, clock: clock.wallClock)
        let (device, token) = try await store.add(name: "Phone", profile: "anna", .bearer)
        clock.advance(by: .seconds(90))
        _ = store.begin(SessionToken.hash(token), on: EmbeddedChannel())
        #expect(store.all.first?.lastSeenAt == device.pairedAt + 90)
        #expect(try DeviceStore(database).all.first?.lastSeenAt == device.pairedAt)
        try await store.storeUses()
        #expect(try DeviceStore(database).all.first?.lastSeenAt == device.pairedAt + 90)
    }

    @Test("SRV-17 a removal cuts off the requests under way of the device, but the one that asked for it")
    func underWay() async throws {
        let database = try LarderDatabase.temporary(migrations: DeviceStore.migrations)
        let store = try DeviceStore(database)
        let (phone, phoneToken) = try await store.add(name: "Phone", profile: "local", .bearer)
        let (_, tabletToken) = try await store.add(name: "Tablet", profile: "local", .bearer)
        let channels = (0..<4).map { _ in EmbeddedChannel() }
        for channel in channels { try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get() }
        let download = store.begin(SessionToken.hash(phoneToken), on: channels[0])
        var ended = store.begin(SessionToken.hash(phoneToken), on: channels[1])
        let removal = store.begin(SessionToken.hash(phoneToken), on: channels[2])
        let other = store.begin(SessionToken.hash(tabletToken), on: channels[3])
        #expect(ended != nil && store.requestCount == 4)
        ended = nil
        #expect(store.requestCount == 3)
        try await store.remove(phone.id, sparing: channels[2])
        #expect(channels.map(\.isActive) == [false, true, true, true])
        #expect(store.requestCount == 1)
        withExtendedLifetime((download, removal, other)) {}
    }
}

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
