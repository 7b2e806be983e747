import Foundation
import HTTPTypes
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Storage
import TestKit
import Testing

@testable import Concurrency
@testable import Upstream

/// TRUST-01: nothing that an upstream sends ends the process, hangs a request, or spoils the transport for others.
///
/// The number of cases, the seed and the first case are in the environment where `script/check-fuzz` or a repetition
/// sets them:
/// `WIRE_CASES`, `WIRE_SEED`, `WIRE_FIRST`.
struct WireTests {
    private static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }

    private static var range: Range<Int> {
        let first = number("WIRE_FIRST") ?? 0
        return first..<(first + (number("WIRE_CASES") ?? 5000))
    }

    @Test(
        "TRUST-01 Mutated responses by reads, calls, streams and mounts each end typed, and healthy ones are served",
        .timeLimit(.minutes(60))
    )
    func mutated() async throws {
        let run = try await WireRun(seed: UInt64(Self.number("WIRE_SEED") ?? 2026))
        let outcomes = try await run.run(Self.range)
        // Mutations after which nothing is HTTP would show little.
        #expect(outcomes["served", default: 0] > Self.range.count / 10, "\(outcomes)")
        #expect(outcomes["badResponse", default: 0] > Self.range.count / 10, "\(outcomes)")
    }

    @Test("TRUST-01 The cases of a seed are the same in every run")
    func repeatable() {
        for number in 0..<200 {
            let (one, other) = (WireCase(seed: 7, number: number, port: 1), WireCase(seed: 7, number: number, port: 1))
            #expect(one.pieces == other.pieces && one.route == other.route && one.ending == other.ending)
        }
    }
}

/// Sends requests through Larder's own ways to an upstream whose responses are mutated, all through one transport.
///
/// Each has to end, with a result or a typed error, within its deadline, and a healthy request has to be served after
/// them.
final class WireRun: Sendable {
    /// Something that must not be.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// How long a request may take by its own deadlines.
    private static let total: Duration = .milliseconds(250)
    /// How long it may take on the busiest machine.
    private static let patience: Duration = .seconds(30)
    private static let lanes = 12
    private static let batch = 100

    let seed: UInt64
    private let server: RawServer
    private let transport: HTTPClientTransport
    private let upstream: Upstream
    private let mount: Mount
    private let progress: URL
    private let outcomes = NIOLockedValueBox<[String: Int]>([:])
    private let running = NIOLockedValueBox<[Int: ContinuousClock.Instant]>([:])

    init(seed: UInt64) async throws {
        self.seed = seed
        server = try await RawServer.wire(seed: seed)
        transport = HTTPClientTransport(eventLoopGroup: .singleton, connectTimeout: .seconds(10))
        guard let base = URL(string: server.url) else { throw Failure(description: "no address") }
        let database = try LarderDatabase.temporary()
        upstream = Upstream(
            configuration: UpstreamConfiguration(
                name: "wire",
                title: "Wire",
                baseURL: base,
                totalTimeout: Self.total,
                patience: .seconds(60),
                // Links to hosts and ports of any kind are tried, and not refused before.
                trustedHosts: ["127.0.0.1", "localhost", "::1"],
                mount: MountOptions(methods: [.get, .head, .post])
            ),
            transport: transport,
            database: database,
            clock: .system,
            retries: RetryPolicy(attempts: 1),
            logger: .quiet
        )
        let secrets = try SealedSecrets(database)
        mount = Mount(upstream, hasher: try secrets.credentialHasher(), secrets: secrets)
        progress = FileManager.default.temporaryDirectory.appending(
            path: "larder-wire-\(ProcessInfo.processInfo.processIdentifier).txt"
        )
    }

    /// Runs the cases of a range. If the process ends in the middle, the file named on standard error tells the batch
    /// that it was at.
    ///
    /// - Returns: How many cases ended in which way: `served`, the name of an `UpstreamError`, or `left`.
    func run(_ cases: Range<Int>) async throws -> [String: Int] {
        FileHandle.standardError.write(Data("wire: seed \(seed), cases \(cases), at \(progress.path)\n".utf8))
        let watching = Task { [self] in await watch() }
        defer { watching.cancel() }
        for start in stride(from: cases.lowerBound, to: cases.upperBound, by: Self.batch) {
            let batch = start..<min(start + Self.batch, cases.upperBound)
            try Data("WIRE_SEED=\(seed) WIRE_FIRST=\(start) WIRE_CASES=\(Self.batch)\n".utf8).write(to: progress)
            try await run(batch: batch)
            try await healthy(batch.lowerBound)
        }
        try FileManager.default.removeItem(at: progress)
        mount.stop()
        upstream.stop()
        try await transport.shutdown()
        try await server.close()
        return outcomes.withLockedValue { $0 }
    }

    /// Tells of cases that do not end; the time limit of the test ends them.
    private func watch() async {
        while (try? await Task.sleep(for: .seconds(1))) != nil {
            let now = ContinuousClock.now
            let stuck = running.withLockedValue { running in
                let stuck = running.filter { now - $0.value > Self.patience }.map(\.key)
                for number in stuck { running[number] = nil }
                return stuck
            }
            for number in stuck {
                Issue.record("\(name(of: WireCase(seed: seed, number: number, port: server.port))) does not end")
            }
        }
    }

