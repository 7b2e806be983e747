import Foundation
import HTTPTypes
import Testing

@testable import Screens

struct OperatorKeyTests {
    private static let text = "correct horse battery staple 0123"

    @Test("SRV-17 a key has at least 32 characters, and opens if it is sent whole and once")
    func opens() throws {
        #expect(OperatorKey("") == nil && OperatorKey(String(repeating: "x", count: 31)) == nil)
        let key = try #require(OperatorKey(Self.text))
        #expect(key.opens([.larderOperator: Self.text]))
        for wrong in ["", "x", Self.text + "x", String(Self.text.dropLast()), Self.text.uppercased()] {
            #expect(!key.opens([.larderOperator: wrong]), "\(wrong)")
        }
        var twice: HTTPFields = [.larderOperator: Self.text]
        twice.append(HTTPField(name: .larderOperator, value: Self.text))
        #expect(!key.opens(twice) && !key.opens([:]) && !key.opens([.larderDevice: Self.text]))
    }

    @Test("SRV-17 a client from elsewhere with the operator's key makes codes, lists, revokes; with another it is 401")
    func operates() async throws {
        let harness = try DeviceHarness(operatorKey: OperatorKey(Self.text))
        let `operator` = DeviceHarness.Visitor(fields: [.larderOperator: Self.text])
        let made = try await harness.send(.post, "/v1/pairing/code", as: `operator`).response
        #expect(made.status == .created)
        let paired = try await harness.pair(try #require(try made.data().string("code")))
        #expect(paired.status == .created)
        let (list, kept) = try await harness.send(.get, "/v1/devices", as: `operator`)
        #expect(list.status == .ok && kept == nil)
        let mine = try await harness.send(.get, "/v1/shop/mine?profile=bert", as: `operator`)
        #expect(mine.response.status == .ok && mine.changeToken == nil, "of any profile, and not kept")
        let id = try #require(harness.devices.all.first?.id)
        #expect(try await harness.send(.delete, "/v1/devices/\(id)", as: `operator`).response.status == .noContent)
        let stranger = DeviceHarness.Visitor(fields: [.larderOperator: Self.text + "x"])
        let refused = try await harness.send(.get, "/v1/devices", as: stranger).response
        #expect(try refused.code() == "pairing-required")
        let unset = try DeviceHarness()
        #expect(try await unset.send(.get, "/v1/devices", as: `operator`).response.code() == "pairing-required")
    }
}
