import Concurrency
import Foundation
import Logging
import Sandbox
import Screens
import Server
import ServiceLifecycle
import Storage

/// A server in this process with its own ports, data, simulated upstreams and clock.
final class Space: Sendable {
    /// How long running requests may take at its end.
    static let stopTime: Duration = .seconds(2)

    let name: String
    let order: SpaceOrder
    let seed: UInt64
    let harness: Harness
    let sandbox: Sandbox?
    private let directory: DataDirectory
    private let group: ServiceGroup
    private let metrics: PrometheusRegistry
    private let (addresses, announcing) = AsyncStream.makeStream(of: ServerAddresses.self)
    private let (ends, ending) = AsyncStream.makeStream(of: Void.self)

    /// Makes the folder of a space, and wires its server.
    ///
    /// - Throws: `StorageError`; file errors.
    init(
        _ order: SpaceOrder,
        name: String,
        in folder: URL,
        _ common: LarderConfiguration,
        simulatesUpstreams: Bool,
        pristine: PristineDirectory,
        coverage: FrontCoverage?,
        logger: Logger
    ) throws {
        (self.name, self.order) = (name, order)
        var configuration = common
        configuration.dataDirectory = folder
        configuration.listenOnLoopback()
        configuration.isDurable = false
        configuration.isSpace = true
        seed = order.seed ?? common.settings[ServerSettings.sandboxSeed]
        configuration.settings[ServerSettings.sandboxSeed] = seed
        let start = order.now ?? common.settings[ServerSettings.clockStart]
        let clock = VirtualClock(.system, start: start, isFrozen: order.isFrozen)
        let isSeeded = order.seed != nil || common.settings.isSet(ServerSettings.sandboxSeed)
        let harness = Harness(
            clock: clock,
            randomness: isSeeded ? Randomness(seed: seed) : nil,
            pristine: pristine,
            condition: order.condition,
            coverage: coverage,
            sessions: order.sessions
        )
        harness.activate()
        harness.noteUse()
        self.harness = harness
        directory = try DataDirectory(at: folder)
        try directory.replaceAll(by: pristine)
        metrics = PrometheusRegistry(families: MetricCatalogue.families)
        var logger = logger
        logger[metadataKey: "space"] = "\(name)"
        let parts = ServerParts(
            configuration,
            in: directory,
            isPrepared: true,
            .init(harness: harness, port: 0, simulatesUpstreams: simulatesUpstreams, condition: order.condition),
            metrics: metrics,
            announced: { [announcing] in announcing.yield($0) },
            stopping: {},
            logger: logger
        )
        sandbox = parts.sandbox
        group = parts.group(stopTime: Self.stopTime, logger: logger)
    }

    /// Returns its addresses when it listens; nil if it has ended before. Must be called once.
    func listening() async -> ServerAddresses? {
        for await addresses in addresses { return addresses }
        return nil
    }

    func end() { ending.finish() }

    /// Serves until the space is ended or was not used for its idle time, then removes its files.
    ///
    /// - Throws: the errors of ``LarderServer``; file errors.
    func run() async throws {
        defer { announcing.finish() }
        let served = await PrometheusRegistry.$current.withValue(metrics) {
            await Randomness.$current.withValue(harness.randomness) { await serve() }
        }
        try directory.remove()
        try served.get()
    }

    private func serve() async -> Result<Void, any Error> {
        await withTaskGroup { tasks in
            tasks.addTask { await self.watch() }
            tasks.addTask {
                for await _ in self.ends {}
                // If the task is cancelled, the space has ended by itself.
                if !Task.isCancelled { await self.group.triggerGracefulShutdown() }
            }
            defer { tasks.cancelAll() }
            do {
                return .success(try await group.run())
            } catch {
                return .failure(error)
            }
        }
    }

    /// Ends the space after its idle time without use.
    private func watch() async {
        let clock = harness.clock.real
        while let idle = order.idle {
            let unused = harness.unusedSince.map { clock.now().timeIntervalSince($0) } ?? 0
            let rest = idle - .seconds(unused)
            guard rest > .zero else { return end() }
            do { try await clock.sleep(rest) } catch { return }
        }
    }
}

/// The folders of spaces in the system's temporary folder. Each is locked while its space exists.
enum SpaceFolder {
    private static let prefix = "larder-space-"

    static func new() -> URL {
        FileManager.default.temporaryDirectory.appending(
            path: "\(prefix)\(UUID().uuidString)",
            directoryHint: .isDirectory
        )
    }

    /// Removes the folders of processes that were killed: those that belong to this user and are not locked.
    static func removeLeftovers(_ logger: Logger) {
        let base = FileManager.default.temporaryDirectory
        do {
            for name in try FileManager.default.contentsOfDirectory(atPath: base.path) where name.hasPrefix(prefix) {
                let url = base.appending(path: name, directoryHint: .isDirectory)
                guard try isOwnFolder(url.path) else { continue }
                try remove(url)
            }
        } catch {
            logger.warning("folders of ended spaces could not be removed", metadata: ["error": "\(error)"])
        }
    }

    private static func remove(_ url: URL) throws {
        do {
            let directory = try DataDirectory(at: url)
            try directory.remove()
        } catch StorageError.directoryInUse {
            // The space exists.
        }
    }

    /// Whether a path is a folder of this user, and not a link to one.
    private static func isOwnFolder(_ path: String) throws -> Bool {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        let owner = (attributes[.ownerAccountID] as? NSNumber)?.uint32Value
        return attributes[.type] as? FileAttributeType == .typeDirectory && owner == geteuid()
    }
}
