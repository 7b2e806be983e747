package import Foundation
import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore
import ServiceLifecycle
import Synchronization

/// Simulated upstreams on one port of 127.0.0.1, each under its own prefix, with faults and a control API under
/// `/_sandbox`.
///
/// Nothing else in the process calls the sandbox directly. A server that uses it gets its base URLs like those of any
/// other upstream.
package final class Sandbox: Service {
    private struct Stage: Sendable {
        let upstreams: SimulatedUpstreams
        /// The port at which connections are refused.
        let refusing: RefusingPort
    }

    private let configuration: SandboxConfiguration
    private let logger: Logger
    private let clock: any Clock<Duration>
    private let harness: (any HarnessedServer)?
    private let listening = Listening()
    private let current = Mutex<Stage?>(nil)
    /// The data with which the simulated upstreams begin, by their names.
    private let initial: [String: Data]

    /// - Parameters:
    ///   - configuration: port and seed.
    ///   - harness: the server that is tested, in the same process; nil if there is none.
    ///   - upstreams: the data with which the simulated upstreams begin, as ``export()`` has returned them.
    ///   - logger: for the sandbox's own messages; requests are in its journal, not in the log.
    ///   - clock: measures the delay of a slow upstream and the patience of a wait.
    package init(
        configuration: SandboxConfiguration,
        harness: (any HarnessedServer)? = nil,
        upstreams: [String: Data] = [:],
        logger: Logger,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        initial = upstreams
        self.harness = harness
        self.configuration = configuration
        self.logger = logger
        self.clock = clock
    }

    /// All controls as a page in Markdown: docs/sandbox-controls.md.
    /// - Throws: ``SandboxError/malformedData(resource:reason:)``.
    package static func controlsPage() throws -> String {
        ControlIndex.markdown(of: try SimulatedUpstreams(seed: SandboxConfiguration().seed))
    }

    /// Serves until the graceful shutdown of its service group, or the cancellation of its task; requests that are held
    /// then end without a response.
    /// - Throws: ``SandboxError`` if it cannot start; `CancellationError`.
    package func run() async throws {
        do {
            guard (0...65_535).contains(configuration.port) else {
                throw SandboxError.cannotListen(port: configuration.port, reason: "a port is 0…65535")
            }
            try await serve(try stage())
            listening.fail(.stopped)
        } catch let error where error is CancellationError || listening.isListening {
            listening.fail(.stopped)
            throw error
        } catch {
            let failure =
                error as? SandboxError ?? .cannotListen(port: configuration.port, reason: Self.reason(error))
            listening.fail(failure)
            throw failure
        }
    }

    /// Makes the upstreams, with the time of the server that is tested if there is one.
    private func stage() throws(SandboxError) -> SimulatedUpstreams {
        let harness = harness
        let now: @Sendable () -> Date = { harness?.now ?? Date() }
        guard configuration.simulatesUpstreams else { return SimulatedUpstreams(now: now) }
        return try SimulatedUpstreams(
            seed: configuration.seed,
            documents: configuration.documents,
            faults: configuration.condition?.upstreams ?? RuleSet(),
            now: now
        )
    }

    /// Resets the simulated upstreams to data that another sandbox of the same kind has saved.
    package func restore(_ saved: SavedUpstreams) { upstreams?.restore(saved) }

    /// Returns the data of the simulated upstreams as files by their names; none while it does not serve.
    /// - Throws: coding errors.
    package func export() throws -> [String: Data] { try upstreams.map { try $0.encode($0.save()) } ?? [:] }

    /// The port at which an upstream refuses connections; nil unless a test has set that fault.
    ///
    /// All upstreams share the sandbox's port, so a single one cannot refuse connections there. The server that is
    /// tested connects to this port instead.
    package func refusal(of upstream: String) -> Int? {
        guard let stage = current.withLock(\.self), let slot = stage.upstreams.slot(named: upstream) else { return nil }
        return slot.gate.fault.refusesConnections ? stage.refusing.number : nil
    }

    /// The upstream with a name that a test has made; nil without one. A later upstream of the same name is another
    /// object.
    package func stub(_ name: String) -> (any AnyObject & Sendable)? {
        upstreams?.stubbed.first { $0.name == name }
    }

    private var upstreams: SimulatedUpstreams? { current.withLock { $0?.upstreams } }

    private func serve(_ stage: SimulatedUpstreams) async throws {
        if !initial.isEmpty { try stage.restore(initial) }
        let refusing = try RefusingPort()
        current.withLock { $0 = Stage(upstreams: stage, refusing: refusing) }
        defer { current.withLock { $0 = nil } }
        let application = Application(
            responder: SandboxResponder(stage: stage, clock: clock, harness: harness),
            server: HTTPServerBuilder { responder in
                let configuration = HTTP1Channel.Configuration(
                    additionalChannelHandlers: [HalfCloseHandler()],
                    // A space may end with the connection that has made it.
                    idleTimeout: .hours(1)
                )
                return LastingHTTP1Channel(HTTP1Channel(responder: responder, configuration: configuration))
            },
            configuration: .init(address: .hostname("127.0.0.1", port: configuration.port)),
            onServerRunning: { [listening] channel in
                guard let port = channel.localAddress?.port else { return listening.fail(.stopped) }
                listening.succeed(port: port)
            },
            logger: logger
        )
        try await withGracefulShutdownHandler {
            try await application.run()
        } onGracefulShutdown: {
            stage.close()
        }
    }

    private static func reason(_ error: any Error) -> String {
        switch (error as? IOError)?.errnoCode {
        case EADDRINUSE: "another program listens there"
        case EACCES, EPERM: "the system does not allow it"
        default: String(describing: error)
        }
    }

    /// The port, as soon as it listens there.
    /// - Throws: ``SandboxError`` if it could not listen or has stopped; `CancellationError`.
    package var port: Int {
        get async throws { try await listening.port }
    }

    /// The base URL of an upstream, without a slash at the end: `http://127.0.0.1:PORT/spacex`.
    /// - Throws: as ``port``.
    package func baseURL(of upstream: String) async throws -> String {
        "http://127.0.0.1:\(try await port)/\(upstream)"
    }
}

