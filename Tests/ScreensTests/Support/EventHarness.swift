import Concurrency
import HTTPTypes
import HummingbirdCore
import NIOCore
import Server
import Testing

@testable import Screens

/// `/v1/events` through the router, with a clock whose sleepers the test wakes.
struct EventHarness {
    /// A heartbeat at the test's command.
    struct Beats {
        let ticks: AsyncStream<Void>
        let tick: AsyncStream<Void>.Continuation

        init() { (ticks, tick) = AsyncStream.makeStream() }

        var clock: WallClock {
            WallClock(
                now: { ten },
                sleep: { [ticks] _ in
                    for await _ in ticks { return }
                    throw CancellationError()
                }
            )
        }
    }

    /// A listener's connection: the written pieces.
    private struct Line: ResponseBodyWriter {
        let pieces: AsyncStream<String>.Continuation
        let hold: @Sendable () async -> Void

        func write(_ buffer: ByteBuffer) async throws {
            pieces.yield(String(buffer: buffer))
            await hold()
        }

        func finish(_ trailingHeaders: HTTPFields?) async throws { pieces.finish() }
    }

    let beats = Beats()
    let events: EventStream
    let harness: ScreenHarness

    /// - Parameters:
    ///   - capacity: Number of events that are kept of one audience.
    ///   - conditions: Returns the events of the present outages.
    init(capacity: Int = 3, conditions: @escaping @Sendable () -> [ServerEvent] = { [] }) throws {
        let events = EventStream(run: "r", capacity: capacity, clock: beats.clock)
        self.events = events
        let apps = ["disk", "shop", "pdf", "ships", "notes"]
        harness = try ScreenHarness {
            EventRoutes(events: events, sessions: $0, apps: apps, conditions: conditions).routes
        }
    }

    func listen(_ fields: HTTPFields = [:], query: String = "", hold: @escaping @Sendable () async -> Void = {})
        async throws -> (
            pieces: AsyncStream<String>, task: Task<Void, any Error>
        )
    {
        let response = try await harness.respond(.get, "/v1/events\(query)", fields)
        #expect(response.status == .ok)
        #expect(response.headers[.contentType] == "text/event-stream; charset=utf-8")
        #expect(
            response.headers[.cacheControl] == "no-store" && response.headers[.contentLength] == nil
                && response.headers[.contentEncoding] == nil
        )
        let (pieces, continuation) = AsyncStream.makeStream(of: String.self)
        return (pieces, Task { try await response.body.write(Line(pieces: continuation, hold: hold)) })
    }

    func publish(_ number: Int, to audience: ServerEvent.Audience = .everyone) {
        events.publish(ServerEvent(kind: "k", data: [("n", .number(number))], audience: audience))
    }

    /// Publishes to an account of the Ships app.
    func publish(_ number: Int, to account: String) {
        publish(number, to: .account(app: "ships", account: account))
    }

    func text(_ number: Int) -> String { "id: r-\(number)\nevent: k\ndata: {\"n\":\(number)}\n\n" }

    /// Opens a session of an account and returns its header field.
    func bearer(_ account: String, of app: String = "ships") async throws -> HTTPFields {
        let session = Session(app: app, kind: .user, account: account, name: nil, createdAt: ten)
        return [.authorization: "Bearer \(try await harness.sessions.open(session))"]
    }

    /// Opens a session of an account and returns its cookie.
    func cookie(_ account: String, of app: String) async throws -> String {
        let session = Session(app: app, kind: .user, account: account, name: nil, createdAt: ten)
        let token = try await harness.sessions.open(session, for: .cookie)
        return "\(harness.sessions.cookies.name(of: app))=\(token)"
    }

    /// The last message of a listener if a session of it has ended.
    static func ended(_ app: String) -> String { "event: session-ended\ndata: {\"app\":\"\(app)\"}\n\n" }
}

extension HTTPFields {
    /// The fields of a browser with cookies.
    static func browser(_ cookies: [String], site: String = "same-origin") -> HTTPFields {
        [.cookie: cookies.joined(separator: "; "), .secFetchSite: site]
    }
}
