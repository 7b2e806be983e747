import Concurrency
import Foundation
import HTTPTypes
import NIOCore
import Sandbox
import TestKit
import Testing
import Upstream

@testable import Larder

@Suite("The place where recordings lie: below the client of an upstream")
struct FixtureTransportTests {
    private static let base = "https://api.example/v1"
    private static let limits = TransportLimits(total: .seconds(60), maximumBytes: 1 << 20, publicAddressesOnly: false)

    private let folder: TemporaryFolder
    private let real = ScriptedTransport()
    private let fixtures: UpstreamFixtures

    init() throws {
        folder = try TemporaryFolder()
        fixtures = try UpstreamFixtures(name: "api", base: Self.base, folder: folder.url, report: { _ in })
    }

    private var transport: FixtureTransport {
        FixtureTransport(
            real: real,
            fixtures: fixtures,
            UpstreamConfiguration(name: "api", title: "API", baseURL: URL(string: Self.base) ?? URL(filePath: "/"))
        )
    }

    private func send(_ path: String, _ fields: HTTPFields = [:]) async throws -> IncomingResponse {
        try await transport.exchange(OutgoingRequest(url: Self.base + path, headerFields: fields), within: Self.limits)
    }

    private func upload(_ text: String) async throws -> String {
        let request = StreamedRequest(
            method: .put,
            url: Self.base + "/files/a",
            headerFields: [:],
            body: ByteStream(ByteBuffer(string: text))
        )
        let response = try await transport.stream(request, within: Self.limits)
        return String(buffer: try await response.body.collect(upTo: 1 << 20))
    }

    @Test("HARN-19 what was recorded is replayed with no request to the upstream, bodies in parts included")
    func replay() async throws {
        real.always { request in
            IncomingResponse(
                status: .ok,
                headerFields: [.contentType: "text/plain", .eTag: #""1""#],
                body: Array("\(request.method) \(request.url) \(request.body?.count ?? 0)".utf8)
            )
        }
        try fixtures.setMode(.record)
        let first = try await send("/a?x=1", [.ifNoneMatch: #""1""#, .acceptEncoding: "gzip"])
        // The request asks for the whole response, unencoded.
        #expect(real.requests[0].headerFields.isEmpty)
        let long = String(repeating: "0123456789", count: 30_000)
        let uploads = [try await upload("short"), try await upload(long)]
        #expect(real.count == 3)

        try fixtures.setMode(.replay)
        let again = try await send("/a?x=1")
        #expect(again.body == first.body && again.headerFields[.eTag] == #""1""#)
        #expect(try await send("/a?x=1", [.ifNoneMatch: #""1""#]).status == .notModified)
        #expect(try await [upload("short"), upload(long)] == uploads)
        #expect(try await send("/b").status == .notFound)
        #expect(try await upload("other").contains("not-recorded"))
        #expect(real.count == 3)
    }

    @Test("HARN-21 spy sends what has no recording, with its body, once")
    func spy() async throws {
        real.always { IncomingResponse(status: .created, headerFields: [:], body: $0.body ?? []) }
        try fixtures.setMode(.spy)
        #expect(try await upload("body") == "body")
        #expect(try await upload("body") == "body")
        #expect(real.count == 1)
        #expect(try await send("/a").headerFields[.fixture] == "recorded")
        #expect(try await send("/a").headerFields[.fixture] == "002-GET-a.http.yaml")
    }

    @Test("HARN-07 where nothing is written, spy sends what has no recording and keeps nothing of it")
    func readOnly() async throws {
        real.always { IncomingResponse(status: .created, headerFields: [:], body: $0.body ?? []) }
        let shared = try UpstreamFixtures(
            name: "api",
            base: Self.base,
            mode: .spy,
            folder: folder.url,
            isReadOnly: true,
            report: { _ in }
        )
        let configuration = UpstreamConfiguration(
            name: "api",
            title: "API",
            baseURL: URL(string: Self.base) ?? URL(filePath: "/")
        )
        let transport = FixtureTransport(real: real, fixtures: shared, configuration)
        let request = OutgoingRequest(url: Self.base + "/a")
        for _ in 0..<2 {
            let response = try await transport.exchange(request, within: Self.limits)
            #expect(response.status == .created && response.headerFields[.fixture] == nil)
        }
        let streamed = StreamedRequest(method: .get, url: request.url, headerFields: [:])
        let body = try await transport.stream(streamed, within: Self.limits).body
        #expect(try await body.collect(upTo: 100).readableBytes == 0)
        #expect(real.count == 3)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        // The recordings of the server that makes the spaces are used.
        try fixtures.setMode(.record)
        _ = try await send("/a")
        #expect(try await transport.exchange(request, within: Self.limits).headerFields[.fixture] != nil)
    }

    @Test("A response that breaks off is not recorded, nor is one that nobody reads to its end")
    func broken() async throws {
        try fixtures.setMode(.record)
        real.goAway()
        await #expect(throws: UpstreamError.unreachable(.refused)) { try await send("/a") }
        real.always { _ in IncomingResponse(status: .ok, body: [1, 2, 3]) }
        let request = StreamedRequest(method: .get, url: Self.base + "/c", headerFields: [:])
        _ = try await transport.stream(request, within: Self.limits)
        #expect(fixtures.exchanges.recorded.isEmpty)
    }

    @Test("A patch changes responses, whole or in parts; others pass as they are")
    func modify() async throws {
        try fixtures.setMode(.modify)
        let patch = "match: {path: /a}\nmerge: {added: 1}\n"
        try Data(patch.utf8).write(to: folder.url.appending(path: "a.patch.yaml"))
        real.always { _ in IncomingResponse(status: .ok, body: Array("{}".utf8)) }
        #expect(try await send("/a").body == Array(#"{"added":1}"#.utf8))
        #expect(try await send("/b").body == Array("{}".utf8))
        let request = StreamedRequest(method: .get, url: Self.base + "/a", headerFields: [:])
        let response = try await transport.stream(request, within: Self.limits)
        #expect(String(buffer: try await response.body.collect(upTo: 100)) == #"{"added":1}"#)
        #expect(response.headerFields[.contentLength] == "11")
    }

    @Test("A folder that cannot be written is a failure of storage, not of the upstream")
    func unwritable() async throws {
        let file = folder.url.appending(path: "file")
        try Data().write(to: file)
        let fixtures = try UpstreamFixtures(
            name: "api",
            base: Self.base,
            mode: .record,
            folder: file.appending(path: "below"),
            report: { _ in }
        )
        real.always { _ in IncomingResponse(status: .ok, body: Array("{}".utf8)) }
        let transport = FixtureTransport(
            real: real,
            fixtures: fixtures,
            UpstreamConfiguration(name: "api", title: "API", baseURL: URL(string: Self.base) ?? URL(filePath: "/"))
        )
        await #expect(throws: UpstreamError.storageFailed(isFull: false)) {
            try await transport.exchange(OutgoingRequest(url: Self.base + "/a"), within: Self.limits)
        }
    }
}
