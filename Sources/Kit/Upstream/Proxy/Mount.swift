package import Concurrency
import Foundation
package import GRDB
import HTTP
package import HTTPTypes
import Logging
import NIOCore
package import Storage

/// An upstream's own API behind an HTTP cache (RFC 9111, 5861, 9211). `HTTP` and `ProxyMachine` decide;
/// `ProxyExchange` asks, stores, and passes on.
///
/// Its responses are stored under a name of their own: rows of a screen are never used for a raw request.
package final class Mount: Sendable {
    package let upstream: Upstream
    let rules: CachingRules
    let hasher: CredentialHasher
    let store: MountStore
    /// Rewrites links to addresses of the mount; nil if they are passed on unchanged.
    let links: MountLinks?
    let flights = MountFlights()
    let background = BackgroundTasks()

    /// Mounts an upstream.
    ///
    /// - Parameters:
    ///   - hasher: Makes credentials into keys of the store.
    ///   - secrets: Seal responses with links.
    package init(_ upstream: Upstream, hasher: CredentialHasher, secrets: SealedSecrets) {
        self.upstream = upstream
        self.hasher = hasher
        let options = upstream.configuration.mount
        links =
            options.leadsBack
            ? MountLinks(of: upstream.configuration, hasher: hasher, secrets: secrets) : nil
        rules = CachingRules(
            cacheName: "larder",
            shared: options.shared,
            heuristics: options.heuristics ? .tenPercent : .off,
            lastGood: options.lastGood
        )
        store = MountStore(of: upstream, links)
    }

    /// Cancels the validations in the background.
    package func stop() { background.stop() }

    /// Responds to a request from the store or the upstream.
    ///
    /// - Throws: `UpstreamError` if there is no response; `CancellationError`; `StorageError`.
    package func respond(to request: MountRequest) async throws -> ProxyResponse {
        let proxied = try ProxiedRequest(request, to: upstream.configuration, hasher: hasher, links)
        var exchange = ProxyExchange(self, proxied, ProxyMachine(mayCollapse: proxied.mayCollapse))
        let response = try await exchange.run()
        return try await links?.lead(response, to: proxied, at: request.mountURL) ?? response
    }

    /// Validates a stored response while the client has it already (RFC 5861 §3). Does nothing if the same request is
    /// under way.
    func revalidate(_ request: ProxiedRequest, _ validation: Validation, among candidates: [CachedResponse]) {
        guard let flight = flights.leadIfFree(request.flightKey) else { return }
        background.start { [self] in
            // Stored parts are no response to a request without a range.
            let request = validation.stored.parts == nil ? request.withoutRange : request
            var exchange = ProxyExchange(self, request.unattended, ProxyMachine(validating: validation))
            exchange.candidates = candidates
            exchange.flight = flight
            do {
                let response = try await exchange.run()
                if case .stream(let parts, _) = response.body { for try await _ in parts {} }
            } catch {
                upstream.logger.debug("a validation in the background failed", metadata: ["error": "\(error)"])
            }
        }
    }
}

/// An upstream's token of an account that is logged in to Larder. It replaces `Authorization`, but never on a shared
/// mount.
package struct MountCredential: Sendable {
    /// Value of `Authorization`.
    var authorization: String
    /// The account, in other words than the token, which may be replaced by a newer one. Responses are stored under it.
    var identity: CredentialHash
    /// Whether the account is still logged in, asked in the transaction that stores a response: one that arrives after
    /// the logout would stay.
    var isLoggedIn: @Sendable (Database) throws -> Bool

    package init(
        authorization: String,
        identity: CredentialHash,
        isLoggedIn: @escaping @Sendable (Database) throws -> Bool = { _ in true }
    ) {
        self.authorization = authorization
        self.identity = identity
        self.isLoggedIn = isLoggedIn
    }
}

