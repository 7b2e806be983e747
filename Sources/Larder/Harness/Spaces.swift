import Foundation
import Logging
import Sandbox
import ServiceLifecycle
import Synchronization

/// The spaces of this process: servers for tests that run at the same time and do not influence each other.
final class Spaces: HarnessedSpaces, Service {
    /// Largest number of spaces.
    static let limit = 64

    private struct State {
        /// All spaces in the order of their creation. The description is nil while a space is being made.
        var entries: [(name: String, description: SpaceDescription?, space: Space?)] = []
        var lastNumber = 0
        /// Tasks that wait for the end of a space.
        var waiting: [String: [CheckedContinuation<Void, Never>]] = [:]
        /// The snapshots with which a space can start.
        var snapshots: Snapshots?
    }

    private let configuration: LarderConfiguration
    private let simulatesUpstreams: Bool
    private let pristine: PristineDirectory
    private let coverage: FrontCoverage?
    private let logger: Logger
    private let state = Mutex(State())
    private let (made, starting) = AsyncStream.makeStream(of: Space.self)

    /// - Parameters:
    ///   - configuration: That of the process. Spaces differ from it only in address, data and seed.
    ///   - simulatesUpstreams: Whether they have simulated upstreams.
    ///   - pristine: The contents of new data directories.
    ///   - coverage: Records the states that clients meet; nil if they are not needed.
    init(
        _ configuration: LarderConfiguration,
        simulatesUpstreams: Bool,
        pristine: PristineDirectory,
        coverage: FrontCoverage? = nil,
        logger: Logger
    ) {
        self.coverage = coverage
        self.configuration = configuration
        self.simulatesUpstreams = simulatesUpstreams
        self.pristine = pristine
        self.logger = logger
    }

    /// Sets the snapshots with which spaces can start.
    func use(_ snapshots: Snapshots) { state.withLock { $0.snapshots = snapshots } }

    /// Runs the spaces until the process stops.
    func run() async throws {
        await withDiscardingTaskGroup { group in
            group.addTask { SpaceFolder.removeLeftovers(self.logger) }
            for await space in made.cancelOnGracefulShutdown() {
                group.addTask { await self.run(space) }
            }
            for space in self.state.withLock({ $0.entries.compactMap(\.space) }) { space.end() }
        }
    }

    private func run(_ space: Space) async {
        do {
            try await space.run()
        } catch {
            logger.error("a space has ended by an error", metadata: ["space": "\(space.name)", "error": "\(error)"])
        }
        remove(space.name)
    }

    private func remove(_ name: String) {
        let waiting = state.withLock { state in
            state.entries.removeAll { $0.name == name }
            return state.waiting.removeValue(forKey: name) ?? []
        }
        for waiter in waiting { waiter.resume() }
    }
}

// The calls.
extension Spaces {
    var all: [SpaceDescription] { state.withLock { $0.entries.compactMap(\.description) } }

    func make(_ order: SpaceOrder) async throws -> SpaceDescription {
        if let name = order.snapshot {
            let known = state.withLock { $0.snapshots }?.names ?? []
            guard known.contains(name) else { throw SpaceRefusal.unknownSnapshot(name, known: known) }
        }
        let name = try reserve(order.name)
        let space: Space
        do {
            space = try Space(
                order,
                name: name,
                in: SpaceFolder.new(),
                configuration,
                simulatesUpstreams: simulatesUpstreams,
                pristine: pristine,
                coverage: coverage,
                logger: logger
            )
        } catch {
            remove(name)
            throw SpaceRefusal.failed("\(error)")
        }
        return try await start(space)
    }

    private func start(_ space: Space) async throws -> SpaceDescription {
        change(space.name) { $0.space = space }
        guard case .enqueued = starting.yield(space) else {
            remove(space.name)
            throw SpaceRefusal.failed("the process stops")
        }
        space.order.onDisconnect? { space.end() }
        guard let addresses = await space.listening(), let sandbox = addresses.sandbox else {
            throw SpaceRefusal.failed("it has ended; the log says why")
        }
        try await fill(space)
        let description = SpaceDescription(
            name: space.name,
            url: addresses.server,
            sandbox: sandbox,
            seed: space.seed,
            idle: space.order.idle,
            endsWithConnection: space.order.onDisconnect != nil
        )
        change(space.name) { $0.description = description }
        return description
    }

    private func fill(_ space: Space) async throws {
        guard let name = space.order.snapshot, let sandbox = space.sandbox else { return }
        do {
            try await state.withLock { $0.snapshots }?.fill(space.harness, sandbox, from: name)
        } catch {
            _ = await end(space.name)
            throw SpaceRefusal.failed("\(error)")
        }
    }

    func end(_ name: String) async -> Bool {
        let space = state.withLock { $0.entries.first { $0.name == name }?.space }
        guard let space else { return false }
        space.end()
        await withCheckedContinuation { waiter in
            let isThere = state.withLock { state in
                let isThere = state.entries.contains { $0.space === space }
                if isThere { state.waiting[name, default: []].append(waiter) }
                return isThere
            }
            if !isThere { waiter.resume() }
        }
        return true
    }

    /// Reserves a name for a space that is being made.
    private func reserve(_ wanted: String?) throws(SpaceRefusal) -> String {
        try state.withLock { state throws(SpaceRefusal) in
            if let wanted, state.entries.contains(where: { $0.name == wanted }) { throw .taken(wanted) }
            guard state.entries.count < Self.limit else { throw .full(limit: Self.limit) }
            var name = wanted
            while name == nil {
                state.lastNumber += 1
                let next = "space-\(state.lastNumber)"
                if !state.entries.contains(where: { $0.name == next }) { name = next }
            }
            state.entries.append((name ?? "", nil, nil))
            return name ?? ""
        }
    }

    private func change(
        _ name: String,
        _ change: (inout (name: String, description: SpaceDescription?, space: Space?)) -> Void
    ) {
        state.withLock { state in
            guard let index = state.entries.firstIndex(where: { $0.name == name }) else { return }
            change(&state.entries[index])
        }
    }
}
