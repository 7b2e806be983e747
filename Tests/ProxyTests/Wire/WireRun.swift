import Database
import Foundation
import HTTPTypes
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import ResponseStore
import TestKit
import Testing
import Upstream

@testable import Concurrency
@testable import Freshness
@testable import Proxy
@testable import Upstream

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
        mount = Mount(upstream, hasher: try SealedSecrets(database).credentialHasher())
        progress = FileManager.default.temporaryDirectory.appending(
            path: "larder-wire-\(ProcessInfo.processInfo.processIdentifier).txt"
        )
    }

    /// Runs the cases of a range. If the process ends in the middle, the file named on standard error tells the batch
    /// that it was at.
    ///
    /// - Returns: How many cases ended in which way: `served`, the name of an `UpstreamError`, or `left`.
    /// - Throws: ``Failure`` for an untyped error, and if no healthy request is served.
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

    /// What came of a case, in words; those of an error that is none of Larder's begin with `untyped`.
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

    /// Sends healthy requests until one is served with its own body. What an upstream has sent behind a response may be
    /// taken for the next one on that connection (RFC 9112 §9.2 has no defence), but then the connection ends.
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
