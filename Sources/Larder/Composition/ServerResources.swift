import Cluster
import Concurrency
import Foundation
import HTTPTypes
import Logging
import Media
import NIOPosix
import Sandbox
import Screens
import Server
import Storage
import Upstream

/// The resources that all apps and the kit's own routes share: storage, sessions, events, tools and the clock.
struct ServerResources: Sendable {
    let configuration: LarderConfiguration
    let database: LarderDatabase
    /// The data of several processes; nil for a process that has its own data only.
    let shared: ClusterService?
    /// The rows of users: those of sessions and of the apps.
    let users: UserDatabase
    let transports: Transports
    /// Recordings of upstreams.
    let fixtures: FixtureLibrary
    let accessRecorder = AccessRecorder()
    let sessions: SessionStore
    let devices: DeviceStore
    /// Issues pairing codes, and pairs devices that send one.
    let pairing: Pairing
    let events: EventStream
    let connections: OpenConnections
    /// Nil for a server without TLS.
    let certificate: ServedCertificate?
    let media: MediaEngine
    let abilities: MediaAbilities
    let scratch: ScratchFolder
    let clock: WallClock
    /// The clock for the expiry of users' data.
    let retention: RetentionClock
    let logger: Logger
    /// Distinguishes the runs of the server in the identities of requests and events.
    let run: String
    /// Whether this server has replaced one with the same listening socket.
    let isReplacement: Bool
    let paths: RouterPaths
    /// The sandbox that simulates upstreams, and its port; nil without one.
    private let sandbox: (sandbox: Sandbox, port: Int)?

    /// - Parameters:
    ///   - clock: Nil for the configured one.
    ///   - sandbox: The sandbox that simulates upstreams, and its port; nil without one.
    ///   - isTested: Returns whether tests control the server.
    ///   - isControlled: Whether tests may record requests, and replay responses from files.
    ///   - last: The resources of the server that this one replaces. Those of the listening socket are taken over.
    /// - Throws: `StorageError` or a file error if folders cannot be used, ``FollowsOthers``, `CertificateError`.
    init(
        _ configuration: LarderConfiguration,
        _ database: LarderDatabase,
        _ shared: ClusterService?,
        _ transports: Transports,
        run: String,
        clock: WallClock? = nil,
        sandbox: (sandbox: Sandbox, port: Int)? = nil,
        isControlled: Bool = false,
        isTested: @escaping @Sendable () -> Bool = { false },
        replacing last: ServerResources? = nil,
        logger: Logger
    ) throws {
        self.configuration = configuration
        self.database = database
        self.shared = shared
        users = try Self.users(in: database, shared)
        self.run = run
        self.transports = transports
        self.sandbox = sandbox
        fixtures = try FixtureLibrary(configuration, isControlled: isControlled, logger: logger)
        configuration.upstreams.warnOfLookalikes(logger)
        self.logger = logger
        isReplacement = last != nil
        paths = last?.paths ?? RouterPaths()
        let clock = clock ?? configuration.clock
        self.clock = clock
        let retention = try RetentionClock(
            clock,
            database: database,
            storeTime: shared?.access.database.time,
            isTested: isTested,
            logger: logger
        )
        self.retention = retention
        sessions = try Self.sessions(of: users, configuration, clock, retention)
        devices = try DeviceStore(database, clock: clock)
        pairing = Pairing(devices: devices, file: PairingCodeFile(in: configuration.dataDirectory), clock: clock)
        let most = OpenFileLimit.connections(configuration.settings[HTTPSettings.connections])
        let perAddress = configuration.connectionsPerAddress(of: most)
        let listeners = (perClient: max(1, perAddress / 2), all: max(1, most / 2))
        events = EventStream(run: run, listenersPerClient: listeners.perClient, listeners: listeners.all, clock: clock)
        if let shared { events.share(over: shared.access.changes) }
        connections =
            last?.connections
            ?? OpenConnections(limit: perAddress, exempt: configuration.trustedProxies, places: most - most / 16)
        // Uses the machine's time, because clients compare a certificate with it.
        certificate =
            try last?.certificate
            ?? configuration.certificate.map { try ServedCertificate($0, protocols: ["h2", "http/1.1"], now: Date()) }
        media = try Self.media(configuration, in: database.directory, logger)
        abilities = MediaAbilities(media)
        scratch = try ScratchFolder("uploads", in: database.directory)
    }

