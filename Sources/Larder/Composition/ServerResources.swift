import AppInterface
import Certificates
import Concurrency
import Database
import Foundation
import Freshness
import HTTPServer
import Logging
import Media
import ResponseStore
import Sandbox
import Screens
import SharedStore
import Upstream

/// What every app and the kit's own routes share: storage, sessions, events, tools and the clock.
struct ServerResources: Sendable {
    let configuration: LarderConfiguration
    let database: LarderDatabase
    /// What several processes share; nil for a process that has all of its data itself.
    let shared: SharedStoreService?
    let transports: Transports
    /// Recordings of upstreams.
    let fixtures: FixtureLibrary
    let accessRecorder = AccessRecorder()
    let sessions: SessionStore
    let devices: DeviceStore
    /// Makes codes, and devices of codes.
    let pairing: Pairing
    let events: EventStream
    let connections: OpenConnections
    /// Nil for a server without TLS.
    let certificate: ServedCertificate?
    let media: MediaEngine
    let abilities: MediaAbilities
    let scratch: ScratchFolder
    let clock: WallClock
    /// The clock by which the data of users expires.
    let retention: RetentionClock
    let logger: Logger
    /// Tells the runs of the server apart, in the identities of requests and events.
    let run: String
    /// Whether a server with the same listening socket was before this one.
    let isReplacement: Bool
    /// The paths of the routes.
    let paths: RouterPaths
    /// Simulates upstreams, and its port; nil without one.
    private let sandbox: (sandbox: Sandbox, port: Int)?

    /// Creates what is shared.
    /// - Parameters:
    ///   - clock: Nil for the one that is configured.
    ///   - sandbox: Simulates upstreams, and its port; nil without one.
    ///   - isTested: Returns whether tests control the server.
    ///   - isControlled: Whether tests may have requests recorded, and responded to from files.
    ///   - last: What belonged to the server that this one replaces: what belongs to the listening socket stays.
    /// - Throws: `StorageError` or a file error if folders cannot be used, `CertificateError`.
    init(
        _ configuration: LarderConfiguration,
        _ database: LarderDatabase,
        _ shared: SharedStoreService?,
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
        self.run = run
        self.transports = transports
        self.sandbox = sandbox
        fixtures = try FixtureLibrary(configuration, isControlled: isControlled, logger: logger)
        for (name, other) in configuration.upstreams.lookalikes {
            logger.warning("upstreams.\(name) is mounted by itself; no app uses it. Is \(other) meant?")
        }
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
        var sessions =
            if let shared {
                SessionStore(
                    shared.access.database,
                    shared.access.changes,
                    lifetime: configuration.sessionLifetime,
                    cookies: shared.cookies,
                    clock: clock
                )
            } else {
                SessionStore(
                    database,
                    lifetime: configuration.sessionLifetime,
                    cookies: try SessionCookies(SealedSecrets(database)),
                    clock: clock
                )
            }
        sessions.expiryTime = { retention.now }
        self.sessions = sessions
        devices = try DeviceStore(database, clock: clock)
        pairing = Pairing(
            devices: devices,
            file: PairingCodeFile(in: configuration.dataDirectory),
            clock: clock
        )
        let http = configuration.http
        let most = OpenFileLimit.connections(http.limits.connections)
        let perAddress = http.connectionsPerAddress(of: most)
        events = EventStream(
            run: run,
            listenersPerClient: max(1, perAddress / 2),
            listeners: max(1, most / 2),
            clock: clock
        )
        if let shared { events.share(over: shared.access.changes) }
        connections =
            last?.connections
            ?? OpenConnections(limit: perAddress, exempt: http.trustedProxies, places: most - most / 16)
        // The machine's time: that is what clients judge a certificate by.
        certificate =
            try last?.certificate
            ?? http.certificate.map { try ServedCertificate($0, protocols: ["h2", "http/1.1"], now: Date()) }
        media = try MediaEngine(
            tools: configuration.media.tools,
            limits: configuration.media.limits,
            folder: URL(filePath: try ScratchFolder("work", in: database.directory).path, directoryHint: .isDirectory),
            logger: logger
        )
        abilities = MediaAbilities(media)
        scratch = try ScratchFolder("uploads", in: database.directory)
    }

    /// Returns a new upstream with the configuration of a name, whose changes of reachability are published as events;
    /// nil if it has no address.
    func upstream(_ name: String) -> Upstream? {
        guard let configuration = configuration.upstreams.byName[name],
            let client = transports[configuration.connectTimeout]
        else { return nil }
        let real: any Transport =
            sandbox.map { RefusableTransport(real: client, sandbox: $0.sandbox, port: $0.port) } ?? client
        let transport = fixtures[name].map { FixtureTransport(real: real, fixtures: $0, configuration) } ?? real
        let upstream = Upstream(
            configuration: configuration,
            transport: transport,
            database: database,
            accessRecorder: accessRecorder,
            budget: self.configuration.cacheBudget,
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
