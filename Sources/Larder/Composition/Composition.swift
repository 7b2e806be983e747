import Disk
import Logging
import Media
import NIOCore
import Notes
import PDF
import Screens
import ServiceLifecycle
import Ships
import Shop
import Storage
import Upstream

/// What the composition root puts apps together from, and what they add to it. Each app has a file of its own:
/// `Composition+Ships.swift`, …
struct Composition {
    /// The tables of all apps and of the kit.
    static let migrations =
        CacheTables.migrations + SessionStore.migrations + DiskApp.migrations + ShipsApp.migrations
        + ShopApp.migrations
        + DocumentStore.migrations + NoteStore.migrations

    let configuration: LarderConfiguration
    let database: LarderDatabase
    /// The way out for each time-out of connections that an upstream has: a client of HTTP has one for all of its
    /// connections.
    let transports: [Duration: HTTPClientTransport]
    let accessRecorder: AccessRecorder
    let sessions: SessionStore
    let events: EventStream
    /// Work on pictures and documents, for every app that has some.
    let media: MediaEngine
    /// Where files are for the length of a request.
    let scratch: ScratchFolder
    let clock: WallClock
    let logger: Logger

    /// All routes so far.
    var table = RouteTable()
    /// The apps as `GET /v1` lists them.
    var apps: [(app: String, title: String)] = []
    /// The upstreams in use so far.
    var upstreams: [Upstream] = []
    /// The files of the Disk app, for apps that take them from there or bring them.
    var diskFiles: Disk.DiskFiles?
    /// What accounts of apps bring along to the mounts of their upstreams, by upstream.
    var mountCredentials: [String: MountRoutes.CredentialProvider] = [:]
    /// What runs beside the server.
    var services: [any Service] = []
    /// What must be there before the server is ready.
    var checks: [HealthRoutes.Check] = []

    /// The upstream of a name, whose changes of reachability everybody hears of; nil where the configuration has none.
    mutating func upstream(_ name: String) -> Upstream? {
        guard let settings = configuration.upstreams[name], let transport = transports[settings.connectTimeout] else {
            return nil
        }
        let upstream = Upstream(
            configuration: settings,
            transport: transport,
            database: database,
            accessRecorder: accessRecorder,
            budget: configuration.cacheBudget,
            clock: clock,
            logger: logger
        )
        let events = self.events
        upstream.onChange { change in
            switch change {
            case .wentDown(let at): events.publish(.connectivity(upstream: name, reachable: false, at: at))
            case .cameBack(let at): events.publish(.connectivity(upstream: name, reachable: true, at: at))
            }
        }
        upstreams.append(upstream)
        return upstream
    }

    /// Upstreams that no app uses: they have a mount and a line in the status.
    mutating func addFurtherUpstreams() {
        for name in configuration.upstreams.keys.sorted()
        where !upstreams.contains(where: { $0.configuration.name == name }) { _ = upstream(name) }
    }
}
