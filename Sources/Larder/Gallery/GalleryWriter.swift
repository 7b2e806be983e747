import Concurrency
import Foundation
import HTTPTypes
import JSONValues
import Sandbox
import ServiceLifecycle
import Synchronization
import Upstream

/// The writing of a gallery beside a server, which ends with it.
final class GalleryRun: Sendable {
    private let screens: [GalleryScreen]
    private let states: [GalleryState]
    private let folder: URL
    private let browser: Chromium?
    private let done = Mutex<GalleryIndex?>(nil)

    /// - Parameter browser: Takes pictures; nil for none.
    init(screens: [GalleryScreen], states: [GalleryState], folder: URL, browser: Chromium?) {
        (self.screens, self.states, self.folder, self.browser) = (screens, states, folder, browser)
    }

    /// The written gallery; nil before.
    var index: GalleryIndex? { done.withLock(\.self) }

    @Sendable func run(_ addresses: ServerAddresses, _ spaces: (any HarnessedSpaces)?) async throws {
        guard let sandbox = addresses.sandbox, let spaces else { return }
        do {
            let written = try await HTTPClientTransport.during { transport in
                let writer = GalleryWriter(
                    screens: screens,
                    states: states,
                    folder: folder,
                    browser: browser,
                    transport: transport
                )
                return try await cancelWhenGracefulShutdown {
                    try await writer.write(addresses.server, sandbox: sandbox, in: spaces)
                }
            }
            done.withLock { $0 = written }
        } catch {
            // There is no index then, and the command fails for that.
            if !Task.isShuttingDownGracefully { throw error }
        }
    }
}

/// Writes the files of a gallery.
///
/// The server itself is filled, and saved before and after that; each state is a space that begins with one of the two.
struct GalleryWriter: Sendable {
    private static let tokens = ["ships": "gallery-ships", "notes": "gallery-notes", "disk": "gallery-disk"]
    /// The sessions of all apps, of which an account of the notes.
    private static let accounts: JSONValue = [
        "accounts": [
            ["app": "ships", "token": "gallery-ships"],
            ["app": "notes", "name": "anna", "token": "gallery-notes"],
            ["app": "disk", "access_token": "sandbox-token", "token": "gallery-disk"],
        ]
    ]
    private static let data: JSONValue = [
        "notes": [
            ["account": "anna", "body": "Milk\nand bread"],
            [
                "account": "anna", "body": "Museum on Sunday",
                "location": ["lat": .number("48.13"), "lon": .number("11.58"), "name": "Munich"],
            ],
        ],
        "list": [["product_id": 1], ["product_id": 5, "quantity": 2]],
        "documents": [["name": "Letter", "text": "Dear Anna,\nthank you."]],
    ]
    /// Longer than every freshness time of a screen's data.
    private static let age: JSONValue = 3_601
    private static let browsers = 2

    let screens: [GalleryScreen]
    let states: [GalleryState]
    let folder: URL
    let browser: Chromium?
    let transport: any Transport
    let browsing = AsyncSemaphore(permits: GalleryWriter.browsers, maximumWaiting: .max)

    func write(_ url: String, sandbox: String, in spaces: any HarnessedSpaces) async throws -> GalleryIndex {
        let server = ScenarioRun(server: url, sandbox: sandbox, transport: transport)
        let index = try await show(try await fill(server, url), in: spaces)
        try Data(index.html.utf8).write(to: folder.appending(path: "index.html"))
        return index
    }

    /// Fills the server, with one snapshot before and one after.
    ///
    /// - Returns: The address of each screen.
    private func fill(_ server: ScenarioRun, _ url: String) async throws -> [(screen: GalleryScreen, target: String)] {
        try await server.control(.init(method: .put, target: "/_harness/seed", body: Self.accounts))
        try await server.control(.init(method: .put, target: "/_harness/snapshots/new"))
        try await server.control(.init(method: .put, target: "/_harness/seed", body: Self.data))
        var targets: [String: String] = [:]
        var queue = screens.filter(\.parameters.isEmpty).map(\.path)
        while !queue.isEmpty {
            let target = queue.removeFirst()
            guard let screen = screens.screen(of: target), targets[screen.name] == nil else { continue }
            let response = try await read(target, of: url)
            guard response.status == 200 else { continue }
            targets[screen.name] = target
            queue += JSONValue(json: response.body)?.links ?? []
        }
        for screen in screens where targets[screen.name] == nil {
            targets[screen.name] = screen.example
            _ = try await read(screen.example, of: url)
        }
        try await server.control(.init(method: .put, target: "/_harness/snapshots/fresh"))
        return screens.compactMap { screen in targets[screen.name].map { (screen, $0) } }
    }

