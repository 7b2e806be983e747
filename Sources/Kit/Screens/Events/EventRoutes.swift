import HTTPSemantics
import HTTPTypes
import HummingbirdCore
import NIOCore
import ServiceLifecycle

/// `GET /v1/events`: server-sent events (HTML Living Standard §9.2) with identities, heartbeats and replay from
/// `Last-Event-ID`.
public struct EventRoutes: Sendable {
    private let events: EventStream
    private let sessions: SessionStore

    /// The route over a stream. A session of any app adds the events of its account, and the stream ends with it.
    public init(events: EventStream, sessions: SessionStore) {
        self.events = events
        self.sessions = sessions
        sessions.onEnd { events.sessionEnded() }
    }

    /// The table.
    public var routes: [Route] {
        [Route(.get, "/v1/events", "events", listen)]
    }

    @Sendable private func listen(_ request: ScreenRequest) async throws -> ScreenResponse {
        let audience = try sessions.audience(of: request.credential)
        let lastEventID = try request.headerFields[.lastEventID] ?? request.query.string("last_event_id")
        let events = self.events
        let body = ResponseBody { writer in
            let subscription = events.subscribe(lastEventID: lastEventID)
            defer { events.unsubscribe(subscription.number) }
            guard try audience.isOpen() else { return try await writer.finish(nil) }
            let missed = subscription.missed.filter { audience.hears($0.event) }
            try await writer.write(ByteBuffer(string: ServerSentEvents.opening(subscription, replays: !missed.isEmpty)))
            for (identity, event) in missed {
                try await writer.write(ByteBuffer(string: ServerSentEvents.text(identity: identity, event)))
            }
            try await withTaskCancellationOrGracefulShutdownHandler {
                for await message in subscription.messages {
                    // What is said to everybody needs no session, and is said thousands of times; the others are few.
                    guard try message.isForEverybody || audience.isOpen() else { break }
                    switch message {
                    case .heartbeat: try await writer.write(ByteBuffer(string: ": heartbeat\n\n"))
                    case .event(let identity, let event) where audience.hears(event):
                        try await writer.write(ByteBuffer(string: ServerSentEvents.text(identity: identity, event)))
                    case .event, .sessionEnded: break
                    }
                }
            } onCancelOrGracefulShutdown: {
                events.unsubscribe(subscription.number)
            }
            try await writer.finish(nil)
        }
        let fields: HTTPFields = [.cacheControl: "no-store", .vary: "Authorization"]
        return ScreenResponse(headerFields: fields, body: .stream(type: MediaType.events, body), hasValidator: false)
    }
}

/// Whose events a listener hears.
struct EventAudience: Sendable {
    let session: Session?
    /// Looks whether the session is still open: a stream may last for days. True without one.
    let isOpen: @Sendable () throws -> Bool

    func hears(_ event: ServerEvent) -> Bool {
        switch event.audience {
        case .everyone: true
        case .account(let app, let account): session?.app == app && session?.account == account
        }
    }
}

extension EventStream.Message {
    /// It goes out whatever became of the listener's session.
    fileprivate var isForEverybody: Bool {
        if case .event(_, let event) = self { event.audience == .everyone } else { false }
    }
}

/// The text of server-sent events.
enum ServerSentEvents {
    /// How soon a client that lost the connection comes back, and where it stands. A `reset` says that events were lost
    /// to it.
    static func opening(_ subscription: EventStream.Subscription, replays: Bool) -> String {
        var text = "retry: 2000\n"
        if subscription.isReset {
            text +=
                "id: \(subscription.identity)\nevent: reset\ndata: {\"reason\":\"the events since Last-Event-ID are not kept any more\"}\n"
        } else if !replays {
            text += "id: \(subscription.identity)\n"
        }
        return text + "\n"
    }

    static func text(identity: String, _ event: ServerEvent) -> String {
        "id: \(identity)\nevent: \(event.kind)\ndata: \(event.json)\n\n"
    }
}

extension HTTPField.Name {
    /// `Last-Event-ID`, HTML Living Standard §9.2.4.
    static let lastEventID = HTTPField.Name(literal: "Last-Event-ID")
}
