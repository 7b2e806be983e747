import Concurrency
import Foundation
import HTTPTypes
import Server
import TestKit
import Testing

@testable import Screens

/// Pairing and requests of paired devices, through the router.
struct DeviceRoutesTests {
    @Test("SRV-17 before pairing, everything is 401, whether or not it exists, and nothing is done")
    func before() async throws {
        let harness = try DeviceHarness()
        let targets: [(HTTPRequest.Method, String)] = [
            (.get, "/v1/shop/mine"), (.get, "/v1/events"), (.get, "/v1/none"), (.get, "/v1/devices"), (.get, "/"),
            (.post, "/v1/pairing/code"), (.delete, "/v1/devices/x"), (.put, "/v1/shop/mine"), (.options, "/v1"),
            (.get, "/v1//none"), (.get, "/v1/none/"),
        ]
        for (method, path) in targets {
            for token in [nil, "", "none", String(repeating: "A", count: 43)] {
                let visitor = token.map { DeviceHarness.Visitor.device($0) } ?? .phone
                let (served, _) = try await harness.send(method, path, as: visitor)
                #expect(try served.status == .unauthorized && served.code() == "pairing-required", "\(method) \(path)")
                #expect(served.fields[.wwwAuthenticate] == "Larder-Device")
            }
        }
        let page = try await harness.send(.get, "/ships", as: .phone, [.accept: "text/html,*/*;q=0.8"]).response
        #expect(page.status == .unauthorized && page.text == "<p>")
        #expect(try await harness.send(.get, "/v1/shop/mine", as: .local).response.status == .ok)
        #expect(try await harness.send(.get, "/v1//none", as: .local).response.status == .notFound)
    }

    @Test("SRV-17 after pairing, a device sees what is there in its own profile, and in no other")
    func after() async throws {
        let harness = try DeviceHarness()
        let (anna, id) = try await harness.paired(profile: "anna")
        let (served, _) = try await harness.send(.get, "/v1/shop/mine", as: anna)
        #expect(served.text == #"{"profile":"anna"}"# && served.fields[.vary]?.contains("Larder-Device") == true)
        #expect(try await harness.send(.get, "/v1/shop/mine?profile=anna", as: anna).response.status == .ok)
        for (path, fields) in [
            ("/v1/shop/mine?profile=bert", HTTPFields()), ("/v1/shop/mine", [.larderProfile: "bert"]),
        ] {
            let other = try await harness.send(.get, path, as: anna, fields).response
            #expect(try other.status == .forbidden && other.code() == "profile-not-allowed")
        }
        #expect(try await harness.send(.get, "/v1/events?profile=bert", as: anna).response.status == .forbidden)
        let (bert, _) = try await harness.paired(profile: "bert")
        #expect(try await harness.send(.get, "/v1/shop/mine", as: bert).response.text == #"{"profile":"bert"}"#)
        let list = try await harness.send(.get, "/v1/devices", as: anna).response
        #expect(try Self.ids(list.data().devices) == [id], "a device sees itself only")
        #expect(try await harness.send(.get, "/v1/devices", as: .local).response.data().devices.elements.count == 2)
    }

    private static func ids(_ rows: JSON) -> [String] { rows.elements.compactMap(\.id.string) }

    @Test("SRV-17 after revocation, a device is nobody, and what was kept for it has ended")
    func revoked() async throws {
        let harness = try DeviceHarness()
        let (phone, id) = try await harness.paired()
        let (tablet, _) = try await harness.paired()
        let kept = try #require(try await harness.send(.get, "/v1/shop/mine", as: phone).changeToken)
        let others = try #require(try await harness.send(.get, "/v1/shop/mine", as: tablet).changeToken)
        #expect(kept.holds && others.holds)
        #expect(try await harness.send(.delete, "/v1/devices/\(id)", as: tablet).response.code() == "local-only")
        #expect(kept.holds)
        #expect(try await harness.send(.delete, "/v1/devices/\(id)", as: .local).response.status == .noContent)
        #expect(!kept.holds && others.holds)
        #expect(try await harness.send(.get, "/v1/shop/mine", as: phone).response.code() == "pairing-required")
        #expect(try await harness.send(.get, "/v1/shop/mine", as: tablet).response.status == .ok)
        #expect(try await harness.send(.delete, "/v1/devices/\(id)", as: .local).response.status == .notFound)
        let again = try DeviceStore(harness.database)
        #expect(again.all.count == 1)
    }