/// A client's request for something below a mount.
package struct MountRequest: Sendable {
    var method: HTTPRequest.Method
    /// Path and query below the upstream's base URL, byte for byte as received; begins with a slash.
    var target: String
    /// The URL of the mount as the client knows it.
    var mountURL: String
    /// The client's header fields, without tokens of Larder's own sessions.
    var headerFields: HTTPFields
    var body: ByteStream?
    /// Length of the body in bytes, if it is known.
    var bodyLength: Int?
    /// The credential that Larder adds for the account; nil sends only the client's own fields.
    var credential: MountCredential?
    /// Sends interim responses of the upstream (RFC 9110 §15.2) to the client.
    var interim: (@Sendable (HTTPResponse) -> Void)?

    package init(
        method: HTTPRequest.Method,
        target: String,
        mountURL: String = "",
        headerFields: HTTPFields,
        body: ByteStream? = nil,
        bodyLength: Int? = nil,
        credential: MountCredential? = nil,
        interim: (@Sendable (HTTPResponse) -> Void)? = nil
    ) {
        self.credential = credential
        self.interim = interim
        self.method = method
        self.target = target
        self.mountURL = mountURL
        self.headerFields = headerFields
        self.body = body
        self.bodyLength = bodyLength
    }

    /// The target with every character that is none of a URI (RFC 3986 §2) percent-encoded, because no URL could carry
    /// it otherwise. Everything else is unchanged.
    var encodedTarget: String { PercentEncoding.encode(target, allowed: .uri) }

    /// Whether a target stays below the base URL: it begins with a slash, and no segment of its path is `.` or `..`
    /// (RFC 3986 §3.3). That also holds for a server that decodes percent-encoded dots and slashes, takes `\` for `/`,
    /// or cuts off parameters (`..;a=b`).
    package static func isBelowBase(_ target: String) -> Bool {
        guard target.utf8.first == UInt8(ascii: "/") else { return false }
        let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
        // Most paths have no dot, and nothing that could be decoded to one.
        guard path.contains(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "%") }) else { return true }
        let slashes = [UInt8(ascii: "/"), UInt8(ascii: "\\")]
        return !decoded(Array(path)).split(whereSeparator: slashes.contains).contains { segment in
            let name = segment.prefix { $0 != UInt8(ascii: ";") }
            return name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8)
        }
    }

    /// Decodes percent-encoded bytes; a percent sign that begins none stays.
    private static func decoded(_ path: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = path[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2).compactMap(PercentEncoding.hexadecimalValue)
            guard byte == UInt8(ascii: "%"), digits.count == 2 else {
                bytes.append(byte)
                continue
            }
            bytes.append(digits.reduce(0) { $0 << 4 | $1 })
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}

/// The open body of a stored response of a mount.
enum MountBody: Sendable {
    case whole(ResponseStore.OpenBody)
    /// The pieces of the requested range, and the length of the whole.
    case parts([PartReader], length: Int)

    /// The length of the whole in bytes.
    var length: Int {
        switch self {
        case .whole(.bytes(let bytes)): bytes.count
        case .whole(.blob(let reader)): reader.blob.length
        case .parts(_, let length): length
        }
    }

    /// Returns the body of a response with these bytes; of parts, those that were opened.
    func part(_ range: Range<Int>) -> ProxyResponse.Body {
        switch self {
        case .whole(.bytes(let bytes)):
            let start = bytes.startIndex + range.lowerBound
            return .bytes(ByteBuffer(bytes: bytes[start..<(start + range.count)]))
        case .whole(.blob(let reader)): return .stream(ByteStream(reader, range: range), length: range.count)
        case .parts(let readers, _): return .stream(ByteStream(readers), length: range.count)
        }
    }
}

extension CachedResponseHead {
    /// Returns which bytes of the body the response to a request has; none for a HEAD or a 304.
    func bytes(for request: ProxiedRequest, of length: Int) -> Range<Int> {
        switch ServedResponse(to: request.cacheKeyRequest, from: self, age: 0, bodyLength: length).body {
        case .none: 0..<0
        case .whole: 0..<length
        case .part(let range): range.lowerBound..<(range.upperBound + 1)
        }
    }
}

extension ByteStream {
    /// Most bytes that are read of a part at a time.
    private static let pieceBytes = 256 << 10

    /// Streams stored pieces of a body one after the other.
    init(_ pieces: [PartReader]) {
        self.init {
            var rest = pieces[...]
            var position = rest.first?.range.lowerBound ?? 0
            return {
                guard let piece = rest.first else { return nil }
                let end = Swift.min(position + Self.pieceBytes, piece.range.upperBound)
                let bytes = try piece.read(position..<end)
                position = end
                if end == piece.range.upperBound {
                    rest.removeFirst()
                    position = rest.first?.range.lowerBound ?? end
                }
                return ByteBuffer(bytes: bytes)
            }
        }
    }

    /// Streams bodies one after the other.
    init(joining streams: [ByteStream]) {
        self.init {
            var rest = streams[...]
            var current: Iterator?
            return {
                while true {
                    if let part = try await current?.next() { return part }
                    guard let next = rest.popFirst() else { return nil }
                    current = next.makeAsyncIterator()
                }
            }
        }
    }
}
