import Logging
import ServiceLifecycle

/// What runs beside the server until a reset replaces it.
final class ServiceGeneration: Sendable {
    private let group: ServiceGroup
    private let (end, ending) = AsyncStream.makeStream(of: Void.self)

    init(_ services: [any Service]) {
        group = ServiceGroup(
            configuration: .init(
                services: services.map { .init(service: NamedService($0)) },
                logger: Logger(label: "larder.services")
            )
        )
    }

    /// Runs the services until they are retired or the server stops.
    ///
    /// - Throws: What the first of them throws that fails.
    func run() async throws {
        defer { ending.finish() }
        try await group.run()
    }

    /// Has ``retire()`` wait no longer for services that will never run.
    func abandon() { ending.finish() }

    /// Ends the services in order, and returns once they have ended. They run, or were abandoned.
    func retire() async {
        await group.triggerGracefulShutdown()
        for await _ in end {}
    }
}

/// Runs the generations of services, one after the other.
struct HarnessService: Service {
    let harness: Harness

    func run() async throws {
        for await generation in harness.generations.cancelOnGracefulShutdown() {
            try await generation.run()
        }
    }
}
