package import AsyncHTTPClient
package import Foundation
package import NIOSSL
import Server
import Testing

/// The real `larder serve` over a socket.
package struct RunningLarder: Sendable {
    package let process: RunningProcess
    package let client: Client
    /// Kept for as long as the server runs: a folder is removed with its last owner.
    package let data: TemporaryFolder

    /// Starts it on any free port and waits until it listens. Logins take no time unless the settings say so.
    ///
    /// - Parameters:
    ///   - data: The folder of an earlier process; nil for a new one.
    ///   - upstream: The API of ships.
    package static func start(
        data: TemporaryFolder? = nil,
        upstream: String? = nil,
        _ settings: [String] = [],
        environment: [String: String] = [:]
    ) async throws -> RunningLarder {
        let data = try data ?? TemporaryFolder()
        var arguments = ["serve", "--http-port", "0", "--data-directory", data.path]
        if let upstream { arguments += ["--upstreams-spacex-url", upstream] }
        if !settings.contains("--ships-login-delay-ms") { arguments += ["--ships-login-delay-ms", "0"] }
        let process = RunningProcess(arguments + settings, environment: environment)
        let base = try await process.line(after: "listening on ")
        return RunningLarder(process: process, client: Client(base: base), data: data)
    }

    /// A client with a session of its own.
    package func guest() async throws -> Client { try await client.guest() }

    /// Number of responses that it has sent from the response cache.
    package func cachedResponses() async throws -> Int {
        let line = try await client.get("/metrics").text.split(separator: "\n").first {
            $0.hasPrefix("larder_rendered_hits_total ")
        }
        return line?.split(separator: " ").last.flatMap { Int($0) } ?? 0
    }

    /// Sends a request until its response is a cached one: it takes one to fetch, one to render and one to be sent.
    package func cached(_ client: Client, _ path: String, _ headers: [String: String] = [:], method: String = "GET")
        async throws -> ReceivedResponse
    {
        while true {
            let before = try await cachedResponses()
            let response = try await client.send(method, path, headers)
            if try await cachedResponses() > before { return response }
        }
    }

    /// Ends it without a chance to tidy up.
    package func kill9() async {
        process.signal(SIGKILL)
        await process.ended()
    }

    /// Ends it in order; gives the exit code.
    package func stop() async -> Int32 {
        process.signal(SIGTERM)
        return await process.ended()
    }
}

/// A sandbox over a socket: the real `larder sandbox`, or one within the process of the tests.
package struct RunningSandbox: Sendable {
    /// The process of the real one; nil if the caller runs it.
    private let process: RunningProcess?
    package let client: Client
    package let control: Client

    /// Names a sandbox that listens.
    package init(base: String, http: HTTPClient = Client.http) { self.init(base: base, http: http, process: nil) }

    private init(base: String, http: HTTPClient, process: RunningProcess?) {
        self.process = process
        client = Client(base: base, http: http)
        control = Client(base: base + "/_sandbox", http: http)
    }

    /// Starts the real one and waits until it listens.
    package static func start(port: Int = 0) async throws -> RunningSandbox {
        let process = RunningProcess(["sandbox", "--sandbox-port", String(port)])
        return RunningSandbox(base: try await process.line(after: "listening on "), http: Client.http, process: process)
    }

    /// Ends the real one without a chance to tidy up.
    package func kill9() async {
        process?.signal(SIGKILL)
        await process?.ended()
    }

    package var base: String { client.base }
    package var port: Int { client.port }
    package var spacex: String { base + "/spacex" }

    /// The settings with which a server uses these of its upstreams.
    package func settings(_ upstreams: String...) -> [String] {
        upstreams.flatMap { ["--upstreams-\($0.replacing("_", with: "-"))-url", "\(base)/\($0)"] }
    }

    /// The settings with which a server uses its Disk.
    package var disk: [String] { settings("yandex_disk", "yandex_oauth") }

    /// Sets the fault of an upstream.
    package func fault(_ fault: String, of upstream: String = "spacex") async throws {
        _ = try await control.put("/upstreams/\(upstream)/fault", #"{"fault":"\#(fault)"}"#)
    }

    /// Paths that were asked for, in order.
    package func journal() async throws -> [String] {
        try await control.get("/journal?upstream=spacex").json.entries.elements.compactMap { $0.path.string }
    }

    /// Waits until this many requests have arrived.
    package func arrived(_ count: Int, at upstream: String = "spacex") async throws {
        _ = try await control.get("/journal/wait?upstream=\(upstream)&count=\(count)&timeout_ms=60000")
    }

    /// Returns how many requests of a query have arrived.
    package func count(_ query: String) async throws -> Int {
        let response = try await control.get("/journal?\(query)&count=true")
        return try #require(try response.json.count.int, "\(response.text)")
    }

    /// Waits until a request is held.
    package func held(at upstream: String) async throws {
        try await BoundedWait.poll(for: "a request to be held") {
            try await control.get("/upstreams/\(upstream)/fault").json.waiting.int == 1
        }
    }

    /// Lets the requests go on that are held.
    package func release(_ upstream: String = "spacex") async throws {
        _ = try await control.post("/upstreams/\(upstream)/release", "{}")
    }
}

/// An authority of a test's own with a certificate for the loopback interface, and clients that trust it.
package struct TestAuthority: Sendable {
    private let folder: CertificateFolder
    /// Its files; they go with the last owner.
    private let temporary: TemporaryFolder

    /// Makes both, valid from now on.
    package init(names: [String] = ["localhost", "127.0.0.1"]) throws {
        temporary = TemporaryFolder.unmade()
        folder = CertificateFolder(temporary.url)
        try renew(names: names, renews: false)
    }

    /// Replaces the certificate.
    package func renew(names: [String], renews: Bool = true) throws {
        let names = try names.map { try HostName($0) }
        _ = try folder.make(names: names, renews: renews, authorityName: "test", now: Date())
    }

    /// The file of the certificate.
    package var certificate: URL { folder.server.certificate }
    /// The file of its key.
    package var key: URL { folder.server.key }

    /// Settings with which `larder serve` uses the certificate.
    package var settings: [String] { ["--http-tls-certificate", certificate.path, "--http-tls-key", key.path] }

    /// Returns the TLS context of a server with the certificate.
    package func context() throws -> NIOSSLContext {
        try ServerCertificate(folder.server, protocols: ["h2", "http/1.1"], now: Date()).context
    }

    /// The configuration of a client that trusts this authority only.
    ///
    /// - Parameter version: The one version that it speaks; nil for all.
    package func client(version: TLSVersion? = nil) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .file(folder.authority.certificate.path)
        configuration.minimumTLSVersion = version ?? .tlsv1
        configuration.maximumTLSVersion = version
        return configuration
    }
}
