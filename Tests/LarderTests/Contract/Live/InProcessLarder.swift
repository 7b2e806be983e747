import AsyncHTTPClient
import Foundation
import Hummingbird
import Logging
import Metrics
import NIOCore
import NIOHTTP1
import Sandbox
import Screens
import Server
import TestKit
import Testing
import Upstream

@testable import Larder

/// A server as the composition root makes it, on a free port, with a sandbox for its upstream and a client that follows
/// nothing.
struct InProcessLarder: Sendable {
    let application: LarderApplication
    fileprivate let http: HTTPClient
    let client: Client
    let sandbox: RunningSandbox
    /// Kept for as long as the server runs: the folder is deleted with its last owner.
    let data: TemporaryFolder
    /// Lets system calls on the server's data fail; nil unless it was asked for.
    let faults: FaultScope?
    /// Folder of the server's data.
    var directory: URL { data.url }

    var port: Int { client.port }

    /// Sends a request and waits for the whole response; nothing is added to it.
    func send(_ method: String, _ path: String, _ headers: [String: String] = [:], body: String? = nil) async throws
        -> ReceivedResponse
    {
        var request = HTTPClientRequest(url: client.base + path)
        request.method = HTTPMethod(rawValue: method)
        request.headers = HTTPHeaders(headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
        if let body { request.body = .bytes(ByteBuffer(string: body)) }
        return try await client.send(request)
    }

    /// Calls the control API of the sandbox.
    @discardableResult
    func control(_ method: String, _ path: String, _ body: String? = nil) async throws -> ReceivedResponse {
        let response = try await sandbox.control.send(method, path, body: body)
        try #require((200..<300).contains(response.status), "\(response.text)")
        return response
    }

    /// Sets the fault of an upstream.
    func fault(_ text: String, of upstream: String = "spacex") async throws {
        try await control("PUT", "/upstreams/\(upstream)/fault", #"{"fault":"\#(text)"}"#)
    }

    /// Listens to the event stream; each text that `enough` does not take for enough is read on from.
    func listen(_ headers: [String: String] = [:], query: String = "", enough: (String) async throws -> Bool)
        async throws -> ReceivedResponse
    {
        var request = HTTPClientRequest(url: "\(client.base)/v1/events\(query)")
        request.headers = HTTPHeaders(headers.map { ($0.key, $0.value) })
        let response = try await http.execute(request, deadline: .distantFuture)
        var bytes = Data()
        for try await buffer in response.body {
            bytes += Data(buffer.readableBytesView)
            if try await enough(String(decoding: bytes, as: UTF8.self)) { break }
        }
        return ReceivedResponse(response, body: bytes)
    }
}

/// The process has one system of metrics; every server of these tests writes to it.
private let metrics: PrometheusRegistry = {
    let registry = PrometheusRegistry(families: MetricCatalogue.families)
    MetricsSystem.bootstrap(registry)
    return registry
}()

/// Settings of every server of these tests: a free port, copies that stay fresh, probes that never run, and an OAuth
/// client that the sandbox knows.
let contractSettings: [String] = {
    let upstreams = ["spacex", "catalogue", "people", "geocoder", "yandex-disk"]
    let own = [
        "--http-port", "0", "--ships-login-delay-ms", "0", "--freshness-ships-s", "3600", "--freshness-disk-s", "3600",
        "--disk-operation-wait-ms", "0", "--disk-oauth-client-id", "sandbox-client",
        "--disk-oauth-client-secret", "sandbox-secret", "--notes-scrypt-logarithm", "10",
        "--http-allowed-origins", "https://shop.example",
    ]
    return own + upstreams.flatMap { ["--upstreams-\($0)-probe-interval-ms", "3600000"] }
}()

/// Returns a configuration with the settings of every server of these tests, followed by these.
func contractConfiguration(_ settings: [String], _ environment: [String: String]) throws -> LarderConfiguration {
    try LarderConfiguration(
        try SettingsReader(arguments: contractSettings + settings, environment: [:], file: nil),
        environment: environment,
        sandbox: true
    )
}

private func clientWithoutRedirects() -> HTTPClient {
    var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
    configuration.httpVersion = .http1Only
    return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
}

/// Runs a server and its sandbox for the time of `body`.
///
/// - Parameters:
///   - settings: flags as on the command line, after those that every server of these tests has.
///   - environment: variables of the process; programs are looked for in `PATH`.
///   - withFaults: system calls on the server's data can be made to fail.
///   - statements: logs the SQL statements of the database.
///   - withControls: the server has the controls of its sandbox.
///   - isClosedByBody: `body` closes the application, to see how the server responds then.
func withLarder(
    _ settings: [String] = [],
    environment: [String: String] = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""],
    withControls: Bool = true,
    isClosedByBody: Bool = false,
    withFaults: Bool = false,
    statements: StatementLog? = nil,
    _ body: @escaping @Sendable (InProcessLarder) async throws -> Void
) async throws {
    let data = try TemporaryFolder()
    var logger = Logger(label: "contract")
    logger.logLevel = .critical
    var configuration = try contractConfiguration(["--data-directory", data.path] + settings, environment)
    // Before any file is opened.
    let faults = withFaults ? try FaultScope(data.path) : nil
    let sandbox = Sandbox(configuration: .init(), logger: logger)
    let client = clientWithoutRedirects()
    let (ports, announcement) = AsyncStream.makeStream(of: Int.self)

    let outcome = await withThrowingTaskGroup(of: Void.self, returning: Result<Void, any Error>.self) { group in
        group.addTask { try await sandbox.run() }
        do {
            for upstream in SandboxUpstream.allCases {
                configuration.upstreams.simulate(
                    upstream.rawValue,
                    at: try #require(URL(string: try await sandbox.baseURL(of: upstream.rawValue)))
                )
            }
            let application = try await LarderApplication.build(
                configuration,
                sandbox: withControls ? (sandbox, sandbox.port) : nil,
                tracing: statements?.trace,
                metrics: metrics,
                onListening: { address, _ in announcement.yield(address?.port ?? 0) },
                logger: logger
            )
            group.addTask {
                defer { announcement.finish() }
                try await application.application.run()
            }
            let port = try #require(await ports.first { _ in true }, "the server does not listen")
            let sandboxPort = try await sandbox.port
            let larder = InProcessLarder(
                application: application,
                http: client,
                client: Client(base: "http://127.0.0.1:\(port)", http: client),
                sandbox: RunningSandbox(base: "http://127.0.0.1:\(sandboxPort)", http: client),
                data: data,
                faults: faults
            )
            let result: Result<Void, any Error>
            do { result = .success(try await body(larder)) } catch { result = .failure(error) }
            group.cancelAll()
            while let ended = await group.nextResult() {
                if case .failure(let error) = ended, !(error is CancellationError), case .success = result {
                    throw error
                }
            }
            if !isClosedByBody { try await application.close() }
            return result
        } catch {
            group.cancelAll()
            return .failure(error)
        }
    }
    try await client.shutdown()
    try outcome.get()
}

extension InProcessLarder {
    /// Sends bytes unchanged over a connection of its own, and reads the one response until the server closes.
    func raw(_ text: String) async throws -> ReceivedResponse {
        let exchange = try await RawExchange(port: port, send: text)
        return try #require(ReceivedResponse(http: Data(exchange.received)), "no whole response: \(exchange.text)")
    }
}
