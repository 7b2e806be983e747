import Foundation
import HTTP
import HTTPTypes
import NIOCore
import Storage
import TestKit
import Testing

@testable import Concurrency
@testable import Upstream

/// An upstream with one representation, of which it sends the range that is asked for in parts of 64 KiB, and counts
/// the bytes that are taken.
final class RangeOrigin: Transport {
    struct State {
        var tag = "\"a\""
        var length: Int
        var taken = 0
        var requests: [HTTPFields] = []
        /// A body breaks off after this many bytes.
        var breaksAfter = Int.max
    }

    static let partBytes = 64 << 10
    let state: Watched<State>

    init(length: Int) {
        state = Watched(State(length: length))
    }

    /// Bytes of the current version.
    static func bytes(_ range: Range<Int>, tag: String = "\"a\"") -> [UInt8] {
        range.map { UInt8(truncatingIfNeeded: $0 ^ ($0 >> 8) ^ ($0 >> 16) ^ tag.utf8.reduce(0) { $0 + Int($1) }) }
    }

    func exchange(_ request: OutgoingRequest, within limits: TransportLimits) async throws(UpstreamError)
        -> IncomingResponse
    {
        throw .unreachable(.network)
    }

    func stream(_ request: StreamedRequest, within limits: TransportLimits) async throws(UpstreamError)
        -> StreamedResponse
    {
        let fields = request.headerFields
        let now = state.update { state in
            state.requests.append(fields)
            return state
        }
        var head: HTTPFields = [.eTag: now.tag, .cacheControl: "max-age=600", .contentType: "video/mp4"]
        if fields[.ifNoneMatch] == now.tag {
            return StreamedResponse(status: .notModified, headerFields: head, body: ByteStream(ByteBuffer()))
        }
        var (range, status) = (0..<now.length, HTTPResponse.Status.ok)
        if fields[.ifRange].map({ $0 == now.tag }) ?? true, case .part(let part) = ByteRange(fields, length: now.length)
        {
            range = part.lowerBound..<(part.upperBound + 1)
            status = .partialContent
            head[.contentRange] = "bytes \(part.lowerBound)-\(part.upperBound)/\(now.length)"
        }
        head[.contentLength] = String(range.count)
        return StreamedResponse(status: status, headerFields: head, body: body(range, now))
    }

    private func body(_ range: Range<Int>, _ now: State) -> ByteStream {
        ByteStream { [state] in
            var rest = range
            return {
                let next = rest.prefix(Self.partBytes)
                guard range.distance(from: range.lowerBound, to: next.lowerBound) < now.breaksAfter else {
                    throw UpstreamError.badResponse(status: .ok, reason: "broke off")
                }
                rest = next.upperBound..<rest.upperBound
                if next.isEmpty { return nil }
                state.update { $0.taken += next.count }
                return ByteBuffer(bytes: Self.bytes(next, tag: now.tag))
            }
        }
    }
}

/// A mount of a ``RangeOrigin``, and a client that plays its file.
struct RangeScenario {
    let it: MountScenario
    let origin: RangeOrigin
    let mount: Mount

    init(length: Int, _ options: MountOptions = MountOptions(), budget: CacheBudget = .unlimited) throws {
        it = try MountScenario(options, budget: budget)
        origin = RangeOrigin(length: length)
        let upstream = Upstream(
            configuration: it.scene.upstream.configuration,
            transport: origin,
            database: it.scene.database,
            accessRecorder: it.scene.accessRecorder,
            budget: budget,
            clock: it.scene.clock.wallClock,
            jitter: { 0.5 },
            retries: RetryPolicy(attempts: 1),
            logger: .quiet
        )
        let secrets = try SealedSecrets(it.scene.database)
        mount = Mount(upstream, hasher: try secrets.credentialHasher(), secrets: secrets)
    }

    struct Played {
        let status: Int
        let fields: HTTPFields
        let bytes: [UInt8]
        var cacheStatus: String? { fields[.cacheStatus] }
    }

    /// Asks for a range, or for all, and reads the whole response or, as a player that is stopped, the beginning of it.
    @discardableResult
    func play(_ range: String?, _ fields: HTTPFields = [:], upTo limit: Int = .max) async throws -> Played {
        var fields = fields
        fields[.range] = range.map { "bytes=\($0)" }
        let request = MountRequest(method: .get, target: "/film", headerFields: fields)
        let response = try await mount.respond(to: request)
        var bytes: [UInt8] = []
        switch response.body {
        case .none: break
        case .bytes(let whole): bytes = Array(whole.readableBytesView)
        case .stream(let parts, _):
            for try await part in parts {
                bytes += part.readableBytesView
                if bytes.count >= limit { break }
            }
        }
        return Played(status: response.head.status.code, fields: response.head.headerFields, bytes: bytes)
    }

    /// The parts that are stored.
    var parts: [Range<Int>] {
        get throws {
            let request = try ProxiedRequest(
                MountRequest(method: .get, target: "/film", headerFields: [:]),
                to: mount.upstream.configuration,
                hasher: mount.hasher
            )
            return try mount.store.candidates(for: request).compactMap(\.head.parts).flatMap(\.ranges)
        }
    }

    /// Waits until these parts are stored, which may happen after the client has left.
    func partsAre(_ expected: [Range<Int>]) async throws {
        try await BoundedWait.poll(for: "parts \(expected)") { try parts == expected }
    }
}
