import Cluster
import Foundation
import HTTP
import HTTPTypes
import HummingbirdCore
import NIOCore
import ServiceLifecycle

/// `GET /v1/events`: server-sent events (HTML Living Standard §9.2) with identities, heartbeats and replay from
/// `Last-Event-ID`.
package struct EventRoutes: Sendable {
    private let events: EventStream
    private let sessions: SessionStore
    private let apps: [String]
    private let elsewhere: Set<String>
    private let conditions: @Sendable () -> [ServerEvent]

    /// Creates the route. Each session adds the events of its account; the stream ends when the first session ends.
    ///
    /// - Parameters:
    ///   - apps: Names of the apps that are served.
    ///   - elsewhere: Names of apps that another process serves.
    ///   - conditions: Returns the events of the present outages, which each listener gets first.
    package init(
        events: EventStream,
        sessions: SessionStore,
        apps: [String],
        elsewhere: Set<String> = [],
        conditions: @escaping @Sendable () -> [ServerEvent] = { [] }
    ) {
        self.conditions = conditions
        self.events = events
        self.sessions = sessions
        self.apps = apps
        self.elsewhere = elsewhere
        sessions.onEnd { events.end(sessionOf: $0) }
    }

    package var routes: [Route] {
        [Route(.get, "/v1/events", "events", listen).query("last_event_id", "profile", "app")]
    }

    @Sendable private func listen(_ request: ScreenRequest) async throws -> ScreenResponse {
        if let app = try request.query.string("app"), elsewhere.contains(app) {
            throw Problem.misdirected("The app \(app)")
        }
        let interest = try await EventInterest(request, apps: apps, sessions: sessions)
        let lastEventID = try request.headerFields[.lastEventID] ?? request.query.string("last_event_id")
        let (events, conditions, client) = (self.events, self.conditions, request.clientAddress)
        let body = ResponseBody { writer in
            let subscription = events.subscribe(
                lastEventID: lastEventID,
                to: interest.audiences,
                sessionApps: interest.sessionApps,
                client: client
            )
            defer { events.unsubscribe(subscription.number) }
            guard try await interest.endedApp() == nil else { return try await writer.finish(nil) }
            try await writer.write(ByteBuffer(string: ServerSentEvents.opening(subscription)))
            for (identity, event) in subscription.missed {
                try await writer.write(ByteBuffer(string: ServerSentEvents.text(identity: identity, event)))
            }
            // Outages follow the missed events, which are older. They have no identities, since they are not new.
            for event in conditions() {
                try await writer.write(ByteBuffer(string: ServerSentEvents.text(event)))
            }
            try await withTaskCancellationOrGracefulShutdownHandler {
                for await message in subscription.messages {
                    let ended = try await message.endedApp(of: interest)
                    let sent = ended.map { .sessionEnded(app: $0) } ?? message
                    try await writer.write(ByteBuffer(string: ServerSentEvents.text(of: sent)))
                    if ended != nil { break }
                }
            } onCancelOrGracefulShutdown: {
                events.unsubscribe(subscription.number)
            }
            try await writer.finish(nil)
        }
        let fields: HTTPFields = [.cacheControl: "no-store", .vary: "Authorization, Cookie"]
        return ScreenResponse(headerFields: fields, body: .stream(type: MediaType.events, body), hasValidator: false)
            .byProfile()
    }
}

extension EventStream.Message {
    /// Whether the sessions of the listener are checked before the message. Events of an account need it; other events
    /// are frequent, and the next heartbeat checks.
    private var needsSession: Bool {
        switch self {
        case .heartbeat: return true
        case .sessionEnded: return false
        case .event(_, let event):
            if case .account = event.audience { return true }
            return false
        }
    }

    /// Returns the app of a session that has ended before the message; nil if none has. While a shared store does not
    /// respond, the stream of a client continues without the events of its account.
    ///
    /// - Throws: `StorageError`, `ClusterError`.
    fileprivate func endedApp(of interest: EventInterest) async throws -> String? {
        guard needsSession else { return nil }
        do {
            return try await interest.endedApp()
        } catch let error as ClusterError {
            guard case .heartbeat = self else { throw error }
            return nil
        }
    }
}

