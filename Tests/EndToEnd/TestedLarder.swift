import Foundation
import TestKit
import Testing

/// A server with its sandbox, and the controls of both.
struct TestedLarder {
    let larder: RunningLarder
    let sandbox: RunningSandbox
    let harness: Client

    var client: Client { larder.client }

    static func start(
        _ settings: [String] = [],
        data: TemporaryFolder? = nil,
        environment: [String: String] = [:]
    ) async throws -> TestedLarder {
        // A held request waits for its release. On a slow machine, the usual limits would end it before.
        let patient = ["total-timeout", "patience"].flatMap { ["--upstreams-spacex-\($0)-ms", "600000"] }
        let own = ["--sandbox", "--notes-scrypt-logarithm", "10"] + patient
        let larder = try await RunningLarder.start(data: data, own + settings, environment: environment)
        let base = try await larder.process.line(after: "sandbox on ").replacing("/_sandbox", with: "")
        return TestedLarder(
            larder: larder,
            sandbox: RunningSandbox(base: base),
            harness: Client(base: "\(base)/_harness")
        )
    }

    func space(_ order: String = "{}") async throws -> TestedSpace {
        let response = try await harness.post("/spaces", order)
        try #require(response.status == 201, "\(response.text)")
        return try TestedSpace(response.json)
    }

    func reset() async throws {
        let response = try await harness.send("POST", "/reset")
        try #require(response.status == 204, "\(response.text)")
    }

    func freeze(at time: String = "2030-01-05T10:00:00Z") async throws {
        let response = try await harness.put("/clock", #"{"now":"\#(time)","frozen":true}"#)
        try #require(response.status == 200, "\(response.text)")
    }

    /// Waits until this many requests of clients wait for an upstream.
    func waiting(_ count: Int) async throws {
        let response = try await harness.get("/journal/wait?waiting=true&count=\(count)&timeout_ms=60000")
        try #require(response.status == 200, "\(response.text)")
    }

    func advance(_ seconds: Int) async throws {
        let response = try await harness.post("/clock/advance", #"{"s":\#(seconds)}"#)
        try #require(response.status == 200, "\(response.text)")
    }

    /// Returns the screens of a new client, at one time of the clock.
    func screens() async throws -> [String] {
        try await freeze()
        let (guest, member) = (try await larder.guest(), try await client.writer())
        let seen = [
            try await Self.seen(
                by: client,
                [
                    "ships/launch", "shop/launch", "pdf/launch", "disk/launch", "shop/list", "shop/history",
                    "shop/search", "pdf/documents", "pdf/welcome", "disk/onboarding", "status",
                ]
            ),
            try await Self.seen(by: guest, ["ships", "ships?refresh=1"]),
            try await Self.seen(by: member, ["notes", "notes/trash", "notes/map"]),
        ]
        return seen.flatMap { $0 }
    }

    private static func seen(by client: Client, _ paths: [String]) async throws -> [String] {
        var seen: [String] = []
        for path in paths {
            let response = try await client.get("/v1/\(path)")
            let fields = ["cache-status", "age"].map { "\($0): \(response[$0] ?? "")" }
            // The time of the machine at which this state began is another one each time.
            let text = response.text.replacing(#/"started_at":"[^"]*"/#, with: "")
            seen.append("\(path) \(response.status) \(fields) \(text)")
        }
        return seen
    }
}

/// A space of a server under test.
struct TestedSpace {
    let name: String
    let client: Client
    let sandbox: RunningSandbox
    let harness: Client

    /// - Parameter made: As the calls show it.
    init(_ made: JSON) throws {
        name = try #require(made.name.string)
        client = Client(base: try #require(made.url.string))
        sandbox = RunningSandbox(base: try #require(made.sandbox.string))
        harness = Client(base: "\(sandbox.base)/_harness")
    }
}

extension Client {
    /// Returns the response of any server that listens at this port; nil, at once, if none does.
    ///
    /// Another test's server may have got the port of a server that has ended, so a connection alone proves nothing.
    /// The HTTP client would keep trying to connect to a port where no server listens.
    func responseOfAny(_ path: String) async -> ReceivedResponse? {
        guard (try? await RawClient.connect(port: port, { _ in })) != nil else { return nil }
        return try? await get(path)
    }

    /// The time at which the server that responds here was started, which tells servers apart; nil if none responds.
    func startOfServer() async -> String? { try? await responseOfAny("/v1/status")?.json.data.started_at.string }
}
