import Hummingbird
import Logging
import Sandbox
import Screens
import Server
import ServiceLifecycle
import Storage
import Upstream

/// The services that run beside the server until a reset replaces them.
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
    /// - Throws: The error of the first service that fails.
    func run() async throws {
        defer { ending.finish() }
        try await group.run()
    }

    /// Ends the wait of ``retire()`` for services that will never run.
    func abandon() { ending.finish() }

    /// Ends the services in order, and returns after they have ended. The services must run, or ``abandon()`` must have
    /// been called.
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

/// Describes a service by the name of its type. The lifecycle describes every service at its start; the default
/// description contains all stored properties, takes milliseconds, and would write settings into the log.
struct NamedService: Service, CustomStringConvertible {
    private let service: any Service
    let description: String

    init(_ service: any Service) {
        self.service = service
        description = "\(type(of: service))"
    }

    func run() async throws { try await service.run() }
}

/// The part of a server without its listening socket. A reset makes a new one.
protocol ReplaceableServer: Sendable {
    var responder: RouterResponder<ScreenContext> { get }
    var table: RouteTable { get }
    var services: [any Service] { get }
    /// The cache of complete responses; nil without one.
    var responseCache: ResponseCache? { get }
    var upstreams: [Upstream] { get }
    var events: EventStream { get }
    /// Fills the server with the document of a test.
    var seed: ServerSeed { get }
    var fixtures: FixtureLibrary { get }
    var database: LarderDatabase { get }
    /// The names of the steps that have made its tables.
    var migrationNames: [String] { get }
    var directory: DataDirectory { get }

    /// Ends the requests to upstreams for which no client waits.
    func stop()

    /// Ends everything that outlives a request.
    func close() async throws
}