/// The text of server-sent events.
enum ServerSentEvents {
    /// The first lines of a stream: the reconnection time, and the position of the client. `reset` says that the client
    /// has missed events that are no longer kept.
    static func opening(_ subscription: EventStream.Subscription) -> String {
        var text = "retry: 2000\n"
        if subscription.isReset {
            let data = #"{"reason":"the events since Last-Event-ID are not kept any more"}"#
            text += "id: \(subscription.identity)\nevent: reset\ndata: \(data)\n"
        } else if subscription.missed.isEmpty {
            text += "id: \(subscription.identity)\n"
        }
        return text + "\n"
    }

    static func text(of message: EventStream.Message) -> String {
        switch message {
        case .event(let identity, let event): text(identity: identity, event)
        // An identity without data moves the client's `Last-Event-ID` on, past events for other listeners.
        case .heartbeat(let identity): ": heartbeat\nid: \(identity)\n\n"
        // Without an identity: the client reconnects after the previous event.
        case .sessionEnded(let app): "event: session-ended\ndata: {\"app\":\"\(app)\"}\n\n"
        }
    }

    static func text(identity: String, _ event: ServerEvent) -> String {
        "id: \(identity)\n\(text(event))"
    }

    static func text(_ event: ServerEvent) -> String { "event: \(event.kind)\ndata: \(event.json)\n\n" }
}

extension HTTPField.Name {
    /// `Last-Event-ID`, HTML Living Standard §9.2.4.
    static let lastEventID = HTTPField.Name(literal: "Last-Event-ID")
}

/// The events of a listener: those for all, those of the apps that it asks for, of the accounts of its sessions, and of
/// its profile.
struct EventInterest: Sendable {
    let audiences: Set<ServerEvent.Audience>
    /// The apps of its sessions by the hashes of their tokens. The stream ends when the first of them ends.
    let sessionApps: [Data: String]
    private let sessions: SessionStore

    /// - Parameter apps: names of the apps that are served.
    /// - Throws: ``Problem`` 400 for an app that is not served or a name that is no profile's; 401 if the token opens
    ///   no session; `StorageError`, `ClusterError`.
    init(_ request: ScreenRequest, apps: [String], sessions: SessionStore) async throws {
        let apps = try Self.apps(request, among: apps)
        let profile = try request.profile()
        var audiences: Set<ServerEvent.Audience> = [.everyone]
        for app in apps { audiences.formUnion([.app(app), .profile(app: app, profile: profile)]) }
        let found = try await Self.sessions(of: request.credentials, apps, sessions)
        for session in found.values where apps.contains(session.app) {
            audiences.insert(.account(app: session.app, account: session.account))
        }
        sessionApps = found.mapValues(\.app)
        self.audiences = audiences
        self.sessions = sessions
    }

    /// Returns the sessions of a request: that of `Authorization`, and those of its cookies for other apps. A cookie
    /// that opens none is ignored, since its page may have other sessions.
    private static func sessions(
        of credentials: SessionCredentials,
        _ apps: [String],
        _ store: SessionStore
    ) async throws -> [Data: Session] {
        var found: [Data: Session] = [:]
        if let hash = try credentials.bearerHash() {
            guard let session = try await store.session(tokenHash: hash) else {
                throw Problem(.sessionExpired, "This token opens no session.")
            }
            found[hash] = session
        }
        let bearerApp = found.values.first?.app
        for app in apps where app != bearerApp {
            guard let hash = try? credentials.cookieHash(of: app),
                let session = try await store.session(tokenHash: hash), session.app == app
            else { continue }
            found[hash] = session
        }
        return found
    }

    /// The app that `app` names, else all.
    private static func apps(_ request: ScreenRequest, among apps: [String]) throws -> [String] {
        guard let app = try request.query.string("app") else { return apps }
        guard apps.contains(app) else {
            throw Problem.invalidParameter("app", accepted: "must be one of \(apps.sorted().joined(separator: ", "))")
        }
        return [app]
    }

    /// Returns the app of a session that has ended; nil if all are open. A stream lasts long: the stored sessions
    /// count, whether or not the end of the session was announced.
    ///
    /// - Throws: `StorageError`, `ClusterError`.
    func endedApp() async throws -> String? {
        for (hash, app) in sessionApps where try await sessions.storedSession(hash) == nil { return app }
        return nil
    }
}
