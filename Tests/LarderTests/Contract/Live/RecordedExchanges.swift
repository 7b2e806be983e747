import Foundation
import Screens
import TestKit
import Testing

/// Sends requests to a running server and records the responses by operation.
actor RecordedExchanges {
    private(set) var observations: [Observation] = []

    func note(_ observation: Observation) {
        observations.append(observation)
    }
}

/// A server and the record of its responses.
struct ContractScenario: Sendable {
    let larder: InProcessLarder
    let transcript: RecordedExchanges
    /// A ship that the sandbox has.
    static let ship = "70ca451a41196adb40260072"

    /// Asks for an operation. `query` and `ship` fill in its path.
    @discardableResult
    func ask(
        _ operation: String,
        query: String = "",
        ship: String = ContractScenario.ship,
        _ headers: [String: String] = [:],
        body: String? = nil,
        isHead: Bool = false
    ) async throws -> ReceivedResponse {
        let (method, path) = Self.target(of: operation, ship: ship)
        let sent = isHead ? "HEAD" : method
        let response = try await larder.send(sent, path + query, headers, body: body)
        await note(operation, "\(sent) \(path)\(query) \(headers) \(body?.prefix(60) ?? "")", response, isHead: isHead)
        return response
    }

    /// An operation with a query and a body.
    typealias Request = (operation: String, query: String, body: String?)

    /// Asks for one operation after the other.
    func ask(each requests: [Request], _ headers: [String: String]) async throws {
        for request in requests {
            try await ask(request.operation, query: request.query, headers, body: request.body)
        }
    }

    /// Asks for an operation with the entity tag of its response.
    func askUnchanged(_ operation: String, query: String = "", _ headers: [String: String]) async throws {
        let tag = try #require(try await ask(operation, query: query, headers).headers["etag"], "\(operation)")
        try await ask(operation, query: query, ["If-None-Match": tag].merging(headers) { own, _ in own })
    }

    /// Sends a head of its own making: `lines` are its header lines.
    func askRaw(
        _ operation: String,
        query: String = "",
        ship: String = ContractScenario.ship,
        lines: String,
        isWhole: Bool = true
    ) async throws {
        let (method, path) = Self.target(of: operation, ship: ship)
        let head = "\(method) \(path)\(query) HTTP/1.1\r\n\(lines)" + (isWhole ? "\r\n" : "")
        await note(operation, "\(method) \(path)\(query) (raw)", try await larder.raw(head))
    }

    func note(_ operation: String, _ request: String, _ response: ReceivedResponse, isHead: Bool = false) async {
        await transcript.note(Observation(operation: operation, request: request, isHead: isHead, response: response))
    }

    /// Method and path of an operation, with its parameters filled in.
    static func target(of operation: String, ship: String, page: String = "0123456789abcdef") -> (
        method: String, path: String
    ) {
        let parts = operation.split(separator: " ", maxSplits: 1).map(String.init)
        return (parts[0], filled(parts[1], ship: ship, page: page))
    }

    /// A path with its parameters filled in. Products of the shop are numbers; without a word about which, the first.
    static func filled(_ path: String, ship: String = ContractScenario.ship, page: String = "0123456789abcdef")
        -> String
    {
        let id = path.hasPrefix("/v1/shop/") && ship == ContractScenario.ship ? "1" : ship
        return path.replacing("{id}", with: id).replacing("{n}", with: "0").replacing("{item_id}", with: "1")
            .replacing("{page_id}", with: page).replacing("{page}", with: "files")
            .replacing("{digest}", with: WebAssets.embedded.digest)
            .replacing("{name}", with: "icon.svg")
    }

    /// The path that was asked for, without its query.
    static func path(of observation: Observation) -> String {
        let target = observation.request.split(separator: " ").dropFirst().first ?? ""
        return String(target.prefix { $0 != "?" })
    }

    /// Opens a session and returns its header field.
    func session(_ body: String = #"{"mode":"guest"}"#) async throws -> [String: String] {
        let response = try await ask("POST /v1/ships/session", body: body)
        return ["Authorization": "Bearer \(try response.json["data"]?["token"]?.string ?? "")"]
    }
}

/// One response of the running server to a request for a documented operation.
struct Observation: Sendable {
    /// Key of the operation, such as `GET /v1/ships`.
    let operation: String
    /// The request, for people.
    let request: String
    let isHead: Bool
    let response: ReceivedResponse
}
