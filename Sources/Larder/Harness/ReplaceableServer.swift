import Database
import HTTPServer
import Hummingbird
import Sandbox
import Screens
import ServiceLifecycle
import Upstream

/// All of a server that a reset makes anew: what is behind its listening socket.
protocol ReplaceableServer: Sendable {
    /// What responds to its requests.
    var responder: RouterResponder<ScreenContext> { get }
    /// Its routes.
    var table: RouteTable { get }
    /// What runs beside.
    var services: [any Service] { get }
    /// The cache of complete responses; nil without one.
    var responseCache: ResponseCache? { get }
    var upstreams: [Upstream] { get }
    var events: EventStream { get }
    /// Fills it with the document of a test.
    var seed: ServerSeed { get }
    var fixtures: FixtureLibrary { get }
    var database: LarderDatabase { get }
    /// The names of the steps that have made its tables.
    var migrationNames: [String] { get }
    /// The folder of its data.
    var directory: DataDirectory { get }

    /// Ends the requests to upstreams that no request waits for.
    func stop()

    /// Ends everything that outlives a request.
    func close() async throws
}
