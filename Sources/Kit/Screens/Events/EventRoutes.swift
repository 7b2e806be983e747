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

    /// Creates the route. A session of any app adds the events of its account, and the stream ends with the session.
    public init(events: EventStream, sessions: SessionStore) {
        self.events = events
        self.sessions = sessions
        sessions.onEnd { events.sessionEnded() }
    }

    /// The routes.
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
                    // Events for everyone need no session and are sent to thousands of listeners; the others are few.
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

/// The events that a listener receives.
struct EventAudience: Sendable {
    let session: Session?
    /// Checks whether the session is still open: a stream may last for days. Always true without a session.
    let isOpen: @Sendable () throws -> Bool

    func hears(_ event: ServerEvent) -> Bool {
        switch event.audience {
        case .everyone: true
        case .account(let app, let account): session?.app == app && session?.account == account
        }
    }
}

extension EventStream.Message {
    /// Whether it is sent regardless of the listener's session.
    fileprivate var isForEverybody: Bool {
        if case .event(_, let event) = self { event.audience == .everyone } else { false }
    }
}

/// The text of server-sent events.
enum ServerSentEvents {
    /// The first lines of a stream: the reconnection time, and the position of the client. `reset` says that the client
    /// has missed events that are no longer kept.
    static func opening(_ subscription: EventStream.Subscription, replays: Bool) -> String {
        var text = "retry: 2000\n"
        if subscription.isReset {
            let data = #"{"reason":"the events since Last-Event-ID are not kept any more"}"#
            text += "id: \(subscription.identity)\nevent: reset\ndata: \(data)\n"
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