    private func run(batch: Range<Int>) async throws {
        let next = NIOLockedValueBox(batch.lowerBound)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<Self.lanes {
                group.addTask { [self] in
                    while true {
                        let number = next.withLockedValue { next in
                            defer { next += 1 }
                            return next
                        }
                        guard number < batch.upperBound else { return }
                        try await run(WireCase(seed: seed, number: number, port: server.port))
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private func run(_ wireCase: WireCase) async throws {
        running.withLockedValue { $0[wireCase.number] = .now }
        // Bodies in parts have no deadline of their own but the read time-out: the client is the one that leaves.
        let ended = await withTaskGroup(of: String?.self) { group in
            group.addTask { [self] in await outcome(of: wireCase) }
            group.addTask {
                try? await Task.sleep(for: Self.total * 2)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        running.withLockedValue { $0[wireCase.number] = nil }
        let word = ended.map { String($0.prefix { $0.isLetter }) } ?? "left"
        outcomes.withLockedValue { $0[word, default: 0] += 1 }
        if let ended, ended.hasPrefix("untyped") { throw Failure(description: "\(name(of: wireCase)): \(ended)") }
    }

    private func name(of wireCase: WireCase) -> String {
        let bytes = String(decoding: wireCase.pieces.joined(), as: UTF8.self).prefix(400).debugDescription
        return "case \(wireCase.number) of seed \(seed), by \(wireCase.route), connection \(wireCase.ending): \(bytes)"
    }

    /// Returns the outcome of a case in words. An error that is not one of Larder's begins with `untyped`.
    private func outcome(of wireCase: WireCase) async -> String {
        let path = "/case/\(wireCase.number)"
        let url = server.url + path
        do {
            switch wireCase.route {
            case .read:
                _ = try await upstream.read(Resource(url: url, freshness: .zero), .revalidate)
            case .call:
                _ = try await upstream.call(OutgoingRequest(method: .post, url: url, body: Array("{}end\n".utf8)))
            case .stream:
                try await body(upstream.stream(StreamedRequest(method: .get, url: url, headerFields: [:]))).readAll()
            case .upload:
                let request = StreamedRequest(method: .post, url: url, headerFields: [:], body: Self.upload)
                try await body(upstream.stream(request)).readAll()
            // With no-cache, so that no `Retry-After` of an earlier case keeps it from the upstream.
            case .mount:
                try await mounted(MountRequest(method: .get, target: path, headerFields: [.cacheControl: "no-cache"]))
            case .mountHead:
                try await mounted(MountRequest(method: .head, target: path, headerFields: [.cacheControl: "no-cache"]))
            case .mountWrite:
                try await mounted(MountRequest(method: .post, target: path, headerFields: [:], body: Self.upload))
            }
            return "served"
        } catch let error as UpstreamError {
            // The name of the case.
            return Mirror(reflecting: error).children.first?.label ?? "\(error)"
        } catch is CancellationError {
            return "left"
        } catch let error as StorageError {
            // A body that is not as long as was announced, found while it was stored.
            return "\(error)"
        } catch {
            return "untyped \(type(of: error)) \(error)"
        }
    }

    /// Some parts, the last of which ends with the line that ``RawServer/wire(seed:)`` waits for.
    private static var upload: ByteStream {
        ByteStream {
            var parts = [String](repeating: String(repeating: "hello ", count: 2000), count: 4) + ["end\n"]
            return { parts.isEmpty ? nil : ByteBuffer(string: parts.removeFirst()) }
        }
    }

    private func mounted(_ request: MountRequest) async throws {
        let response = try await mount.respond(to: request)
        guard (200...599).contains(response.head.status.code) else {
            throw Failure(description: "\(response.head.status) of a mount")
        }
        if case .stream(let parts, _) = response.body { try await parts.readAll() }
    }

    private func body(_ response: StreamedResponse) throws -> ByteStream {
        guard (200...999).contains(response.status.code) else {
            throw Failure(description: "\(response.status) of a stream")
        }
        return response.body
    }

    /// Sends healthy requests until one is served with its own body. Bytes that an upstream has sent behind a response
    /// may be taken for the next one on that connection (RFC 9112 §9.2 has no defence), but then the connection ends.
    private func healthy(_ number: Int) async throws {
        for attempt in 0..<50 {
            let name = "\(number)-\(attempt)"
            let request = OutgoingRequest(url: "\(server.url)/healthy/\(name)")
            let limits = TransportLimits(total: .seconds(10), maximumBytes: 1000, publicAddressesOnly: false)
            let body = try? await transport.exchange(request, within: limits).body
            if body == Array("healthy \(name)".utf8) { return }
        }
        throw Failure(description: "no healthy request is served after the cases from \(number) of seed \(seed)")
    }
}

extension ByteStream {
    /// Takes all parts and forgets them.
    fileprivate func readAll() async throws {
        for try await _ in self {}
    }
}

/// One case of the mutation run: the bytes that the server sends to one request, their pieces and the end of the
/// connection. The same for the same seed and number.
struct WireCase: Sendable {
    /// The interface of Larder that sends the request.
    enum Route: Int, CaseIterable, Sendable { case read, call, stream, upload, mount, mountHead, mountWrite }

    let number: Int
    let route: Route
    /// The bytes in the pieces in which they are written.
    let pieces: [[UInt8]]
    let ending: RawServer.Response.Ending
    /// Whether the server responds as soon as it has the head of a request with a body, and reads no more of it.
    let isEarly: Bool

    init(seed: UInt64, number: Int, port: Int) {
        var chance = SeededRandom(seed: seed &+ UInt64(number) &* 0x2545_F491_4F6C_DD1D)
        self.number = number
        route = chance.one(of: Route.allCases, or: .read)
        var response = WireResponse(chance: SeededRandom(seed: chance.next()), port: port)
        let (text, isSelfDelimited) = response.bytes()
        var bytes = Array(text.utf8)
        let isMutated = chance.once(in: 2)
        if isMutated { for _ in 0..<chance.number(1...6) { Self.mutate(&bytes, &chance) } }
        let isWhole = isSelfDelimited && !isMutated
        switch chance.number(0...19) {
        case 0: ending = .resets
        // An end that never arrives costs its deadline; some of those have to be.
        case 1...(isWhole ? 12 : 1): ending = .stays
        default: ending = .closes
        }
        isEarly = ending != .stays && chance.once(in: 3)
        pieces = Self.cut(bytes, &chance)
    }

    private static func mutate(_ bytes: inout [UInt8], _ chance: inout SeededRandom) {
        guard !bytes.isEmpty else { return }
        // Most decisions depend on the head.
        let end = chance.once(in: 3) ? bytes.count : min(bytes.count, 200)
        let place = chance.number(0...(end - 1))
        switch chance.number(0...7) {
        case 0: bytes[place] ^= 1 << UInt8(chance.number(0...7))
        case 1: bytes[place] = UInt8(chance.number(0...255))
        case 2: bytes.remove(at: place)
        case 3:
            bytes.insert(
                chance.one(of: [0x0D, 0x0A, 0x20, 0x09, 0x00, 0x3A, 0x30, 0x2D, 0xFF, 0x7F], or: 0),
                at: place
            )
        case 4: bytes.removeSubrange(place..<min(bytes.count, place + chance.number(1...20)))
        case 5:
            let slice = Array(bytes[place..<min(bytes.count, place + chance.number(1...60))])
            bytes.insert(contentsOf: slice, at: chance.number(0...bytes.count))
        case 6: bytes.removeSubrange(place...)
        default: bytes.replaceSubrange(place..<min(bytes.count, place + 1), with: Array("99999999999999999999".utf8))
        }
    }

    private static func cut(_ bytes: [UInt8], _ chance: inout SeededRandom) -> [[UInt8]] {
        var rest = bytes[...]
        var pieces: [[UInt8]] = []
        for _ in 0..<chance.one(of: [0, 0, 1, 2, 5], or: 0) where rest.count > 1 {
            let piece = rest.prefix(chance.number(1...(rest.count - 1)))
            pieces.append(Array(piece))
            rest = rest.dropFirst(piece.count)
        }
        return pieces + [Array(rest)]
    }
}

extension RawServer {
    /// Returns an upstream that responds to `/case/N` with the bytes of case N, to `/healthy/X` with `healthy X`, and
    /// to all else with a short response.
    static func wire(seed: UInt64) async throws -> RawServer {
        try await RawServer { received in
            guard let head = received.text.firstRange(of: "\r\n\r\n") else { return nil }
            let number = received.path.hasPrefix("/case/") ? Int(received.path.dropFirst(6)) : nil
            let wireCase = number.map { WireCase(seed: seed, number: $0, port: received.port) }
            let response = wireCase.map { Response(pieces: $0.pieces, ending: $0.ending) } ?? short(received)
            if wireCase?.isEarly != true, received.words.first == "POST" {
                // The bodies of ``WireRun`` end with this line; in chunks, the last chunk follows it.
                let fields = received.text[..<head.lowerBound].lowercased()
                let end = fields.contains("transfer-encoding: chunked") ? "\r\n0\r\n\r\n" : "end\n"
                guard received.text.hasSuffix(end) else { return nil }
            }
            return response
        }
    }

    private static func short(_ received: Received) -> Response {
        let body = received.path.hasPrefix("/healthy/") ? "healthy \(received.path.dropFirst(9))" : "ok"
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
        return .response(received.words.first == "HEAD" ? head : head + body)
    }
}

extension SeededRandom {
    /// Returns true once in `times` times on average.
    mutating func once(in times: Int) -> Bool { Int.random(in: 0..<times, using: &self) == 0 }

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

    /// One of these, or a default for none.
    mutating func one<Value>(of values: [Value], or none: Value) -> Value { values.randomElement(using: &self) ?? none }

    mutating func text(of values: [String]) -> String { one(of: values, or: "") }
}
