import Foundation
import HTTPTypes
import Upstream

/// What an upstream's reachability means for one request.
struct UpstreamState: Sendable, Equatable {
    /// A pause that the upstream has requested with `Retry-After`.
    struct Pause: Sendable, Equatable {
        let status: HTTPResponse.Status
        let seconds: Int

        /// The error of a request for which nothing is stored.
        var error: UpstreamError { .known(.failing(status: status, retryAfter: seconds)) }
    }

    /// Whether the upstream is known to be out of reach, so that asking would only cost time.
    var isOutOfReach = false
    /// The pause, if the request observes it.
    var pause: Pause?

    /// An upstream that may be requested.
    static let ready = UpstreamState()

    private init() {}

    init(isOutOfReach: Bool, pause: Pause?) {
        self.isOutOfReach = isOutOfReach
        self.pause = pause
    }

    /// Judges the reachability for a request.
    ///
    /// A client that asks for the network gets it tried. Connections that break cost no time, so they are tried, too. A
    /// pause holds for reads, as for those of screens; writes are tried.
    init(_ reachability: Reachability, pause asked: Reachability.Pause?, for request: ProxiedRequest, at now: Date) {
        guard !request.requiresRevalidation else { return }
        isOutOfReach =
            !reachability.isReachable && reachability.lastError?.reason != UnreachableReason.reset.rawValue
        if request.readsStore, let asked {
            pause = Pause(status: asked.status, seconds: asked.seconds(at: now))
        }
    }
}
