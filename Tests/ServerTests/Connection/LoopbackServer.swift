import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import TestKit

@testable import Server

/// A small Hummingbird application behind ``LarderHTTPChannel`` on a free loopback port.
struct LoopbackServer: Sendable {
    let port: Int
    let gate: Gate
    let refusals: AsyncStream<ConnectionRefusal>
    let cuts: AsyncStream<AbruptClose>
    /// Clients that have left while `/present` waited.
    let departures: AsyncStream<Void>
    private let services: ServiceGroup

    /// Asks the server to stop as SIGTERM would.
    func stop() async { await services.triggerGracefulShutdown() }

    /// Runs the server around `body`, then stops it and waits for it.
    static func run<Result: Sendable>(
        _ limits: ConnectionLimits = .standard,
        connections: OpenConnections = OpenConnections(limit: .max, exempt: .none),
        tls: TLSOptions? = nil,
        _ body: @escaping @Sendable (LoopbackServer) async throws -> Result
    ) async throws -> Result {
        let gate = Gate()
        let (ports, portSource) = AsyncStream.makeStream(of: Int.self)
        let (refusals, refusalSource) = AsyncStream.makeStream(of: ConnectionRefusal.self)
        let (cuts, cutSource) = AsyncStream.makeStream(of: AbruptClose.self)
        let (departures, departureSource) = AsyncStream.makeStream(of: Void.self)
        let application = Application(
            router: routes(gate, departureSource),
            server: HTTPServerBuilder { responder in
                LarderHTTPChannel(
                    responder: responder,
                    limits: limits,
                    problem: { refusal, head in refusal.testContent(head) },
                    onRefusal: { refusalSource.yield($0) },
                    onAbruptClose: { cutSource.yield($0) },
                    connections: connections,
                    tls: tls
                )
            },
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { portSource.yield($0.localAddress?.port ?? 0) },
            // One event loop, so that an event of several connections at once, such as a stop, has reached all of them
            // before any of them continues.
            eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton.any()),
            logger: .quiet
        )
        let services = ServiceGroup(configuration: .init(services: [application], logger: .quiet))
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await services.run() }
            var iterator = ports.makeAsyncIterator()
            let port = await iterator.next() ?? 0
            let server = LoopbackServer(
                port: port,
                gate: gate,
                refusals: refusals,
                cuts: cuts,
                departures: departures,
                services: services
            )
            let result = try await body(server)
            await services.triggerGracefulShutdown()
            try await group.waitForAll()
            return result
        }
    }

    private static func routes(_ gate: Gate, _ departures: AsyncStream<Void>.Continuation) -> Router<
        BasicRequestContext
    > {
        let router = Router()
        router.get("hello") { _, _ in "hello" }
        router.post("echo") { request, _ in
            Response(status: .ok, body: ResponseBody(asyncSequence: request.body))
        }
        router.post("collect") { request, _ in
            var request = request
            return String(buffer: try await request.collectBody(upTo: 1 << 20))
        }
        router.post("refuse") { _, _ in HTTPResponse.Status.unauthorized }
        router.post("early") { request, _ in
            await beginReading(request.body)
            return "early"
        }
        router.get("wait") { _, _ in
            await gate.pass()
            return "waited"
        }
        router.on("present", method: .post) { request, _ in
            var request = request
            _ = try await request.collectBody(upTo: 1 << 20)
            return try await wait(at: gate, departures)
        }
        router.get("endless") { _, _ in
            Response(
                status: .ok,
                body: ResponseBody { writer in
                    let piece = ByteBuffer(repeating: UInt8(ascii: "x"), count: 64 * 1024)
                    while true { try await writer.write(piece) }
                }
            )
        }
        return router
    }

    /// Returns once the first part of a body has arrived; like a client of an upstream that responds before it has
    /// taken the whole upload, goes on reading.
    private static func beginReading(_ body: RequestBody) async {
        let (parts, source) = AsyncStream.makeStream(of: Int.self)
        Task {
            do {
                for try await part in body { source.yield(part.readableBytes) }
            } catch {
                // The response has ended: no one wants the rest.
            }
        }
        for await _ in parts { break }
    }

    /// Waits at the gate while the client is present.
    private static func wait(at gate: Gate, _ departures: AsyncStream<Void>.Continuation) async throws -> String {
        guard let presence = ResponseAnnotations.ofConnection?.presence else { return "nothing is known" }
        do {
            try await presence.whilePresent { try await gate.passUnlessCancelled() }
            return "stayed"
        } catch {
            departures.yield()
            throw error
        }
    }
}
