import Foundation
public import Freshness
import HTTPTypes
public import Upstream

/// `GET /v1/status`: whether the upstreams can be reached.
public struct StatusRoutes: Sendable {
    struct Row: Encodable, Sendable {
        let name: String
        let title: String
        let reachable: Bool
        @Nullable var since: Date?
        @Nullable var lastOkAt: Date?
        @Nullable var lastError: LastError?
        @Nullable var pausedUntil: Date?
    }

    struct LastError: Encodable, Sendable {
        let reason: String
        let at: Date
    }

    struct Content: Encodable, Sendable {
        let upstreams: [Row]
    }

    private let upstreams: [Upstream]
    private let clock: WallClock

    /// Creates the status of upstreams, in this order.
    public init(upstreams: [Upstream], clock: WallClock) {
        self.upstreams = upstreams
        self.clock = clock
    }

    /// The routes.
    public var routes: [Route] {
        [
            Route(.get, "/v1/status", "status") { request in
                try .screen(
                    Envelope(
                        data: Content(upstreams: upstreams.map(row)),
                        meta: Meta(screen: "status", provenance: .local),
                        links: Links(self: request.selfLink)
                    ),
                    provenance: .local,
                    now: clock.now()
                )
            }
        ]
    }

    private func row(_ upstream: Upstream) -> Row {
        let reachability = upstream.reachability
        return Row(
            name: upstream.configuration.name,
            title: upstream.configuration.title,
            reachable: reachability.isReachable,
            since: reachability.since,
            lastOkAt: reachability.lastOK,
            lastError: reachability.lastError.map { LastError(reason: $0.reason, at: $0.at) },
            pausedUntil: reachability.pause(at: clock.now())?.end
        )
    }
}
