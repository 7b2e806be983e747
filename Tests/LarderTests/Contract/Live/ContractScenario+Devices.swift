import TestKit
import Testing

extension ContractScenario {
    private static let pair = "POST /v1/pairing"
    private static let makeCode = "POST /v1/pairing/code"
    private static let list = "GET /v1/devices"
    private static let rename = "PATCH /v1/devices/{id}"
    private static let remove = "DELETE /v1/devices/{id}"
    /// A proxy adds this field, so the server does not take such a request for a local one.
    private static let elsewhere = ["Via": "1.1 contract"]

    /// A server that asks for no devices.
    func devicesUnneeded() async throws {
        #expect(try await ask(Self.pair, body: #"{"code":"0000-0000","name":"a"}"#).status == 409)
        #expect(try await ask(Self.makeCode).status == 409)
        for operation in [Self.list, Self.rename, Self.remove] {
            #expect(try await ask(operation, Self.elsewhere, body: Self.body(of: operation)).status == 403)
        }
        try await ask(Self.list)
    }

    private static func body(of operation: String) -> String? {
        operation.hasPrefix("PATCH") ? #"{"name":"a"}"# : nil
    }

    /// A server that asks for devices, with accepted and refused requests.
    func devices() async throws {
        for operation in [Self.list, Self.rename, Self.remove] {
            #expect(try await ask(operation, Self.elsewhere, body: Self.body(of: operation)).status == 401)
        }
        try await devicesMalformed()
        try await ask(Self.list)
        #expect(try await ask(Self.makeCode, Self.elsewhere).status == 401)
        let made = try await ask(Self.makeCode, body: #"{"profile":"anna"}"#)
        let code = try #require(try made.json.at(pointer: "/data/code")?.string, "\(made.text)")
        #expect(try await ask(Self.pair, Self.elsewhere, body: #"{"code":"?","name":"a"}"#).status == 403)
        let paired = try await ask(Self.pair, Self.elsewhere, body: #"{"code":"\#(code)","name":"Phone"}"#)
        let token = try #require(try paired.json.at(pointer: "/data/token")?.string, "\(paired.text)")
        let id = try #require(try paired.json.at(pointer: "/data/device/id")?.string)
        let phone = Self.elsewhere.merging(["Larder-Device": token]) { own, _ in own }
        #expect(try await ask(Self.makeCode, phone).status == 403)
        #expect(try await ask("GET /v1/events", query: "?profile=bert", phone).status == 403)
        let tag = try #require(try await ask(Self.list).headers["etag"])
        for isHead in [false, true] {
            try await ask(Self.list, isHead: isHead)
            try await ask(Self.list, ["If-None-Match": tag], isHead: isHead)
        }
        let ship = id
        try await ask(Self.rename, ship: ship, body: #"{"name":"Tablet"}"#)
        for operation in [Self.rename, Self.remove] {
            let stale = ["If-Match": #""other""#]
            #expect(try await ask(operation, ship: ship, stale, body: Self.body(of: operation)).status == 412)
        }
        #expect(try await ask(Self.remove, ship: ship).status == 204)
        #expect(try await ask(Self.remove, ship: ship).status == 404)
        try await ask(Self.rename, ship: ship, body: Self.body(of: Self.rename))
        for _ in 0...10 { try await ask(Self.pair, Self.elsewhere, body: #"{"code":"?","name":"a"}"#) }
        #expect(try await ask(Self.pair, Self.elsewhere, body: #"{"code":"?","name":"a"}"#).status == 429)
    }

    private func devicesMalformed() async throws {
        let code = try #require(try await ask(Self.makeCode).json.at(pointer: "/data/code")?.string)
        let own = ["Larder-Session": "cookie", "Sec-Fetch-Site": "same-origin", "Content-Type": "application/json"]
        let paired = try await ask(Self.pair, own, body: #"{"code":"\#(code)","name":"Browser"}"#)
        let id = try #require(try paired.json.at(pointer: "/data/device/id")?.string, "\(paired.text)")
        let large = #"{"name":"\#(String(repeating: "x", count: 70_000))"}"#
        for (operation, wrong) in [
            (Self.pair, #"{"code":"?","name":""}"#), (Self.makeCode, #"{"profile":"a b"}"#),
            (Self.rename, #"{"name":" "}"#),
        ] {
            let ship = operation == Self.rename ? id : ContractScenario.ship
            for malformed in ["{", "[]", #"{"zz":1}"#] {
                #expect(try await ask(operation, ship: ship, body: malformed).status == 400)
            }
            let text = ["Content-Type": "text/plain"]
            #expect(try await ask(operation, ship: ship, text, body: wrong).status == 415)
            #expect(try await ask(operation, ship: ship, body: large).status == 413)
            #expect(try await ask(operation, ship: ship, body: wrong).status == 422)
            #expect(try await ask(operation, ship: ship, ["If-Match": #""a""#], body: wrong).status == 412)
        }
        let page = ["Cookie": paired.headers["set-cookie"].map { String($0.prefix { $0 != ";" }) } ?? ""]
        let browser = page.merging(["Sec-Fetch-Site": "same-origin", "Via": "1.1 contract"]) { own, _ in own }
        #expect(try await ask(Self.remove, ship: id, browser).status == 204)
    }
}