    /// - Throws: `CancellationError`: a response of a cancelled exchange is no state of a screen.
    private func read(_ target: String, of url: String) async throws -> ScenarioResponse {
        var fields = HTTPFields()
        let app = target.split { "/?".contains($0) }.dropFirst().first.map(String.init) ?? ""
        fields[.acceptLanguage] = "en"
        fields[.authorization] = Self.tokens[app].map { "Bearer \($0)" }
        try Task.checkCancellation()
        let request = OutgoingRequest(url: url + target, headerFields: fields)
        let response = await ScenarioRun.exchange(request, transport)
        try Task.checkCancellation()
        return response
    }
}

// MARK: States

extension GalleryWriter {
    /// Writes all states, each in a space of its own.
    private func show(_ targets: [(screen: GalleryScreen, target: String)], in spaces: any HarnessedSpaces) async throws
        -> GalleryIndex
    {
        try await withThrowingTaskGroup(of: [GalleryIndex.Cell].self) { group in
            for state in states { group.addTask { try await self.show(targets, in: state, spaces) } }
            let cells: [GalleryIndex.Cell] = try await group.reduce(into: []) { $0 += $1 }
            return GalleryIndex(rows: targets, states: states.map(\.name), cells: cells, hasBrowser: browser != nil)
        }
    }

    private func show(
        _ targets: [(screen: GalleryScreen, target: String)],
        in state: GalleryState,
        _ spaces: any HarnessedSpaces
    ) async throws -> [GalleryIndex.Cell] {
        try Task.checkCancellation()
        var order = SpaceOrder()
        order.idle = nil
        order.snapshot = state.isFilled ? "fresh" : "new"
        order.condition = state.condition
        order.sessions = Self.tokens
        let made = try await spaces.make(order)
        let space = ScenarioRun(server: made.url, sandbox: made.sandbox, transport: transport)
        if state.isFilled, state.condition != nil {
            try await space.control(.init(method: .post, target: "/_harness/clock/advance", body: ["s": Self.age]))
        }
        var cells: [GalleryIndex.Cell] = []
        for (screen, target) in targets {
            let response = try await read(target, of: made.url)
            try write(response, to: target, as: state.name, of: screen)
            let met = FrontCoverage.Met(
                route: screen.name,
                status: response.status,
                state: FrontCoverage.state(of: response.headers, response.body)
            )
            cells.append(GalleryIndex.Cell(state: state.name, met: met))
        }
        if let browser {
            // The script that takes a picture waits until nothing is under way.
            let fault: JSONValue = ["route": "GET /v1/events", "fault": "error(503)"]
            try await space.control(.init(method: .put, target: "/_harness/front/fault", body: fault))
            for (index, row) in targets.enumerated() {
                try Task.checkCancellation()
                guard let page = row.screen.page(of: row.target) else { continue }
                let file = folder.appending(path: "\(GalleryIndex.fileName(row.screen.name))/\(state.name).png")
                cells[index].hasPicture = try await browsing.withPermit {
                    try await browser.picture(of: made.url + page, at: file)
                }
            }
        }
        _ = await spaces.end(made.name)
        return cells
    }

    private func write(_ response: ScenarioResponse, to target: String, as state: String, of screen: GalleryScreen)
        throws
    {
        let directory = folder.appending(path: GalleryIndex.fileName(screen.name), directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let fields = ["Cache-Status", "Content-Type", "Retry-After"].map { name in
            (name, HTTPField.Name(name).flatMap { response.headers[$0] }.map { JSONValue.string($0) })
        }
        let shown = JSONValue.object(
            JSONObject([
                ("url", .string(target)), ("status", .integer(response.status)),
                ("headers", .object(JSONObject(fields))),
                ("body", JSONValue(json: response.body) ?? .string(response.excerpt)),
            ])
        )
        let text = JSONText.indented(shown.serialized()) + [UInt8(ascii: "\n")]
        try Data(text).write(to: directory.appending(path: "\(state).json"))
    }
}