    @Test("SRV-17 responses to local requests are not kept: others may send the same head")
    func local() async throws {
        let harness = try DeviceHarness()
        #expect(try await harness.send(.get, "/v1/shop/mine", as: .local).changeToken == nil)
        let unprotected = try DeviceHarness(.loopback)
        #expect(try await unprotected.send(.get, "/v1/shop/mine", as: .local).changeToken != nil)
    }

    @Test("SRV-17 what depends on the device says so, problems included; what is open to all, and without pairing, not")
    func vary() async throws {
        let harness = try DeviceHarness()
        let (phone, _) = try await harness.paired()
        func vary(_ path: String, as visitor: DeviceHarness.Visitor, of harness: DeviceHarness) async throws -> String {
            try await harness.send(.get, path, as: visitor).response.fields[.vary] ?? ""
        }
        for (path, visitor) in [
            ("/v1/shop/mine", phone), ("/v1/shop/mine", .local), ("/v1/shop/mine", .phone), ("/v1/none", phone),
            ("/v1/shop/mine?profile=bert", phone), ("/v1/devices", .local),
        ] {
            let fields = try await vary(path, as: visitor, of: harness)
            #expect(fields.contains("Larder-Device") && fields.contains("Cookie"), "\(path): \(fields)")
        }
        #expect(try await !vary("/health/live", as: .phone, of: harness).contains("Larder-Device"))
        let unprotected = try DeviceHarness(.loopback)
        #expect(try await !vary("/v1/shop/mine", as: .local, of: unprotected).contains("Larder-Device"))
    }

    @Test("SRV-17 a code comes with a QR code of the address, which has it in the fragment")
    func picture() async throws {
        let harness = try DeviceHarness()
        let data = try await harness.send(.post, "/v1/pairing/code", as: .local).response.data()
        let code = try #require(data.code.string.flatMap { PairingCode($0) })
        let picture = try #require(data.qr.string)
        let expected = try #require(QRCode("https://larder.test/pair#\(code.text)")).svg
        #expect(picture == "data:image/svg+xml;base64,\(Data(expected.utf8).base64EncodedString())")
    }

    @Test("SRV-17 a wrong code, a late one and too many get sentences that help")
    func wrongCodes() async throws {
        let harness = try DeviceHarness()
        let code = try await harness.code()
        let wrong = try await harness.pair(code == "0000-0000" ? "0000-0001" : "0000-0000")
        #expect(try wrong.status == .forbidden && wrong.code() == "pairing-refused")
        harness.clock.advance(by: .seconds(600))
        let late = try await harness.pair(code)
        #expect(try late.code() == "pairing-refused" && late.text != wrong.text && late.text.contains("ten minutes"))
        for _ in 0..<PairingAttempts.perAddress { _ = try await harness.pair("?") }
        let stopped = try await harness.pair(try await harness.code())
        #expect(try stopped.status == .tooManyRequests && stopped.code() == "rate-limited")
        #expect(stopped.fields[.retryAfter].flatMap { Int($0) } != nil)
        let other = DeviceHarness.Visitor(peer: "192.168.1.8")
        #expect(try await harness.pair(try await harness.code(), as: other).status == .created)
        #expect(try await harness.pair("0000-0000", name: " ").status == .unprocessableContent)
    }

    @Test("SRV-17 a device beyond the hundredth is refused by name; its code is good once another one has gone")
    func tooMany() async throws {
        let harness = try DeviceHarness()
        var ids: [String] = []
        for _ in 0..<100 { ids.append(try await harness.paired().id) }
        let code = try await harness.code()
        for _ in 0..<3 {
            let refused = try await harness.pair(code)
            #expect(try refused.status == .conflict && refused.code() == "pairing-unavailable")
            #expect(refused.text.contains("100"), "\(refused.text)")
        }
        #expect(try DeviceStore(harness.database).all.count == 100)
        #expect(try await harness.send(.delete, "/v1/devices/\(ids[50])", as: .local).response.status == .noContent)
        #expect(try await harness.pair(code).status == .created)
        #expect(try await harness.pair(try await harness.code()).status == .conflict)
    }

