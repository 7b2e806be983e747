import Foundation
import HTTPTypes
import JSONValues
import Synchronization
import Testing

@testable import Sandbox

/// The simulated service without a server: requests as values, and a clock that does not advance.
final class DiskBench: Sendable {
    static let start = Date(timeIntervalSince1970: 1_793_000_000)
    static let origin = "http://127.0.0.1:4711"

    let accounts: YandexAccounts
    let disk: YandexDisk
    private let places: [any SimulatedUpstream]

    init(seed: UInt64 = 1) {
        accounts = YandexAccounts(seed: seed) { DiskBench.start }
        disk = YandexDisk(seed: seed, accounts: accounts)
        places = [disk, YandexOAuth(accounts: accounts), YandexDownloader(disk: disk), YandexUploader(disk: disk)]
    }

    /// A call of the API; `path` is below the base URL, `nil` as token sends none.
    func call(
        _ method: HTTPRequest.Method = .get,
        _ path: String,
        _ query: KeyValuePairs<String, String> = [:],
        token: String? = "sandbox-token",
        body: String = ""
    ) -> UpstreamResponse {
        var headers = HTTPFields()
        if let token { headers[.authorization] = "OAuth \(token)" }
        return send(
            method,
            "/yandex_disk\(path)?\(FormEncoding.query(query))",
            headers: headers,
            body: Array(body.utf8)
        )
    }

    /// A call that has to succeed, and its JSON.
    func json(
        _ method: HTTPRequest.Method = .get,
        _ path: String,
        _ query: KeyValuePairs<String, String> = [:],
        token: String? = "sandbox-token",
        body: String = ""
    ) throws -> JSONObject {
        let response = call(method, path, query, token: token, body: body)
        try #require(
            response.status.kind == .successful,
            "\(method) \(path): \(String(decoding: response.body, as: UTF8.self))"
        )
        return try response.object()
    }

    /// Any request to the sandbox, by its target or its absolute URL.
    func send(_ method: HTTPRequest.Method = .get, _ url: String, headers: HTTPFields = [:], body: [UInt8] = [])
        -> UpstreamResponse
    {
        let target = RequestTarget(url.hasPrefix(Self.origin) ? String(url.dropFirst(Self.origin.count)) : url)
        var request = UpstreamRequest(
            method: method,
            path: Array(target.segments.dropFirst()),
            query: target.query,
            form: target.form,
            headers: headers,
            origin: Self.origin
        )
        guard let place = places.first(where: { $0.name == target.segments.first }) else {
            return .text(.notFound, "no such place")
        }
        if place.takesLongBody(request) { request.received = ReceivedBody(body) } else { request.body = body }
        return place.respond(to: request)
    }

    /// A call of the control API below one upstream.
    @discardableResult
    func control(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: String = "",
        of upstream: SandboxUpstream = .yandexDisk
    ) throws -> JSONObject {
        let place = try #require(places.first { $0.name == upstream.rawValue })
        let response = try place.control(
            ControlRequest(method: method, path: path.split(separator: "/").map(String.init), body: Array(body.utf8))
        )
        return try response.object()
    }

    // MARK: shorthands

    func resource(_ path: String, fields: String = "") throws -> JSONObject {
        try json(.get, "/resources", ["path": path, "fields": fields])
    }

    func exists(_ path: String) -> Bool { call(.get, "/resources", ["path": path, "fields": "path"]).status == .ok }

    /// The bytes of a file, over a link.
    func content(_ path: String) throws -> [UInt8] {
        let href = try #require(try json(.get, "/resources/download", ["path": path])["href"]?.string)
        let response = send(.get, href)
        try #require(response.status == .ok)
        return try response.bytes()
    }

    /// The members of one kind of all items of a list.
    func items(_ path: String, _ query: KeyValuePairs<String, String>, _ member: String, embedded: Bool = false) throws
        -> [JSONValue]
    {
        let response = try json(.get, path, query)
        let list = embedded ? try #require(response["_embedded"]?.object) : response
        return try #require(list["items"]?.array).compactMap { $0.object?[member] }
    }
}

extension UpstreamResponse {
    func object() throws -> JSONObject { try #require(try JSONParser.parse(body).object) }

    /// The whole body.
    func bytes() throws -> [UInt8] {
        guard let stream else { return body }
        return try stream.source.bytes(in: stream.range)
    }

    /// Status and code of an error of the API.
    var failure: String { "\(status.code) \((try? JSONParser.parse(body).object?["error"]?.string) ?? "")" }
}