/// Settings of the sandbox. The host is always 127.0.0.1.
package struct SandboxConfiguration: Sendable {
    /// 0…65535; 0 takes any free port (``Sandbox/port``).
    package var port: Int
    /// The seed of random values: the same seed gives the same pictures.
    package var seed: UInt64
    /// Whether there are simulated upstreams, or only the controls of the server that is tested.
    package var simulatesUpstreams: Bool
    /// OpenAPI documents of further upstreams in YAML or JSON, by their names.
    package var documents: [String: String]
    /// The condition under which the upstreams start.
    package var condition: HarnessCondition?

    package init(
        port: Int = 0,
        seed: UInt64 = 1,
        simulatesUpstreams: Bool = true,
        documents: [String: String] = [:],
        condition: HarnessCondition? = nil
    ) {
        self.condition = condition
        self.documents = documents
        self.port = port
        self.seed = seed
        self.simulatesUpstreams = simulatesUpstreams
    }
}

/// The upstreams that the sandbox simulates; the raw value is the prefix of their paths.
package enum SandboxUpstream: String, Sendable, CaseIterable {
    /// The SpaceX REST API, ships only (`/v4/ships`).
    case spacex
    /// The Platzi Fake Store API, products and categories (`/products`, `/categories`).
    case catalogue
    /// The people API of the notes app (Mockaroo), and a host of avatars (`/api/{schema}`, `/avatars/{text}.png`).
    case people
    /// A geocoder for places as users type them (Photon, `/api?q=`).
    case geocoder
    /// The Yandex Disk REST API; replaces `https://cloud-api.yandex.net/v1/disk`.
    case yandexDisk = "yandex_disk"
    /// Yandex OAuth; replaces `https://oauth.yandex.ru`.
    case yandexOAuth = "yandex_oauth"
    /// Target of links to the content and the previews of files.
    case yandexDownloader = "yandex_downloader"
    /// Target of links for uploads.
    case yandexUploader = "yandex_uploader"
}

/// Why a sandbox does not run.
package enum SandboxError: Error, Equatable, CustomStringConvertible {
    /// The port is taken or not allowed.
    case cannotListen(port: Int, reason: String)
    /// Data that is built into the module cannot be read.
    case malformedData(resource: String, reason: String)
    /// It ran and has ended.
    case stopped

    /// For a log or a terminal.
    package var description: String {
        switch self {
        case .cannotListen(let port, let reason): "the sandbox cannot listen on 127.0.0.1:\(port): \(reason)"
        case .malformedData(let resource, let reason): "the sandbox's \(resource) cannot be read: \(reason)"
        case .stopped: "the sandbox has stopped"
        }
    }
}