    @Test("SRV-17 only local requests make codes; without pairing there are none")
    func codes() async throws {
        let harness = try DeviceHarness()
        let (phone, _) = try await harness.paired()
        let refused = try await harness.send(.post, "/v1/pairing/code", as: phone).response
        #expect(try refused.status == .forbidden && refused.code() == "local-only")
        #expect(
            try await harness.send(.post, "/v1/pairing/code", as: .local, json: #"{"profile":"a b"}"#).response
                .status == .unprocessableContent
        )
        for mode in [AccessRules.Mode.loopback, .open] {
            let other = try DeviceHarness(mode)
            for path in ["/v1/pairing/code", "/v1/pairing"] {
                let served = try await other.send(.post, path, as: .local, json: "{}").response
                #expect(try served.status == .conflict && served.code() == "pairing-unavailable")
            }
            #expect(try await other.send(.get, "/v1/devices", as: .phone).response.code() == "local-only")
            #expect(try await other.send(.get, "/v1/shop/mine", as: .phone).response.status == .ok)
        }
    }

    @Test("SRV-17 a browser has its token in a cookie that no script reads, and that counts for own pages only")
    func cookie() async throws {
        let harness = try DeviceHarness()
        let own: HTTPFields = [.larderSession: "cookie", .secFetchSite: "same-origin"]
        let served = try await harness.pair(try await harness.code(), as: .phone, own)
        let cookie = try #require(served.fields[.setCookie], "\(served.text)")
        let pair = String(cookie.prefix { $0 != ";" })
        #expect(try served.status == .created && served.data()["token"] == .null)
        #expect(cookie == pair + "; Path=/; HttpOnly; SameSite=Strict; Max-Age=\(SessionCookies.longestAge)")
        func status(_ fields: HTTPFields) async throws -> HTTPResponse.Status {
            try await harness.send(.get, "/v1/shop/mine", as: .phone, fields).response.status
        }
        #expect(try await status([.cookie: pair, .secFetchSite: "same-origin"]) == .ok)
        #expect(try await status([.cookie: pair, .secFetchSite: "cross-site"]) == .unauthorized)
        #expect(try await status([.cookie: "\(pair); \(pair)x", .secFetchSite: "same-origin"]) == .unauthorized)
        let token = String(pair.drop { $0 != "=" }.dropFirst())
        #expect(try await status([.larderDevice: token]) == .unauthorized, "a cookie's token is no other's")
        let foreign = try await harness.pair(
            try await harness.code(),
            as: .phone,
            [.larderSession: "cookie", .origin: "https://evil.example"]
        )
        #expect(foreign.status == .forbidden && foreign.fields[.setCookie] == nil)
    }

    @Test("SRV-17 a device renames and unpairs itself, and others only where the server is")
    func own() async throws {
        let harness = try DeviceHarness()
        let (phone, id) = try await harness.paired()
        let (_, other) = try await harness.paired()
        let renamed = try await harness.send(.patch, "/v1/devices/\(id)", as: phone, json: #"{"name":" Anna's "}"#)
        #expect(try renamed.response.data().name.string == "Anna's")
        #expect(try DeviceStore(harness.database).device(id)?.name == "Anna's")
        for visitor in [phone] {
            let refused = try await harness.send(.patch, "/v1/devices/\(other)", as: visitor, json: #"{"name":"x"}"#)
            #expect(try refused.response.code() == "local-only")
        }
        #expect(try await harness.send(.delete, "/v1/devices/\(id)", as: phone).response.status == .noContent)
        #expect(try await harness.send(.get, "/v1/devices", as: phone).response.status == .unauthorized)
    }

    @Test("SRV-17 there are at most 100 devices, and a code that finds no room stays good")
    func full() async throws {
        let harness = try DeviceHarness()
        for number in 0..<DeviceStore.maximum {
            _ = try await harness.devices.add(name: "\(number)", profile: "local", .bearer)
        }
        let code = try await harness.code()
        #expect(try await harness.pair(code).code() == "pairing-unavailable")
        try await harness.devices.remove(try #require(harness.devices.all.first).id)
        #expect(try await harness.pair(code).status == .created)
    }
}