    private static func sessions(
        of users: UserDatabase,
        _ configuration: LarderConfiguration,
        _ clock: WallClock,
        _ retention: RetentionClock
    ) throws -> SessionStore {
        let lifetime = configuration.settings[ServerSettings.sessionLifetime]
        var sessions = SessionStore(users, lifetime: lifetime, cookies: try SessionCookies(users), clock: clock)
        sessions.expiryTime = { retention.now }
        return sessions
    }

    private static func media(
        _ configuration: LarderConfiguration,
        in directory: DataDirectory,
        _ logger: Logger
    ) throws -> MediaEngine {
        let folder = URL(filePath: try ScratchFolder("work", in: directory).path, directoryHint: .isDirectory)
        let (tools, limits) = (configuration.media.tools, configuration.media.limits)
        return try MediaEngine(tools: tools, limits: limits, folder: folder, logger: logger)
    }

    /// Returns the rows of users. A server without a shared store refuses a file that has replicated other servers.
    ///
    /// - Throws: ``FollowsOthers``, `StorageError`.
    private static func users(in database: LarderDatabase, _ shared: ClusterService?) throws -> UserDatabase {
        guard let shared, let journal = shared.journal else {
            guard try !database.read(Journal.isFollowed) else { throw FollowsOthers() }
            return UserDatabase(database)
        }
        return UserDatabase(database, journal, kept: shared.kept)
    }

    /// Returns a new upstream with the configuration of a name; nil if it has no address. Changes of its reachability
    /// are published as events.
    func upstream(_ name: String) -> Upstream? {
        configuration.upstreams.byName[name].flatMap(upstream)
    }

    /// Returns a new upstream for one that a test has made in the sandbox, together with the latter; nil without one.
    func stub(_ name: String) -> (upstream: Upstream, made: any AnyObject & Sendable)? {
        guard let (sandbox, port) = sandbox, let made = sandbox.stub(name),
            let url = URL(string: "http://127.0.0.1:\(port)/\(name)"), let timeout = transports.timeouts.min()
        else { return nil }
        let description = UpstreamDescription(name, title: name, url: nil)
        var configuration = UpstreamConfiguration(description, at: url, self.configuration.settings)
        configuration.connectTimeout = timeout
        configuration.isSimulated = true
        configuration.mount.shared = false
        configuration.mount.methods = [.get, .head, .options, .post, .put, .patch, .delete]
        configuration.mount.requestFields.append(RequestField(.sandboxFault, isKey: false))
        return upstream(configuration).map { ($0, made) }
    }

    private func upstream(_ configuration: UpstreamConfiguration) -> Upstream? {
        let name = configuration.name
        guard let client = transports[configuration.connectTimeout] else { return nil }
        let real: any Transport =
            sandbox.map { RefusableTransport(real: client, sandbox: $0.sandbox, port: $0.port) } ?? client
        let transport = fixtures[name].map { FixtureTransport(real: real, fixtures: $0, configuration) } ?? real
        let upstream = Upstream(
            configuration: configuration,
            transport: transport,
            database: database,
            accessRecorder: accessRecorder,
            budget: self.configuration.settings[ServerSettings.cacheBudget],
            clock: clock,
            logger: logger
        )
        upstream.onChange { [events] change in
            switch change {
            case .wentDown(let at): events.publish(.connectivity(upstream: name, reachable: false, at: at))
            case .cameBack(let at): events.publish(.connectivity(upstream: name, reachable: true, at: at))
            }
        }
        return upstream
    }
}

