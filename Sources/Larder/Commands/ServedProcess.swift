import Concurrency
import Dispatch
import Foundation
import Logging
import Metrics
import NIOCore
import Sandbox
import Screens
import Server
import ServiceLifecycle
import Storage
import UnixSignals

/// A server in this process, with its sandbox if it has one, until the process gets a signal to stop.
struct ServedProcess {
    let configuration: LarderConfiguration
    let simulatesUpstreams: Bool
    /// Whether tests control the server from the start.
    let isHarness: Bool
    /// Is called when the server listens, with the addresses and, if the server is under test, the maker of spaces.
    var announced: @Sendable (ServerAddresses, (any HarnessedSpaces)?) -> Void = { addresses, _ in addresses.print() }
    /// Runs beside the server. When it ends, the server stops.
    var companion: (any Service)?
    /// Records the states that clients meet in the server and its spaces; nil if they are not needed.
    var coverage: FrontCoverage?
    /// The archive with the server's first data; nil for none.
    var importPath: String?
    /// The path of the archive that is written when the server stops; nil for none.
    var exportPath: String?

    /// - Throws: The errors of ``LarderServer``.
    func run() async throws {
        StandardStreams.ignoreBrokenPipes()
        try await StartError.reporting { try AccessCheck.check(configuration) }
        let registry = PrometheusRegistry(families: MetricCatalogue.families)
        LarderLogHandler.bootstrap(configuration)
        MetricsSystem.bootstrap(registry)
        // Must be set before any event loop is created.
        NIOSingletons.groupLoopCountSuggestion = ProcessorCount.available
        try await StartError.reporting { try await serve(registry) }
    }

    private func serve(_ metrics: PrometheusRegistry) async throws {
        let logger = Logger(label: "larder")
        let directory = try DataDirectory(at: configuration.dataDirectory)
        let stopTime = configuration.settings[HTTPSettings.stopTimeout]
        let (control, spaces) = try await tested(directory, logger).map { ($0, $1) } ?? (nil, nil)
        let parts = ServerParts(
            configuration,
            in: directory,
            control,
            metrics: metrics,
            announced: { addresses in announced(addresses, spaces) },
            stopping: {
                logger.notice("stopping gracefully: requests under way may finish")
                // Requests are cancelled after their time. This deadline is for requests that ignore the cancellation.
                StopDeadline(timeout: stopTime + .seconds(5), logger: logger).begin()
            },
            logger: logger
        )
        let beside = [spaces as (any Service)?, companion].compactMap { $0 }
        let group = parts.group(
            beside: beside,
            signals: [.sigterm, .sigint],
            stopTime: stopTime,
            logger: logger
        )
        try await Randomness.$current.withValue(control?.harness.randomness) { try await group.run() }
    }

    /// Returns the controls of the server and the maker of spaces if it is under test.
    private func tested(_ directory: DataDirectory, _ logger: Logger) async throws -> (ServerParts.Control, Spaces)? {
        guard simulatesUpstreams || isHarness else {
            guard importPath == nil, exportPath == nil else {
                throw Archive.Refusal(description: "Archives need --sandbox or --harness.")
            }
            return nil
        }
        let archive = try imported(into: directory, logger)
        let pristine = PristineDirectory(migrations: configuration.apps.migrations, logger: logger)
        // Each space has data of its own.
        var ofSpaces = configuration
        ofSpaces.store = nil
        let spaces = Spaces(
            ofSpaces,
            simulatesUpstreams: simulatesUpstreams,
            pristine: pristine,
            coverage: coverage,
            logger: logger
        )
        let harness = Harness(
            clock: VirtualClock(.system, start: configuration.settings[ServerSettings.clockStart]),
            // Seeded tokens can be guessed, so a test must ask for them.
            randomness: isHarness && configuration.settings.isSet(ServerSettings.sandboxSeed)
                ? Randomness(seed: configuration.settings[ServerSettings.sandboxSeed]) : nil,
            pristine: pristine,
            spaces: spaces,
            exportPath: exportPath,
            coverage: coverage
        )
        if let reading = try archive?.reading { harness.clock.restore(reading) }
        if isHarness { harness.activate() }
        spaces.use(harness.snapshots)
        // The configured port, or the one that was used last with this data directory.
        let set = configuration.settings[ServerSettings.sandboxPort]
        let port = set != 0 ? set : await SandboxPort(in: configuration.dataDirectory).last()
        var control = ServerParts.Control(harness: harness, port: port, simulatesUpstreams: simulatesUpstreams)
        control.upstreams = archive?.upstreamFiles ?? [:]
        return (control, spaces)
    }

    /// Fills the data directory from the archive; nil if there is none.
    /// - Throws: ``Archive/Refusal``.
    private func imported(into directory: DataDirectory, _ logger: Logger) throws -> Archive? {
        guard let importPath else { return nil }
        let migrations = configuration.apps.migrations
        let archive = try Archive(at: importPath, migrations: migrations.map(\.name))
        try archive.unpack(into: directory, migrations, logger)
        return archive
    }
}

extension ServedProcess {
    /// Creates a server under test with simulated upstreams, which stops when its work has ended.
    ///
    /// - Parameter work: Is called when the server listens.
    init(
        _ configuration: LarderConfiguration,
        coverage: FrontCoverage? = nil,
        during work: @escaping @Sendable (ServerAddresses, (any HarnessedSpaces)?) async throws -> Void
    ) {
        let companion = WorkBesideServer(work)
        self.init(
            configuration: configuration,
            simulatesUpstreams: true,
            isHarness: true,
            announced: companion.begin,
            companion: companion,
            coverage: coverage
        )
    }
}

/// Runs the work when the server listens.
private final class WorkBesideServer: Service {
    typealias Work = @Sendable (ServerAddresses, (any HarnessedSpaces)?) async throws -> Void

    private let work: Work
    private let (servers, announcing) = AsyncStream.makeStream(of: (ServerAddresses, (any HarnessedSpaces)?).self)

    init(_ work: @escaping Work) { self.work = work }

    @Sendable func begin(_ addresses: ServerAddresses, _ spaces: (any HarnessedSpaces)?) {
        announcing.yield((addresses, spaces))
    }

    func run() async throws {
        var iterator = servers.cancelOnGracefulShutdown().makeAsyncIterator()
        guard let (addresses, spaces) = await iterator.next() else { return }
        try await work(addresses, spaces)
    }
}

/// Ends a process that does not stop in time, because a task that ignores its cancellation would keep the process
/// running. Acknowledged writes are on disk by then.
struct StopDeadline: Sendable {
    /// How long the process may continue after the signal to stop.
    let timeout: Duration
    let logger: Logger
    var end: @Sendable () -> Void = { _exit(EXIT_FAILURE) }

    /// Starts the timer.
    func begin() {
        // Uses a dispatch queue, because the tasks of Swift's pool may be blocked.
        let milliseconds = Int(timeout / .milliseconds(1))
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) {
            logger.error("work under way does not end: the process ends without it")
            end()
        }
    }
}
