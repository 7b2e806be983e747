import Concurrency
import Foundation
import HTTPTypes
import NIOCore
import Sandbox
import Upstream

/// Sends the requests to one upstream as the mode of its files says: out, or not at all.
///
/// All requests to an upstream pass here, those of mounts and of files that are transferred included: it is where
/// ``UpstreamClient`` sends them, below the cache, redirects and retries.
struct FixtureTransport: Transport {
    let real: any Transport
    let fixtures: UpstreamFixtures
    /// Of the upstream, without a slash at the end.
    let base: String
    /// Largest body that a patch is applied to, in bytes.
    let maximumBytes: Int

    init(real: any Transport, fixtures: UpstreamFixtures, _ configuration: UpstreamConfiguration) {
        self.real = real
        self.fixtures = fixtures
        base = configuration.baseURL.absoluteString
        maximumBytes = configuration.maximumResponseBytes
    }

    func exchange(_ request: OutgoingRequest, within limits: TransportLimits) async throws(UpstreamError)
        -> IncomingResponse
    {
        let mode = fixtures.mode
        fixtures.learn(request.headerFields, target(request.url))
        guard mode != .live else { return try await real.exchange(request, within: limits) }
        let asked = FixtureRequest(
            method: request.method,
            target: target(request.url),
            headerFields: request.headerFields,
            body: request.body.map(FixtureBody.init)
        )
        if let reply = reply(to: asked, mode) { return try Self.incoming(reply) }
        var plain = request
        if mode.asksPlainly { plain.headerFields.askPlainly(of: request.method) }
        var response = try await real.exchange(plain, within: limits)
        var fixture = FixtureResponse(response)
        switch mode {
        case .record, .spy:
            guard !fixtures.isReadOnly else { break }
            var isKept = false
            try Self.storing { () throws in isKept = try fixtures.keep(asked, fixture) }
            if mode == .spy, isKept { response.headerFields[.fixture] = "recorded" }
        case .diff: try Self.storing { () throws in try fixtures.compare(fixture, to: asked) }
        case .modify:
            await fixtures.modify(&fixture, to: asked) { _ in }
            response = try Self.incoming(fixture)
        case .live, .replay: break
        }
        return response
    }

    /// The recorded response in a mode that has one; nil if the request goes out.
    func reply(to request: FixtureRequest, _ mode: FixtureMode) -> FixtureResponse? {
        switch mode {
        case .replay: fixtures.reply(to: request) ?? fixtures.refusal(of: request)
        case .spy: fixtures.reply(to: request)
        case .live, .record, .modify, .diff: nil
        }
    }

    /// Returns a URL as files have it: without the base URL, if it is below that.
    func target(_ url: String) -> String {
        guard url.hasPrefix(base) else { return url }
        let rest = url.dropFirst(base.count)
        return rest.isEmpty || rest.hasPrefix("?") ? "/\(rest)" : rest.hasPrefix("/") ? String(rest) : url
    }

    /// Does what works with files. What fails there is no failure of the upstream.
    static func storing(_ work: () throws -> Void) throws(UpstreamError) {
        do {
            try work()
        } catch {
            if case .notWritten(_, _, let isFull)? = error as? FixtureError { throw .storageFailed(isFull: isFull) }
            throw .storageFailed(isFull: false)
        }
    }

    private static func incoming(_ response: FixtureResponse) throws(UpstreamError) -> IncomingResponse {
        var body: [UInt8] = []
        try storing { () throws in body = try response.bytes() }
        return IncomingResponse(status: response.status, headerFields: response.headerFields, body: body)
    }
}

extension FixtureResponse {
    init(_ response: IncomingResponse) {
        self.init(status: response.status, headerFields: response.headerFields, content: .bytes(response.body))
    }
}

extension HTTPFields {
    /// Has the upstream send a whole, readable response: without conditions on a copy, and not compressed.
    mutating func askPlainly(of method: HTTPRequest.Method) {
        self[.acceptEncoding] = nil
        guard method == .get || method == .head else { return }
        self[.ifNoneMatch] = nil
        self[.ifModifiedSince] = nil
    }
}

extension HTTPField.Name {
    /// `Fixture`: the file that a response is from, or `recorded` if it was recorded just now.
    static let fixture = HTTPField.Name("Fixture") ?? .server
}