/// A data directory that has replicated other servers. Changes of a server without a shared store would be lost in it.
struct FollowsOthers: Error, CustomStringConvertible {
    let description = """
        This data directory has users' data of several servers. Set store.url, or copy the data to a new directory by \
        "larder store copy".
        """
}

/// One HTTP client for each connect timeout of the upstreams, because a client has one timeout for all connections.
struct Transports: Sendable {
    private let byTimeout: [Duration: HTTPClientTransport]

    init(_ connectTimeouts: some Sequence<Duration>) {
        byTimeout = Dictionary(
            uniqueKeysWithValues: Set(connectTimeouts).map {
                ($0, HTTPClientTransport(eventLoopGroup: .singleton, connectTimeout: $0))
            }
        )
    }

    var timeouts: some Collection<Duration> { byTimeout.keys }

    subscript(connectTimeout: Duration) -> HTTPClientTransport? { byTimeout[connectTimeout] }

    /// Closes all connections.
    /// - Throws: the errors of async-http-client.
    func shutdown() async throws {
        for transport in byTimeout.values { try await transport.shutdown() }
    }
}

/// Sends requests. Those to a simulated upstream that refuses connections are sent to a port that refuses them.
///
/// All requests to upstreams use this transport, also those of mounts to an upstream that a test has made. The URL
/// tells which upstream is meant.
struct RefusableTransport: Transport {
    let real: any Transport
    let sandbox: Sandbox
    /// The sandbox's base URL. The first segment of a path below it names the upstream.
    private let base: String

    /// - Parameter port: The port of the sandbox.
    init(real: any Transport, sandbox: Sandbox, port: Int) {
        self.real = real
        self.sandbox = sandbox
        base = "http://127.0.0.1:\(port)/"
    }

    func exchange(_ request: OutgoingRequest, within limits: TransportLimits) async throws(UpstreamError)
        -> IncomingResponse
    {
        var request = request
        request.url = reached(request.url)
        return try await real.exchange(request, within: limits)
    }

    func stream(_ request: StreamedRequest, within limits: TransportLimits) async throws(UpstreamError)
        -> StreamedResponse
    {
        var request = request
        request.url = reached(request.url)
        return try await real.stream(request, within: limits)
    }

    /// Returns the URL with the refusing port if the upstream refuses connections now, else the URL unchanged.
    private func reached(_ url: String) -> String {
        guard url.hasPrefix(base) else { return url }
        let rest = url.dropFirst(base.count)
        guard let port = sandbox.refusal(of: String(rest.prefix { $0 != "/" && $0 != "?" })) else { return url }
        return "http://127.0.0.1:\(port)/\(rest)"
    }
}

/// The available work on pictures and documents, for `/health/ready`.
///
/// The first request starts a test of the programs in the background, which takes up to two seconds. The result is
/// kept: programs that are missing at the start are not searched for again. A program that exists and fails is tested
/// again after the next request.
actor MediaAbilities {
    private let engine: MediaEngine
    private var findings: [MediaEngine.Check]?
    private var testing: Task<Void, Never>?

    init(_ engine: MediaEngine) {
        self.engine = engine
    }

    /// Returns one line for each program and one for each of its tested abilities, with the results known so far. It
    /// does not wait, because load balancers allow a probe little time.
    func all() -> [HealthRoutes.Ability] {
        if needsTest { test() }
        return (findings ?? engine.untested()).map { found in
            let name = found.tool.executable + (found.ability.map { "/\($0)" } ?? "")
            return HealthRoutes.Ability(
                name: name,
                ok: found.works,
                install: found.works == false ? found.install : nil
            )
        }
    }

    private var needsTest: Bool {
        guard testing == nil else { return false }
        return findings?.contains { $0.works == false && engine.tools.paths[$0.tool] != nil } ?? true
    }

    private func test() {
        testing = Task {
            findings = await engine.selfTest()
            testing = nil
        }
    }

    /// Ends the running test. It must not outlast the server: at the end of the process, its next program would wait
    /// for a thread that no longer exists.
    func stop() async {
        testing?.cancel()
        await testing?.value
    }
}
